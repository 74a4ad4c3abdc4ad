// Part of GPUCOORD, GPL-2.0. Lists of partners: selection of atoms, rows and tiles.
//
// Launch: one thread an atom or row, 256 a block; find_partners_in_masks 1 or 32 a candidate, blockIdx.y the group;
// make_tiles one warp a tile, 128 a block. No shared memory.

#include "device_pairs.h"

#include "device_positions.cuh"
#include "partner_masks.cuh"
#include "partner_search.cuh"
#include "staging.h"
#include "warp_reduction.cuh"

#include "../common/engine_parts.h"

#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256;
  constexpr unsigned MAX_DESCRIBE_BLOCKS = 128;

  unsigned blocks_of(std::int64_t n)
  {
    return static_cast<unsigned>((n + THREADS - 1) / THREADS);
  }

  __device__ int thread_number()
  {
    return blockIdx.x * THREADS + threadIdx.x;
  }

  // Where a rebuild counts on the device. Of the lists of atoms, two numbers for each.
  // PARTNERS: of all, MOST: of one atom.
  enum { LO, HI = LO + 3, OVERLAP = HI + 3, ROWS, ROWS_A, PARTNERS, MOST, LISTS };

  struct IsSelected {
    const int *mask;
    int bit;
    const int *type, *class_of_type;    // null: all are of one class
    int c;
    __device__ bool operator()(int i) const
    {
      return (!mask || (mask[i] & bit)) && (!class_of_type || class_of_type[type[i]] == c);
    }
  };

  struct Fours {
    __host__ __device__ std::int64_t operator()(int n) const { return (n + FOUR - 1) / FOUR; }
  };

  struct HasPartners {
    const int *count;
    __device__ bool operator()(int t) const { return count[t] > 0; }
  };

  bool is_wasteful(std::int64_t room, std::int64_t partners)
  {
    return room > tuning::ENOUGH_ROOM && room > tuning::ROOM_PER_PARTNER * partners;
  }

  // threads an atom
  int lanes_for(int rows, std::int64_t partners_a_row)
  {
    int lanes = 1;
    while (lanes < 32 && static_cast<std::int64_t>(rows) * lanes < tuning::ENOUGH_THREADS &&
           partners_a_row >= 2 * lanes * tuning::FEWEST_PARTNERS)
      lanes *= 2;
    return lanes;
  }

  // numbers that rise as the double does, and back
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

  // bounds of the selected atoms, how many are owned, and how many of those are in the other group; by few blocks,
  // because all of them add to the same numbers
  template <class X>
  __global__ void describe(const X *x, const int *selected, const std::int64_t *n, int nlocal, const int *mask,
                           int other_bit, std::int64_t *numbers, std::int64_t *nowned)
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
    auto *const out = reinterpret_cast<long long *>(numbers);
    for (int c = 0; c < 3; ++c) {
      atomicMin(out + LO + c, extreme[LO + c]);
      atomicMax(out + HI + c, extreme[HI + c]);
    }
    atomicAdd(reinterpret_cast<unsigned long long *>(nowned), static_cast<unsigned long long>(owned));
    atomicAdd(reinterpret_cast<unsigned long long *>(numbers + OVERLAP), static_cast<unsigned long long>(shared));
  }

  __global__ void clear_numbers(std::int64_t *numbers, int n)
  {
    const int k = threadIdx.x;
    for (int t = k; t < n; t += THREADS) numbers[t] = t < HI ? LLONG_MAX : t < OVERLAP ? LLONG_MIN : 0;
  }

  template <class X>
  __global__ void gather_atoms(const X *x, const int *selected, int n, DeviceAtom *atom, int *atom_of)
  {
    const int k = thread_number();
    if (k >= n) return;
    const int row = selected[k];
    const double3 p = position_of(x, row);
    atom[k] = {p.x, p.y, p.z, row};
    atom_of[k] = row;
  }

  __global__ void make_search_points(const DeviceAtom *sorted, const int *place, int n, int first_point, double inverse_unit,
                                     int4 *point)
  {
    const int k = thread_number();
    if (k < n) point[k] = search_point(sorted[k], inverse_unit, first_point + place[k]);
  }

  // Where the partners of candidates are written, in fours: as rows in tiles that all have room for rows of one length,
  // or where offset says.
  struct Room {
    int4 *partner;
    int capacity;                  // partners, a multiple of 4
    const std::int64_t *offset;    // null: tiles
    __device__ int4 *four(int t, int c) const
    {
      if (offset) return partner + offset[t] + c;
      return partner + (static_cast<std::int64_t>(t / 32) * (capacity / FOUR) + c) * 32 + t % 32;
    }
    __device__ int &partner_of(int t, int k) const { return reinterpret_cast<int *>(four(t, k / FOUR))[k % FOUR]; }
    __device__ int length() const { return offset ? INT_MAX : capacity; }
  };

  // Adds the partners found of one candidate, or 0, to PARTNERS and MOST, and to ROWS, the candidates that have any, and
  // ROWS_A, those of group a. All lanes of a warp must call.
  __device__ void add_to_numbers(int found, bool is_of_a, std::int64_t *numbers)
  {
    const int most = max_warp(found), total = add_warp(found);
    const int rows = __popc(__ballot_sync(ALL_LANES, found > 0));
    const int rows_a = __popc(__ballot_sync(ALL_LANES, found > 0 && is_of_a));
    if (threadIdx.x % 32 != 0 || total == 0) return;
    atomicMax(reinterpret_cast<long long *>(numbers + MOST), static_cast<long long>(most));
    const auto add = [&](int number, int n) {
      atomicAdd(reinterpret_cast<unsigned long long *>(numbers + number), static_cast<unsigned long long>(n));
    };
    add(PARTNERS, total);
    add(ROWS, rows);
    if (rows_a > 0) add(ROWS_A, rows_a);
  }

  // the partners of each candidate, as many as there is room for, and how many there are
  __global__ void __launch_bounds__(THREADS)
  find_partners(const __grid_constant__ Search search, const __grid_constant__ Room room, int *count,
                std::int64_t *numbers)
  {
    const int t = thread_number();
    int found = 0;
    if (t < search.candidates.n) {
      const int capacity = room.length();
      int4 four = {};
      const auto append = [&](int k, int point) {
        four = make_int4(four.y, four.z, four.w, point);
        if (k % FOUR == FOUR - 1 && k < capacity) *room.four(t, k / FOUR) = four;
      };
      for_each_partner(search, t, [&](int point) { append(found++, point); });
      count[t] = found;
      const int number = search.candidates(t).number;
      for (int k = found; k % FOUR != 0; ++k) append(k, number);
    }
    add_to_numbers(found, t < search.candidates.na, numbers);
  }

  // the same from masks; lanes() threads a candidate
  __global__ void __launch_bounds__(THREADS)
  find_partners_in_masks(const __grid_constant__ MasksOfGroups of_groups, const __grid_constant__ Candidates candidates,
                         const __grid_constant__ Room room, int *count, std::int64_t *numbers)
  {
    const PartnerMasks &masks = of_groups.group[blockIdx.y];
    const int lanes = masks.lanes(), k_of_group = thread_number() / lanes;
    const int first_of_warp = (thread_number() - static_cast<int>(threadIdx.x) % 32) / lanes;
    if (first_of_warp >= masks.n) return;
    const int t = blockIdx.y == 0 ? k_of_group : candidates.na + k_of_group;
    const int capacity = room.length();
    const int found = list_partners(masks, k_of_group, [&](int k, int point) {
      if (k < capacity) room.partner_of(t, k) = point;
    });
    const bool counts = k_of_group < masks.n && threadIdx.x % lanes == 0;
    if (counts) {
      count[t] = found;
      for (int k = found; k % FOUR != 0 && k < capacity; ++k) room.partner_of(t, k) = candidates(t).number;
    }
    add_to_numbers(counts ? found : 0, blockIdx.y == 0, numbers);
  }

  // Points, atoms and counts of rows and, where it is wanted, the size of each tile. active: the candidates that are
  // rows; null: all.
  __global__ void list_rows(const __grid_constant__ Candidates candidates, const int *active, int n, int lanes,
                            const int *candidate_count, int *point, int *atom, int *count, std::int64_t *tile)
  {
    const int r = thread_number(), rows_a_tile = 32 / lanes;
    int most = 0;
    if (r < n) {
      const int t = active ? active[r] : r;
      point[r] = candidates(t).number;
      atom[r] = candidates.atom_of[point[r]];
      count[r] = most = candidate_count[t];
    }
    if (!tile) return;
    for (int distance = rows_a_tile / 2; distance > 0; distance /= 2)
      most = max(most, __shfl_xor_sync(ALL_LANES, most, distance));
    const int fours = (most + FOUR - 1) / FOUR;
    if (r < n && r % rows_a_tile == 0)
      tile[r / rows_a_tile] = 32 * static_cast<std::int64_t>((fours + lanes - 1) / lanes);
  }

  // the k-th partner of a row, as they were found
  struct FoundPartners {
    const int *active;
    Room room;
    __device__ int operator()(int r, int k) const { return room.partner_of(active[r], k); }
  };
  // or in a neighbor list of the caller
  struct NeighboursOfCaller {
    const int *neighbour;
    std::int64_t atom_stride, neighbour_stride;
    __device__ int operator()(int r, int k) const { return neighbour[r * atom_stride + k * neighbour_stride]; }
  };

  // a warp a tile
  constexpr int TILE_THREADS = 128;

  template <class Partners>
  __global__ void __launch_bounds__(TILE_THREADS)
  make_tiles(const __grid_constant__ DeviceRows rows, int ntiles, const __grid_constant__ Partners partners,
             int4 *partner)
  {
    const int thread = threadIdx.x % 32, tile = blockIdx.x * (TILE_THREADS / 32) + threadIdx.x / 32;
    if (tile >= ntiles) return;
    const int lanes = rows.lanes, r = tile * (32 / lanes) + thread / lanes;
    if (r >= rows.n) return;
    const int count = rows.count[r], none = rows.point ? rows.point[r] : r;
    const auto number = [&](int k) { return k < count ? partners(r, k) : none; };
    int4 *to = partner + (rows.tile ? rows.tile[tile] : tile * rows.stride) + thread;
#pragma unroll 2    // loads under way
    for (int k = thread % lanes; k < count; k += FOUR * lanes, to += 32)
      *to = make_int4(number(k), number(k + lanes), number(k + 2 * lanes), number(k + 3 * lanes));
  }

  template <class Partners>
  void enqueue_tiles(const DeviceRows &rows, const Partners &partners, int4 *partner, cudaStream_t stream)
  {
    const int rows_a_tile = 32 / rows.lanes, ntiles = (rows.n + rows_a_tile - 1) / rows_a_tile;
    make_tiles<<<(ntiles + TILE_THREADS / 32 - 1) / (TILE_THREADS / 32), TILE_THREADS, 0, stream>>>(
        rows, ntiles, partners, partner);
    check(cudaGetLastError(), "launching make_tiles");
  }

  __global__ void list_sorted_rows(const DeviceAtom *sorted, int n, int *row)
  {
    const int k = thread_number();
    if (k < n) row[k] = static_cast<int>(sorted[k].id);
  }

}    // namespace

