// Part of GPUCOORD, GPL-2.0. Sorts neighbor lists by classes of atom types and copies them to the
// device.

#include "neighbor_lists_cuda.h"

#include "../gpu/cuda_error.h"

#include <algorithm>

namespace gpucoord {

namespace {

  void flatten(const ListInput &in, const AtomList &atoms, const TypeClasses &classes, int cj,
               int special, int nthreads, cudaStream_t stream, FlatList &flat)
  {
    const std::size_t n = atoms.nowned;
    if (in.version != 0 && flat.version == in.version && flat.rows.size() == n &&
        std::equal(flat.rows.begin(), flat.rows.end(), atoms.index))
      return;
    flat.version = 0;    // stays 0 if an exception is thrown
    flat.rows.assign(atoms.index, atoms.index + n);
    flat.n = atoms.nowned;
    stage(atoms.index, n, nthreads, stream, flat.row);
    const bool typed = classes.size() > 1;
    const auto belongs = [&](int neighbor) {
      if (in.special && static_cast<int>(static_cast<unsigned>(neighbor) >> 30) != special)
        return false;
      return !typed || classes.index(in.types.type[neighbor & in.neighmask]) == cj;
    };
    flat.first.reserve(n + 1);
    flat.first.pinned[0] = 0;
#pragma omp parallel for schedule(static) num_threads(nthreads)
    for (std::size_t t = 0; t < n; ++t) {
      const int row = atoms.index[t];
      std::int64_t count = in.numneigh[row];
      if (typed || in.special)
        count = std::count_if(in.firstneigh[row], in.firstneigh[row] + count, belongs);
      flat.first.pinned[t + 1] = count;
    }
    for (std::size_t t = 0; t < n; ++t) flat.first.pinned[t + 1] += flat.first.pinned[t];
    const std::size_t total = flat.first.pinned[n];
    flat.empty = total == 0;
    check(cudaMemcpyAsync(flat.first.device.data(), flat.first.pinned.data(),
                          (n + 1) * sizeof(std::int64_t), cudaMemcpyHostToDevice, stream),
          "copying data to the GPU");
    flat.neighbor.reserve(total);
    int last_row = -1;
#pragma omp parallel for schedule(static) num_threads(nthreads) reduction(max : last_row)
    for (std::size_t t = 0; t < n; ++t) {
      const int row = atoms.index[t];
      last_row = std::max(last_row, row);
      int *to = flat.neighbor.pinned.data() + flat.first.pinned[t];
      for (int k = 0; k < in.numneigh[row]; ++k) {
        // Include neighbors of any class, because their class may change.
        last_row = std::max(last_row, in.firstneigh[row][k] & in.neighmask);
        if (belongs(in.firstneigh[row][k])) *to++ = in.firstneigh[row][k];
      }
    }
    if (total > 0)
      check(cudaMemcpyAsync(flat.neighbor.device.data(), flat.neighbor.pinned.data(),
                            total * sizeof(int), cudaMemcpyHostToDevice, stream),
            "copying data to the GPU");
    flat.last_row = last_row;
    flat.version = in.version;
  }

}    // namespace

int NeighborLists::update(const ListInput &in, const TypeClasses &classes, const AtomsByClass &a,
                          const AtomsByClass *b, int nthreads, cudaStream_t stream)
{
  invalidate_other_types(in, classes);
  int nall = flatten_all(in, a, classes, nthreads, stream, lists[A]);
  if (b) nall = std::max(nall, flatten_all(in, *b, classes, nthreads, stream, lists[B]));
  record_types(in, classes, nall);
  return nall;
}

// Discards the flat lists if they were made for other types. Types may change while neighbor lists
// do not.
void NeighborLists::invalidate_other_types(const ListInput &in, const TypeClasses &classes)
{
  const bool same = in.version != 0 && list_version == in.version &&
      list_classes == classes.indices() && list_special == (in.special != nullptr) &&
      std::equal(list_types.begin(), list_types.end(), in.types.type);
  if (same) return;
  for (auto &side_lists : lists)
    for (FlatList &flat : side_lists) flat.version = 0;
  list_types.clear();
  list_version = 0;    // stays 0 if an exception is thrown
}

// Stores the types of all rows that occur in the lists, in this evaluation or in an earlier one
// with the same lists.
void NeighborLists::record_types(const ListInput &in, const TypeClasses &classes, std::size_t nall)
{
  list_version = in.version;
  list_classes = classes.indices();
  list_special = in.special != nullptr;
  if (classes.size() > 1)
    list_types.assign(in.types.type, in.types.type + std::max(nall, list_types.size()));
}

int NeighborLists::flatten_all(const ListInput &in, const AtomsByClass &group,
                               const TypeClasses &classes, int nthreads, cudaStream_t stream,
                               std::deque<FlatList> &side_lists)
{
  int last_row = -1;
  for (int ci = 0; ci < classes.size(); ++ci)
    for (int cj = 0; cj < classes.size(); ++cj)
      for (int special = 0; special < (in.special ? 4 : 1); ++special) {
        const std::size_t k = index_of(classes, ci, cj, special);
        while (side_lists.size() <= k) side_lists.emplace_back();
        if (!classes(ci, cj).exists()) continue;
        flatten(in, group[ci], classes, cj, special, nthreads, stream, side_lists[k]);
        last_row = std::max(last_row, side_lists[k].last_row);
      }
  return last_row + 1;
}

}    // namespace gpucoord
