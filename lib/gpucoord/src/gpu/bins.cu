// Part of GPUCOORD, GPL-2.0. Sorts atoms into bins with CUB's radix sort, scan and selection.
//
// Launch of the two kernels in this file: one thread per atom, 256 threads per block, no shared
// memory.

#include "bins.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256;
  constexpr int blocks_for(int n)
  {
    return (n + THREADS - 1) / THREADS;
  }

  // in_cell: [cells] number of atoms in each cell, must be 0 at launch; null: not counted
  template <class Key>
  __global__ void find_keys(BinGrid grid, const DeviceAtom *atom, int n, Key *key, int *order,
                            int *in_cell)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= n) return;
    const DeviceAtom a = atom[k];
    const std::int64_t column = grid.column(grid.coordinate(1, a.y), grid.coordinate(2, a.z));
    const std::int64_t cell = column * grid.n[0] + grid.coordinate(0, a.x);
    key[k] = static_cast<Key>(cell);
    order[k] = k;
    if (in_cell) atomicAdd(in_cell + cell, 1);
  }

  __global__ void reorder(const DeviceAtom *atom, const int *caller_index, int n,
                          DeviceAtom *sorted)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k < n) sorted[k] = atom[caller_index[k]];
  }

  struct IsOwned {
    const int *caller_index;
    int nowned;
    __device__ bool operator()(int k) const { return caller_index[k] < nowned; }
  };

  int bits_of(std::uint64_t value)
  {
    int bits = 0;
    for (; value; value >>= 1) ++bits;
    return bits;
  }

}    // namespace

void check_kernels()
{
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, reorder), "loading kernels");
}

// Sets caller_index and start of the sorted atoms. Does not copy the atoms.
template <class Key>
SortedAtoms Bins::sort_by(DeviceBuffer<Key> &key, DeviceBuffer<Key> &sorted_key,
                          const BinGrid &grid, const DeviceAtom *atom, int n, cudaStream_t stream)
{
  key.reserve(n);
  sorted_key.reserve(n);
  order.reserve(n);
  caller_index.reserve(n);
  const std::int64_t ncells = grid.n[0] * grid.n[1] * grid.n[2];
  const bool has_starts = ncells <= tuning::MAX_CELLS_PER_ATOM * static_cast<std::int64_t>(n);
  if (has_starts) start.reserve(ncells + 1);

  const int last_bit = std::max(1, bits_of(static_cast<std::uint64_t>(ncells - 1)));
  std::size_t sort_bytes = 0, scan_bytes = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, key.data(), sorted_key.data(),
                                        order.data(), caller_index.data(), n, 0, last_bit, stream),
        "planning a sort");
  if (has_starts)
    check(cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, start.data(), start.data(), ncells + 1,
                                        stream),
          "planning a scan");
  workspace.reserve(std::max(sort_bytes, scan_bytes));

  if (has_starts)
    check(cudaMemsetAsync(start.data(), 0, (ncells + 1) * sizeof(int), stream),
          "clearing the numbers of atoms");
  find_keys<<<blocks_for(n), THREADS, 0, stream>>>(grid, atom, n, key.data(), order.data(),
                                                   has_starts ? start.data() : nullptr);
  check(cudaGetLastError(), "launching find_keys");
  if (has_starts)
    check(cub::DeviceScan::ExclusiveSum(workspace.data(), scan_bytes, start.data(), start.data(),
                                        ncells + 1, stream),
          "summing the numbers of atoms");
  check(cub::DeviceRadixSort::SortPairs(workspace.data(), sort_bytes, key.data(), sorted_key.data(),
                                        order.data(), caller_index.data(), n, 0, last_bit, stream),
        "sorting atoms");
  return {nullptr, nullptr, nullptr, has_starts ? start.data() : nullptr, caller_index.data(),
          nullptr, n,       n};
}

SortedAtoms Bins::sort_indices(const BinGrid &grid, const DeviceAtom *atom, int n,
                               cudaStream_t stream)
{
  if (n == 0) return {};
  SortedAtoms result;
  if (grid.n[0] * grid.n[1] * grid.n[2] < std::int64_t(1) << 32) {
    result = sort_by(short_keys, short_keys_sorted, grid, atom, n, stream);
    result.short_key = short_keys_sorted.data();
  } else {
    result = sort_by(keys, keys_sorted, grid, atom, n, stream);
    result.key = keys_sorted.data();
  }
  return result;
}

SortedAtoms Bins::sort(const BinGrid &grid, const DeviceAtom *atom, int n, int nowned,
                       cudaStream_t stream)
{
  if (n == 0) return {};
  const thrust::counting_iterator<int> indices(0);
  std::size_t bytes = 0;
  caller_index.reserve(n);
  owned.reserve(n);
  nselected.reserve(1);
  const IsOwned is_owned = {caller_index.data(), nowned};
  check(cub::DeviceSelect::If(nullptr, bytes, indices, owned.data(), nselected.data(), n, is_owned,
                              stream),
        "planning a selection");
  workspace.reserve(bytes);
  sorted.reserve(n);
  SortedAtoms result = sort_indices(grid, atom, n, stream);
  reorder<<<blocks_for(n), THREADS, 0, stream>>>(atom, caller_index.data(), n, sorted.data());
  check(cudaGetLastError(), "launching reorder");
  result.atom = sorted.data();
  result.nowned = nowned;
  if (nowned == n) return result;
  result.owned = owned.data();
  if (nowned == 0) return result;
  check(cub::DeviceSelect::If(workspace.data(), bytes, indices, owned.data(), nselected.data(), n,
                              is_owned, stream),
        "selecting owned atoms");
  return result;
}

}    // namespace gpucoord
