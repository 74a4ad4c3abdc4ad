// Part of GPUCOORD, GPL-2.0. Copies of a caller's neighbor lists on the device, sorted by classes
// of atom types.

#ifndef GPUCOORD_NEIGHBOR_LISTS_CUDA_H
#define GPUCOORD_NEIGHBOR_LISTS_CUDA_H

#include "../gpu/staging.h"
#include "../switching/type_classes.h"

#include "gpucoord/pairs.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace gpucoord {

// Contiguous neighbor lists of the atoms of one class with their neighbors of another class.
struct FlatList {
  Staged<int> row, neighbor;
  Staged<std::int64_t> first;
  int n = 0, last_row = -1;
  bool empty = true;    // there are no neighbors
  std::int64_t version = 0;
  std::vector<int> rows;    // atom of each list
  std::size_t bytes() const { return bytes_of(row, neighbor, first, rows); }
};

// The flat lists of one or both groups. Lists of one version are copied once.
class NeighborLists {
 public:
  enum Side { A, B };

  // Makes the flat lists of group a, and of group b unless it is null. Returns the number of rows
  // of x that they refer to, up to the last row of an owned atom or neighbor.
  int update(const ListInput &, const TypeClasses &, const AtomsByClass &a, const AtomsByClass *b,
             int nthreads, cudaStream_t);

  const FlatList &list(Side side, const TypeClasses &classes, int ci, int cj, int special) const
  {
    return lists[side][index_of(classes, ci, cj, special)];
  }

  std::size_t bytes() const
  {
    std::size_t total = bytes_of(list_classes, list_types);
    for (const auto &side : lists)
      for (const FlatList &flat : side) total += flat.bytes();
    return total;
  }

 private:
  static std::size_t index_of(const TypeClasses &classes, int ci, int cj, int special)
  {
    return (static_cast<std::size_t>(ci) * classes.size() + cj) * 4 + special;
  }
  void invalidate_other_types(const ListInput &, const TypeClasses &);
  void record_types(const ListInput &, const TypeClasses &, std::size_t nall);
  int flatten_all(const ListInput &, const AtomsByClass &, const TypeClasses &, int nthreads,
                  cudaStream_t, std::deque<FlatList> &);

  std::deque<FlatList> lists[2];    // by Side; indexed by number()
  // Types that the lists were made for: classes by type and, if they differ, types by row.
  std::vector<int> list_classes, list_types;
  bool list_special = false;
  std::int64_t list_version = 0;
};

}    // namespace gpucoord

#endif