/* ---------------------------------------------------------------------- */

DevicePairs::DevicePairs(const SwitchTable &table, Precision precision, const double *weight) :
    precise(precision == Precision::DOUBLE), type_classes(table, weight), all_points(table.dmax())
{
  for (const Switch &function : table.functions()) ranges.push_back(function.dmax());
  if (table.ntypes() > 0 && type_classes.size() > 1) {
    const auto &of_type = type_classes.of_types();
    send_table(of_type, class_of_type);
  }
}

/* ----------------------------------------------------------------------
   the atoms of each class of both groups, in bins where they are many
------------------------------------------------------------------------- */

void DevicePairs::select(const DeviceAtoms &atoms, const DeviceSelection &selection, cudaStream_t stream)
{
  const int nclasses = type_classes.size(), nlists = (two ? 2 : 1) * nclasses;
  const int nnumbers = LISTS + 2 * nlists;
  numbers.reserve(nnumbers);
  clear_numbers<<<1, THREADS, 0, stream>>>(numbers.data(), nnumbers);
  while (static_cast<int>(selected.size()) < nlists) {
    selected.emplace_back();
    gathered.emplace_back();
    bins.emplace_back();
    search_points.emplace_back();
  }
  const thrust::counting_iterator<int> rows(0);
  for (int k = 0; k < nlists && atoms.nall > 0; ++k) {
    const int group = k / nclasses;
    const IsSelected is_selected = {atoms.mask, group == 0 ? selection.bit_a : selection.bit_b, atoms.type,
                                    class_of_type.data(), k % nclasses};
    std::int64_t *const count = numbers.data() + LISTS + 2 * k;
    selected[k].reserve(atoms.nall);
    std::size_t bytes = 0;
    check(cub::DeviceSelect::If(nullptr, bytes, rows, selected[k].data(), count, atoms.nall, is_selected, stream),
          "planning a selection");
    workspace.reserve(bytes);
    check(cub::DeviceSelect::If(workspace.data(), bytes, rows, selected[k].data(), count, atoms.nall, is_selected,
              stream), "selecting atoms");
    const int other_bit = two && group == 0 ? selection.bit_b : 0;
    with_positions(atoms, [&](const auto *x) {
      describe<<<std::min(blocks_of(atoms.nall), MAX_DESCRIBE_BLOCKS), THREADS, 0, stream>>>(
          x, selected[k].data(), count, atoms.nlocal, atoms.mask, other_bit, numbers.data(), count + 1);
    });
    check(cudaGetLastError(), "launching describe");
  }
  wait_for_numbers(nnumbers, stream);

  n_of.assign(nlists, 0);
  nowned_of.assign(nlists, 0);
  first_point.assign(nlists, 0);
  nowned[0] = nowned[1] = 0;
  std::int64_t total = 0;
  for (int k = 0; k < nlists; ++k) {
    n_of[k] = static_cast<int>(numbers_host[LISTS + 2 * k]);
    nowned_of[k] = static_cast<int>(numbers_host[LISTS + 2 * k + 1]);
    nowned[k / nclasses] += nowned_of[k];
    first_point[k] = static_cast<int>(total);
    total += n_of[k];
  }
  if (total > std::numeric_limits<int>::max()) throw DeviceError("more than 2147483647 atoms of two groups on one GPU");
  n_points = static_cast<int>(total);
  overlap = numbers_host[OVERLAP] > 0;

  if (n_points == 0) return;
  double npairs = 0.0;    // of a candidate and an atom that may be its partner
  for (int ci = 0; ci < nclasses; ++ci)
    for (int cj = 0; cj < nclasses; ++cj) {
      if (!type_classes(ci, cj).exists()) continue;
      const int a = place(0, ci), b = place(two ? 1 : 0, cj);
      npairs += static_cast<double>(nowned_of[a]) * n_of[b];
      if (two) npairs += static_cast<double>(nowned_of[b]) * n_of[a];
    }
  few = npairs <= tuning::FEW_PAIRS_OF_LISTS;
  Bounds bounds;
  for (int c = 0; c < 3; ++c) {
    bounds.lo[c] = from_ordered(numbers_host[LO + c]);
    bounds.hi[c] = from_ordered(numbers_host[HI + c]);
    if (!(bounds.lo[c] <= bounds.hi[c])) bounds.lo[c] = bounds.hi[c] = 0.0;    // no finite position
  }
  many = !few && mean_partners(bounds) >= MANY_PARTNERS;
  atom_of.reserve(n_points);
  for (int k = 0; k < nlists; ++k) {
    const int n = n_of[k];
    if (n == 0) continue;
    gathered[k].reserve(n);
    with_positions(atoms, [&](const auto *x) {
      gather_atoms<<<blocks_of(n), THREADS, 0, stream>>>(x, selected[k].data(), n, gathered[k].data(),
                                                         atom_of.data() + first_point[k]);
    });
    check(cudaGetLastError(), "launching gather_atoms");
  }
  if (!few) sort(bounds, stream);
}

