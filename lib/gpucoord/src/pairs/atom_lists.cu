// Part of GPUCOORD, GPL-2.0. Selects the atoms of each part of both groups, and sorts them.
//
// Launch: one thread per atom, 256 threads per block. No shared memory.

#include "atom_lists.h"

#include "../gpu/positions.cuh"
#include "../gpu/warp_reduction.cuh"
#include "bin_search.cuh"
#include "pair_rebuild.cuh"

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <limits>

namespace gpucoord {

using namespace pair_rebuild;

namespace {

  constexpr unsigned MAX_DESCRIBE_BLOCKS = 128;

  struct IsSelected {
    const int *mask;
    int bit;
    const int *type, *part_of_type;    // null: there is only one part
    int part;
    __device__ bool operator()(int i) const
    {
      return (!mask || (mask[i] & bit)) && (!part_of_type || part_of_type[type[i]] == part);
    }
  };

  // Maps a double to an integer of the same order, and back.
  __host__ __device__ std::int64_t to_ordered(double x)
  {
    std::int64_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    return bits < 0 ? bits ^ 0x7fffffffffffffffLL : bits;
  }
  double from_ordered(std::int64_t ordered)
  {
    const std::int64_t bits = ordered < 0 ? ordered ^ 0x7fffffffffffffffLL : ordered;
    double x;
    std::memcpy(&x, &bits, sizeof(x));
    return x;
  }

  // Computes the bounds of the selected atoms, the number of owned atoms, and the number of owned
  // atoms that are also in the other group. Uses few blocks, because all blocks update the same
  // numbers.
  template <class X>
  __global__ void describe(const X *x, const int *selected, const std::int64_t *n, int nlocal,
                           const int *mask, int other_bit, std::int64_t *counters,
                           std::int64_t *nowned)
  {
    long long extreme[6] = {LLONG_MAX, LLONG_MAX, LLONG_MAX, LLONG_MIN, LLONG_MIN, LLONG_MIN};
    int owned = 0, shared = 0;
    for (int k = thread_number(); k < *n; k += gridDim.x * THREADS) {
      const int row = selected[k];
      if (row < nlocal) {
        ++owned;
        if (other_bit && (mask[row] & other_bit)) ++shared;
      }
      const double3 p = position_of(x, row);
      const double position[3] = {p.x, p.y, p.z};
      for (int c = 0; c < 3; ++c) {
        if (!isfinite(position[c])) continue;
        extreme[LO + c] = min(extreme[LO + c], static_cast<long long>(to_ordered(position[c])));
        extreme[HI + c] = max(extreme[HI + c], static_cast<long long>(to_ordered(position[c])));
      }
    }
    owned = add_warp(owned);
    shared = add_warp(shared);
    for (int c = 0; c < 3; ++c) {
      extreme[LO + c] = min_warp(extreme[LO + c]);
      extreme[HI + c] = max_warp(extreme[HI + c]);
    }
    if (threadIdx.x % 32 != 0) return;
    auto *const out = reinterpret_cast<long long *>(counters);
    for (int c = 0; c < 3; ++c) {
      atomicMin(out + LO + c, extreme[LO + c]);
      atomicMax(out + HI + c, extreme[HI + c]);
    }
    atomicAdd(reinterpret_cast<unsigned long long *>(nowned),
              static_cast<unsigned long long>(owned));
    atomicAdd(reinterpret_cast<unsigned long long *>(counters + OVERLAP),
              static_cast<unsigned long long>(shared));
  }

  __global__ void clear_counters(std::int64_t *counters, int n)
  {
    const int k = threadIdx.x;
    for (int t = k; t < n; t += THREADS)
      counters[t] = t < HI ? LLONG_MAX : t < OVERLAP ? LLONG_MIN : 0;
  }

  // class_of_type: null: there is only one class
  template <class X>
  __global__ void gather_atoms(const X *x, const int *selected, int n, const int *type,
                               const int *class_of_type, DeviceAtom *atom, int *atom_of)
  {
    const int k = thread_number();
    if (k >= n) return;
    const int row = selected[k];
    const double3 p = position_of(x, row);
    atom[k] = {p.x, p.y, p.z, id_with_class(row, class_of_type ? class_of_type[type[row]] : 0)};
    atom_of[k] = row;
  }

  __global__ void make_search_points(const DeviceAtom *sorted, const int *caller_index, int n,
                                     int first_point, double inverse_unit, int4 *point)
  {
    const int k = thread_number();
    if (k < n) point[k] = search_point(sorted[k], inverse_unit, first_point + caller_index[k]);
  }

