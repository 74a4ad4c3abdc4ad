// Part of GPUCOORD, GPL-2.0. Neighbor lists sorted into buckets. A bucket has the neighbors of one
// group of classes with one special weight.

#ifndef GPUCOORD_SORTED_NEIGHBORS_HOST_H
#define GPUCOORD_SORTED_NEIGHBORS_HOST_H

#include "../switching/type_classes.h"
#include "gpucoord/bytes_of.h"
#include "gpucoord/pairs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpucoord {

class SortedNeighbors {
 public:
  static int special_weights(const ListInput &in) { return in.special ? 4 : 1; }

  // Sorts the lists of the owned atoms of i, unless they are already sorted for the same version,
  // atoms and types. Keeps only members of the group ('bit'): members may change in any evaluation.
  void sort(const ListInput &in, const AtomList &i, unsigned char bit, const ClassGroups &groups,
            int nthreads)
  {
    const bool same = in.version != 0 && version == in.version && !in.member &&
        group_indices == groups.indices() && nweights == special_weights(in) &&
        rows.size() == static_cast<std::size_t>(i.nowned) &&
        std::equal(rows.begin(), rows.end(), i.index) &&
        std::equal(types.begin(), types.end(), in.types.type);
    if (same) return;
    version = 0;    // stays 0 if an exception is thrown
    group_indices = groups.indices();
    nweights = special_weights(in);
    nbuckets = nweights * groups.size();
    rows.assign(i.index, i.index + i.nowned);
    first.resize(rows.size() + 1);
    first[0] = 0;
    for (std::size_t t = 0; t < rows.size(); ++t) first[t + 1] = first[t] + in.numneigh[rows[t]];
    sorted.resize(static_cast<std::size_t>(first.back()));
    end.resize(rows.size() * nbuckets);
    int last_row = -1;
#pragma omp parallel for schedule(static) num_threads(nthreads) reduction(max : last_row)
    for (std::size_t t = 0; t < rows.size(); ++t)
      last_row = std::max(last_row, sort_one(in, bit, groups, t));
    if (groups.size() > 1 && last_row >= 0)
      types.assign(in.types.type, in.types.type + last_row + 1);
    else
      types.clear();
    version = in.version;
  }

  // Returns the neighbors of atom t in a bucket, and sets n to their number. b: group of
  // classes * special_weights() + index of the special weight
  const int *bucket(std::size_t t, int b, int &n) const
  {
    const int *const ends = &end[t * nbuckets];
    const int begin = b > 0 ? ends[b - 1] : 0;
    n = ends[b] - begin;
    return sorted.data() + first[t] + begin;
  }

  std::size_t bytes() const
  {
    return bytes_of(group_indices, types, rows, first, sorted, end);
  }

 private:
  // Returns the last row in the list.
  int sort_one(const ListInput &in, unsigned char bit, const ClassGroups &groups, std::size_t t)
  {
    const int *const list = in.firstneigh[rows[t]];
    const int n = in.numneigh[rows[t]];
    int *const ends = &end[t * nbuckets], *const out = sorted.data() + first[t];
    const auto bucket_of = [&](int neighbor) {
      const int row = neighbor & in.neighmask;
      const int group_offset = groups.size() > 1 ? groups.index(in.types.type[row]) * nweights : 0;
      return group_offset +
          (in.special ? static_cast<int>(static_cast<unsigned>(neighbor) >> 30) : 0);
    };
    const auto is_member = [&](int neighbor) {
      return !in.member || in.member[neighbor & in.neighmask] & bit;
    };
    std::fill(ends, ends + nbuckets, 0);
    int last_row = -1;
    for (int k = 0; k < n; ++k) {
      last_row = std::max(last_row, list[k] & in.neighmask);
      ends[bucket_of(list[k])] += is_member(list[k]) ? 1 : 0;
    }
    // While neighbors are added, each 'end' moves from the beginning to the end of its bucket.
    for (int b = 0, begin = 0; b < nbuckets; ++b) {
      const int count = ends[b];
      ends[b] = begin;
      begin += count;
    }
    for (int k = 0; k < n; ++k)
      if (is_member(list[k])) out[ends[bucket_of(list[k])]++] = list[k] & in.neighmask;
    return last_row;
  }

  std::int64_t version = 0;
  std::vector<int> group_indices, types, rows;    // the input of the last sort
  int nweights = 1, nbuckets = 1;
  std::vector<std::int64_t> first;    // [atoms + 1] start of the list in sorted
  std::vector<int> sorted;
  std::vector<int> end;    // [atoms][buckets] end of each bucket, relative to first
};

}    // namespace gpucoord

#endif