// of the atoms that are rows, if all are spread evenly
double DevicePairs::mean_partners(const Bounds &bounds) const
{
  double rows = 0.0, partners = 0.0;
  for (int ci = 0; ci < type_classes.size(); ++ci)
    for (int cj = 0; cj < type_classes.size(); ++cj) {
      if (!type_classes(ci, cj).exists()) continue;
      const double reach = ranges[type_classes(ci, cj).function] + skin;
      double volume = 1.0;
      for (int c = 0; c < 3; ++c) volume *= bounds.hi[c] - bounds.lo[c] + reach;
      const double share = 4.0 / 3.0 * 3.14159265358979 * reach * reach * reach / volume;
      const int a = place(0, ci), b = place(two ? 1 : 0, cj);
      rows += nowned_of[a] + (two ? nowned_of[b] : 0);
      partners += share * nowned_of[a] * n_of[b] + (two ? share * nowned_of[b] * n_of[a] : 0.0);
    }
  return rows > 0.0 ? partners / rows : 0.0;
}

void DevicePairs::sort(const Bounds &bounds, cudaStream_t stream)
{
  const int nlists = static_cast<int>(n_of.size());
  sorted.assign(nlists, SortedAtoms());
  const double longest = *std::max_element(ranges.begin(), ranges.end()) + skin;
  if (many) {
    double volume = 1.0;
    for (int c = 0; c < 3; ++c) volume *= bounds.hi[c] - bounds.lo[c] + longest;
    grid = make_device_grid(bounds, *std::max_element(n_of.begin(), n_of.end()) / volume, longest);
    DeviceAtom *const points = all_points.reserve_doubles(n_points);
    for (int k = 0; k < nlists; ++k) {
      const int n = n_of[k];
      if (n == 0) continue;
      sorted[k] = bins[k].sort(grid, gathered[k].data(), n, nowned_of[k], stream);
      list_sorted_rows<<<blocks_of(n), THREADS, 0, stream>>>(sorted[k].atom, n, atom_of.data() + first_point[k]);
      check(cudaGetLastError(), "launching list_sorted_rows");
      sorted[k].atom = points + first_point[k];
    }
    return;
  }
  grid = make_device_grid(bounds, tuning::LIST_COLUMN_WIDTH * longest);
  for (const double size : grid.size)    // numbers of points would go round within a cell
    if (size > 4.0 * longest) throw DeviceError("the atoms are spread over more than a million ranges along one axis");
  for (int k = 0; k < nlists; ++k) {
    const int n = n_of[k];
    if (n == 0) continue;
    sorted[k] = bins[k].sort(grid, gathered[k].data(), n, n, stream);
    search_points[k].reserve(n);
    make_search_points<<<blocks_of(n), THREADS, 0, stream>>>(sorted[k].atom, sorted[k].place, n, first_point[k],
                                                             1.0 / search_unit(), search_points[k].data());
    check(cudaGetLastError(), "launching make_search_points");
  }
}