  __global__ void list_sorted_rows(const DeviceAtom *sorted, int n, int *row)
  {
    const int k = thread_number();
    if (k < n) row[k] = static_cast<int>(sorted[k].id);
  }

}    // namespace

void AtomLists::take_all(const DeviceAtoms &atoms)
{
  nlists = 0;
  totals = PointCounts();
  totals.n = totals.na = atoms.nall;
  totals.nowned[0] = atoms.nlocal;
}

Bounds AtomLists::select(const DeviceAtoms &atoms, const DeviceSelection &selection,
                         cudaStream_t stream)
{
  const bool two = selection.bit_b != 0;
  const int nparts = parts.size();
  nlists = (two ? 2 : 1) * nparts;
  const int ncounters = LISTS + 2 * nlists;
  DeviceBuffer<std::int64_t> &counters = memory.counters;
  counters.reserve(ncounters);
  clear_counters<<<1, THREADS, 0, stream>>>(counters.data(), ncounters);
  while (static_cast<int>(lists.size()) < nlists) lists.emplace_back();
  const thrust::counting_iterator<int> all_rows(0);
  for (int k = 0; k < nlists && atoms.nall > 0; ++k) {
    const int group = k / nparts;
    const IsSelected is_selected = {atoms.mask, group == 0 ? selection.bit_a : selection.bit_b,
                                    atoms.type, parts.part_of_type(), k % nparts};
    std::int64_t *const count = counters.data() + LISTS + 2 * k;
    DeviceBuffer<int> &selected = lists[k].selected;
    selected.reserve(atoms.nall);
    std::size_t bytes = 0;
    check(cub::DeviceSelect::If(nullptr, bytes, all_rows, selected.data(), count, atoms.nall,
                                is_selected, stream),
          "planning a selection");
    memory.workspace.reserve(bytes);
    check(cub::DeviceSelect::If(memory.workspace.data(), bytes, all_rows, selected.data(), count,
                                atoms.nall, is_selected, stream),
          "selecting atoms");
    const int other_bit = two && group == 0 ? selection.bit_b : 0;
    with_positions(atoms, [&](const auto *x) {
      describe<<<std::min(blocks_of(atoms.nall), MAX_DESCRIBE_BLOCKS), THREADS, 0, stream>>>(
          x, selected.data(), count, atoms.nlocal, atoms.mask, other_bit, counters.data(),
          count + 1);
    });
    check(cudaGetLastError(), "launching describe");
  }
  memory.wait_for_counters(ncounters, stream);

  const std::int64_t *const found = memory.counters_host.data();
  totals = PointCounts();
  totals.two = two;
  std::int64_t total = 0;
  for (int k = 0; k < nlists; ++k) {
    List &list = lists[k];
    list.n = static_cast<int>(found[LISTS + 2 * k]);
    list.nowned = static_cast<int>(found[LISTS + 2 * k + 1]);
    list.sorted = SortedAtoms();
    totals.nowned[k / nparts] += list.nowned;
    list.first_point = static_cast<int>(total);
    total += list.n;
  }
  if (total > std::numeric_limits<int>::max())
    throw DeviceError("more than 2147483647 atoms of two groups on one GPU");
  totals.n = static_cast<int>(total);
  totals.na = two ? lists[index(1, 0)].first_point : totals.n;
  totals.overlap = found[OVERLAP] > 0;

  Bounds bounds;
  for (int c = 0; c < 3; ++c) {
    bounds.lo[c] = from_ordered(found[LO + c]);
    bounds.hi[c] = from_ordered(found[HI + c]);
    if (!(bounds.lo[c] <= bounds.hi[c])) bounds.lo[c] = bounds.hi[c] = 0.0;    // no finite position
  }
  return bounds;
}

void AtomLists::gather(const DeviceAtoms &atoms, cudaStream_t stream)
{
  rows.reserve(totals.n);
  for (int k = 0; k < nlists; ++k) {
    List &list = lists[k];
    if (list.n == 0) continue;
    list.gathered.reserve(list.n);
    with_positions(atoms, [&](const auto *x) {
      gather_atoms<<<blocks_of(list.n), THREADS, 0, stream>>>(
          x, list.selected.data(), list.n, atoms.type, parts.class_of_type(), list.gathered.data(),
          rows.data() + list.first_point);
    });
    check(cudaGetLastError(), "launching gather_atoms");
  }
}

void AtomLists::sort_into_bins(const BinGrid &grid, DeviceAtom *points, cudaStream_t stream)
{
  sorted_grid = grid;
  for (int k = 0; k < nlists; ++k) {
    List &list = lists[k];
    if (list.n == 0) continue;
    list.sorted = list.bins.sort(grid, list.gathered.data(), list.n, list.nowned, stream);
    list_sorted_rows<<<blocks_of(list.n), THREADS, 0, stream>>>(list.sorted.atom, list.n,
                                                                rows.data() + list.first_point);
    check(cudaGetLastError(), "launching list_sorted_rows");
    list.sorted.atom = points + list.first_point;
  }
}

void AtomLists::sort_for_search(const BinGrid &grid, double unit, cudaStream_t stream)
{
  sorted_grid = grid;
  for (int k = 0; k < nlists; ++k) {
    List &list = lists[k];
    if (list.n == 0) continue;
    list.sorted = list.bins.sort(grid, list.gathered.data(), list.n, list.n, stream);
    list.search_points.reserve(list.n);
    make_search_points<<<blocks_of(list.n), THREADS, 0, stream>>>(
        list.sorted.atom, list.sorted.caller_index, list.n, list.first_point, 1.0 / unit,
        list.search_points.data());
    check(cudaGetLastError(), "launching make_search_points");
  }
}

int AtomLists::longest() const
{
  int longest = 0;
  for (int k = 0; k < nlists; ++k) longest = std::max(longest, lists[k].n);
  return longest;
}

std::size_t AtomLists::bytes() const
{
  std::size_t total = rows.bytes();
  for (const List &list : lists)
    total += list.selected.bytes() + list.gathered.bytes() + list.bins.bytes() +
        list.search_points.bytes();
  return total;
}

}    // namespace gpucoord