// As that of the points, but for the longest range: in the search, numbers must not go round.
double DevicePairs::search_unit() const
{
  return all_points.unit() * (1.0 + skin / std::ldexp(all_points.unit(), 27));
}

void DevicePairs::wait_for_numbers(int n, cudaStream_t stream)
{
  numbers_host.reserve(n);
  copied += n * static_cast<std::int64_t>(sizeof(std::int64_t));
  check(cudaMemcpyAsync(numbers_host.data(), numbers.data(), n * sizeof(std::int64_t), cudaMemcpyDeviceToHost, stream),
        "copying from it");
  check(cudaStreamSynchronize(stream), "finding pairs of atoms");
}

Search DevicePairs::search_for(int a, int b, const Candidates &candidates, double range) const
{
  Search search = {};
  search.candidates = candidates;
  search.grid = grid;
  search.reach = range + skin;
  search.neighbourhood = make_neighbourhood(grid, search.reach * REACH_MARGIN);
  search.unit = search_unit();
  search.inverse_unit = 1.0 / search_unit();
  search.two = two;
  const int of_group[] = {a, b};
  for (int group = 0; group < 2; ++group) {
    const int other = of_group[1 - group];
    search.atoms[group] = gathered[of_group[group]].data();
    search.partners[group] = sorted[other];
    search.partner_points[group] = search_points[other].data();
  }
  return search;
}

MasksOfGroups DevicePairs::test_pairs(int a, int b, double range, cudaStream_t stream)
{
  MasksOfGroups masks = {};
  const int of_group[] = {a, b}, ngroups = two ? 2 : 1;
  std::size_t first_word[] = {0, 0, 0};
  std::int64_t nwarps = 0;
  for (int group = 0; group < ngroups; ++group) {
    const int own = of_group[group], other = of_group[1 - group];
    PartnerMasks &m = masks.group[group];
    m.candidate = gathered[own].data();
    m.other = gathered[other].data();
    m.n = nowned_of[own];
    m.nother = n_of[other];
    m.first_point = first_point[other];
    m.reach_sq = (range + skin) * (range + skin) * REACH_MARGIN;
    first_word[group + 1] = first_word[group] + static_cast<std::size_t>(m.words()) * m.n;
    nwarps = std::max(nwarps, static_cast<std::int64_t>(m.words()) * m.chunks());
  }
  mask_words.reserve(first_word[ngroups]);
  for (int group = 0; group < ngroups; ++group) masks.group[group].word = mask_words.data() + first_word[group];
  constexpr int WARPS = MASK_THREADS / 32;
  test_all_pairs<<<dim3(static_cast<unsigned>((nwarps + WARPS - 1) / WARPS), ngroups), MASK_THREADS, 0, stream>>>(masks);
  check(cudaGetLastError(), "launching test_all_pairs");
  return masks;
}

/* ----------------------------------------------------------------------
   owned atoms of class ci with their partners of class cj; of two groups also the atoms of the second
   group and class cj with theirs of ci
------------------------------------------------------------------------- */

void DevicePairs::find_rows(int ci, int cj, cudaStream_t stream)
{
  const int a = place(0, ci), b = place(two ? 1 : 0, cj);
  if (n_of[a] == 0 || n_of[b] == 0) return;
  Candidates candidates = {};
  candidates.atom_of = atom_of.data();
  candidates.first_point[0] = first_point[a];
  candidates.first_point[1] = first_point[b];
  candidates.na = nowned_of[a];
  const int ncandidates = candidates.n = nowned_of[a] + (two ? nowned_of[b] : 0);
  if (ncandidates == 0) return;

  const std::size_t number = ci * type_classes.size() + cj;
  while (row_buffers.size() <= number) row_buffers.emplace_back();
  RowBuffers &buffers = row_buffers[number];
  // groups may have grown since few atoms needed so much
  if (is_wasteful(static_cast<std::int64_t>(ncandidates) * buffers.capacity, buffers.npartners))
    buffers.capacity = RowBuffers::FIRST_CAPACITY;
  if (found.bytes() < buffers.partner.bytes()) found.swap(buffers.partner);    // the old rows are not needed any more
  candidate_count.reserve(ncandidates);
  const double range = ranges[type_classes(ci, cj).function];
  Search search = {};
  MasksOfGroups masks = {};
  if (few)
    masks = test_pairs(a, b, range, stream);
  else
    search = search_for(a, b, candidates, range);

  // Again where an atom has more partners than any had in the last rebuild. Where few atoms have so many that rows of
  // that length would take far more memory than all partners, each gets what it needs: always by two searches.
  int most;
  Room room = {};
  for (;;) {
    if (!room.offset) {
      found.reserve((static_cast<std::size_t>(ncandidates) + 31) / 32 * 32 * (buffers.capacity / FOUR));
      room = {found.data(), buffers.capacity, nullptr};
    }
    check(cudaMemsetAsync(numbers.data() + ROWS, 0, (LISTS - ROWS) * sizeof(std::int64_t), stream), "clearing numbers");
    if (few) {
      std::int64_t nthreads = 0;
      for (const PartnerMasks &m : masks.group) nthreads = std::max(nthreads, static_cast<std::int64_t>(m.n) * m.lanes());
      find_partners_in_masks<<<dim3(blocks_of(nthreads), two ? 2 : 1), THREADS, 0, stream>>>(
          masks, candidates, room, candidate_count.data(), numbers.data());
    } else
      find_partners<<<blocks_of(ncandidates), THREADS, 0, stream>>>(search, room, candidate_count.data(), numbers.data());
    check(cudaGetLastError(), "launching find_partners");
    wait_for_numbers(LISTS, stream);
    most = static_cast<int>(numbers_host[MOST]);
    if (room.offset || most <= buffers.capacity) break;
    const int capacity = (most + most / 8 + 15) / 8 * 8;
    if (is_wasteful(static_cast<std::int64_t>(ncandidates) * capacity, numbers_host[PARTNERS])) {
      offset.reserve(ncandidates);
      const auto lengths = thrust::make_transform_iterator(candidate_count.data(), Fours());
      std::size_t bytes = 0;
      check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, lengths, offset.data(), ncandidates, stream),
            "planning a scan");
      workspace.reserve(bytes);
      check(cub::DeviceScan::ExclusiveSum(workspace.data(), bytes, lengths, offset.data(), ncandidates, stream),
            "adding up lengths");
      found.reserve(numbers_host[PARTNERS] / FOUR + numbers_host[ROWS]);
      room = {found.data(), 0, offset.data()};
    } else
      buffers.capacity = capacity;
  }
  int n = static_cast<int>(numbers_host[ROWS]), na = static_cast<int>(numbers_host[ROWS_A]);
  const std::int64_t npairs = buffers.npartners = numbers_host[PARTNERS];
  if (n == 0) return;

  // few may have most of the partners
  const int lanes = lanes_for(n, std::max<std::int64_t>(npairs / n, most / 2));
  // Where they are found they are in tiles already, if rows are the candidates, of which few may be in vain.
  const bool in_place = lanes == 1 && !room.offset && n >= tuning::ROWS_IN_PLACE * ncandidates;
  if (in_place) {
    n = ncandidates;
    na = candidates.na;
  }
  const int rows_a_tile = 32 / lanes, ntiles = (n + rows_a_tile - 1) / rows_a_tile;
  // Tiles of the longest row, unless they would be far too much memory.
  const std::int64_t longest = 32 * static_cast<std::int64_t>(((most + FOUR - 1) / FOUR + lanes - 1) / lanes);
  const bool differ = !in_place && is_wasteful(FOUR * longest * ntiles, npairs);
  buffers.point.reserve(n);
  buffers.atom.reserve(n);
  buffers.count.reserve(n);
  if (!in_place) {
    const thrust::counting_iterator<int> places(0);
    const HasPartners has_partners = {candidate_count.data()};
    active.reserve(ncandidates);
    std::size_t bytes = 0;
    check(cub::DeviceSelect::If(nullptr, bytes, places, active.data(), numbers.data() + ROWS, ncandidates, has_partners,
              stream), "planning a selection");
    workspace.reserve(bytes);
    check(cub::DeviceSelect::If(workspace.data(), bytes, places, active.data(), numbers.data() + ROWS, ncandidates,
              has_partners, stream), "selecting rows");
  }
  if (differ) {
    buffers.tile.reserve(ntiles + 1);
    check(cudaMemsetAsync(buffers.tile.data() + ntiles, 0, sizeof(std::int64_t), stream), "clearing a number");
  }
  list_rows<<<blocks_of(n), THREADS, 0, stream>>>(candidates, in_place ? nullptr : active.data(), n, lanes,
                                                  candidate_count.data(), buffers.point.data(), buffers.atom.data(),
                                                  buffers.count.data(), differ ? buffers.tile.data() : nullptr);
  check(cudaGetLastError(), "launching list_rows");
  DeviceRows view = {};
  view.n = n;
  view.nvalue = na;
  view.lanes = lanes;
  view.point = buffers.point.data();
  view.atom = buffers.atom.data();
  view.count = buffers.count.data();
  if (in_place) {
    buffers.partner.swap(found);
    view.stride = 32 * (buffers.capacity / FOUR);
    view.partner = buffers.partner.data();
    all_rows.push_back({ci, cj, view});
    return;
  }
  if (differ) {
    std::size_t bytes = 0;
    check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, buffers.tile.data(), buffers.tile.data(), ntiles + 1, stream),
          "planning a scan");
    workspace.reserve(bytes);
    check(cub::DeviceScan::ExclusiveSum(workspace.data(), bytes, buffers.tile.data(), buffers.tile.data(), ntiles + 1,
              stream), "adding up tiles");
    check(cudaMemcpyAsync(numbers_host.data(), buffers.tile.data() + ntiles, sizeof(std::int64_t),
              cudaMemcpyDeviceToHost, stream), "copying from it");
    check(cudaStreamSynchronize(stream), "finding pairs of atoms");
    copied += sizeof(std::int64_t);
    view.tile = buffers.tile.data();
    buffers.partner.reserve(numbers_host[0]);
  } else {
    view.stride = longest;
    buffers.partner.reserve(longest * ntiles);
  }
  view.partner = buffers.partner.data();
  enqueue_tiles(view, FoundPartners{active.data(), room}, buffers.partner.data(), stream);
  all_rows.push_back({ci, cj, view});
}

// No search, and for tiles no wait: they have room for as many partners as the list has room for neighbors.
void DevicePairs::take_neighbours(const DeviceAtoms &atoms, const DeviceNeighbours &neighbours, cudaStream_t stream)
{
  if (two || type_classes.size() > 1)
    throw std::invalid_argument("gpucoord: a neighbor list for two groups or types that differ");
  overlap = false;
  const int n = atoms.nlocal;
  nowned[0] = n;
  nowned[1] = 0;
  n_points = atoms.nall;
  if (n == 0) return;
  DeviceRows view = {};    // without numbers of points and atoms: those of rows
  view.n = view.nvalue = n;
  const int partners = neighbours.capacity / 2;    // half of the room is about what atoms of a liquid need
  if (rebuilds_in_tiles > 0)
    --rebuilds_in_tiles;
  else if (!precise && DeviceRowBlocks::are_for(n, n_points, neighbours.capacity, partners)) {
    if (!row_blocks) row_blocks = std::make_unique<DeviceRowBlocks>();
    const double longest = *std::max_element(ranges.begin(), ranges.end());
    view.blocks = row_blocks->build(atoms, neighbours, longest + skin, stream);
    copied += sizeof(int);
    if (view.blocks.partner) {
      row_buffers.clear();    // of tiles
      all_rows.push_back({0, 0, view});
      return;
    }
    rebuilds_in_tiles = tuning::LISTS_BEFORE_BLOCKS_AGAIN;
  }
  row_blocks.reset();
  if (row_buffers.empty()) row_buffers.emplace_back();
  RowBuffers &buffers = row_buffers[0];
  buffers.count.reserve(n);
  check(cudaMemcpyAsync(buffers.count.data(), neighbours.count, n * sizeof(int), cudaMemcpyDeviceToDevice, stream),
        "copying on it");
  view.lanes = lanes_for(n, partners);
  view.count = buffers.count.data();
  const int rows_a_tile = 32 / view.lanes, ntiles = (n + rows_a_tile - 1) / rows_a_tile;
  view.stride = 32 * (((neighbours.capacity + FOUR - 1) / FOUR + view.lanes - 1) / view.lanes);
  buffers.partner.reserve(static_cast<std::size_t>(ntiles) * view.stride);
  view.partner = buffers.partner.data();
  enqueue_tiles(view, NeighboursOfCaller{neighbours.neighbour, neighbours.atom_stride, neighbours.neighbour_stride},
                buffers.partner.data(), stream);
  all_rows.push_back({0, 0, view});
}

// owned atoms of each class with those of another, and of two groups the other way round
void DevicePairs::list_rows_in_bins()
{
  for (int ci = 0; ci < type_classes.size(); ++ci)
    for (int cj = 0; cj < type_classes.size(); ++cj) {
      if (!type_classes(ci, cj).exists()) continue;
      const int a = place(0, ci), b = place(two ? 1 : 0, cj);
      for (const bool second : {false, true}) {
        const int i = second ? b : a, j = second ? a : b;
        if ((second && !two) || nowned_of[i] == 0 || n_of[j] == 0) continue;
        DeviceRows view = {};
        view.n = nowned_of[i];
        view.nvalue = second ? 0 : view.n;
        view.atom = selected[i].data();
        all_rows.push_back({ci, cj, view, i, j});
      }
    }
}

/* ---------------------------------------------------------------------- */

void DevicePairs::rebuild(const DeviceAtoms &atoms, const DeviceSelection &selection, std::int64_t version,
                          cudaStream_t stream)
{
  if (version != 0 && version == known_version) return;
  clear_errors();
  known_version = known_positions = 0;
  all_rows.clear();
  skin = selection.skin;
  two = selection.bit_b != 0;
  many = false;
  all_atoms = selection.neighbours.neighbour;
  if (all_atoms)
    take_neighbours(atoms, selection.neighbours, stream);
  else {
    row_blocks.reset();
    select(atoms, selection, stream);
  }
  if (many) {
    row_buffers.clear();    // of lists, which may be large
    DeviceBuffer<int4>().swap(found);
    list_rows_in_bins();
  } else if (!all_atoms)
    for (int ci = 0; ci < type_classes.size() && n_points > 0; ++ci)
      for (int cj = 0; cj < type_classes.size(); ++cj)
        if (type_classes(ci, cj).exists()) find_rows(ci, cj, stream);
  all_points.build(atoms, all_atoms ? nullptr : atom_of.data(), n_points, precise || many, skin, stream);
  known_version = version;
}

void DevicePairs::update(const DeviceAtoms &atoms, std::int64_t positions, cudaStream_t stream)
{
  if (positions != 0 && positions == known_positions) return;
  all_points.update(atoms, stream);
  known_positions = positions;
}

std::size_t DevicePairs::bytes() const
{
  std::size_t total = all_points.bytes() + atom_of.bytes() + workspace.bytes() + mask_words.bytes() +
      candidate_count.bytes() + active.bytes() + found.bytes() + offset.bytes() +
      (row_blocks ? row_blocks->bytes() : 0);
  for (const auto &buffer : selected) total += buffer.bytes();
  for (const auto &buffer : gathered) total += buffer.bytes();
  for (const auto &bin : bins) total += bin.bytes();
  for (const auto &buffer : search_points) total += buffer.bytes();
  for (const auto &rows : row_buffers)
    total += rows.point.bytes() + rows.atom.bytes() + rows.count.bytes() + rows.partner.bytes() + rows.tile.bytes();
  return total;
}

std::shared_ptr<DevicePairs> make_device_pairs(const SwitchTable &table, Precision precision, const double *weight)
{
  check_kernels();
  need_end(table, "cells");
  return std::make_shared<DevicePairs>(table, precision, weight);
}

}    // namespace gpucoord
