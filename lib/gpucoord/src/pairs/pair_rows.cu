// Part of GPUCOORD, GPL-2.0. Lists the pairs of atoms in reach: rows of partners, and their tiles.
//
// Launch: one thread per candidate or row, 256 threads per block. find_partners_in_masks: 1 or 32
// threads per candidate, blockIdx.y is the group. make_tiles: one warp per tile, 128 threads per
// block. No shared memory.

#include "resident_pairs.h"

#include "../gpu/warp_reduction.cuh"
#include "pair_rebuild.cuh"
#include "partner_masks.cuh"
#include "partner_search.cuh"

#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <stdexcept>

namespace gpucoord {

using namespace pair_rebuild;

// Memory for the partners of candidates, in groups of four. Either tiles with rows of equal length,
// or rows at the positions in offset.
struct Room {
  int4 *partner;
  int capacity;                  // partners per row, a multiple of 4
  const std::int64_t *offset;    // [candidates] start of the row, in int4; null: tiles
  __device__ int4 *four(int t, int c) const
  {
    if (offset) return partner + offset[t] + c;
    return partner + (static_cast<std::int64_t>(t / 32) * (capacity / FOUR) + c) * 32 + t % 32;
  }
  __device__ int &partner_of(int t, int k) const
  {
    return reinterpret_cast<int *>(four(t, k / FOUR))[k % FOUR];
  }
  __device__ int length() const { return offset ? INT_MAX : capacity; }
};

namespace {

  struct Fours {
    __host__ __device__ std::int64_t operator()(int n) const { return (n + FOUR - 1) / FOUR; }
  };

  struct HasPartners {
    const int *count;
    __device__ bool operator()(int t) const { return count[t] > 0; }
  };

  bool is_wasteful(std::int64_t room, std::int64_t partners)
  {
    return room > tuning::MIN_WASTEFUL_ROOM && room > tuning::ROOM_PER_PARTNER * partners;
  }

  // Returns the number of threads per atom.
  int lanes_for(int rows, std::int64_t partners_per_row, int min_threads)
  {
    int lanes = 1;
    while (lanes < 32 && static_cast<std::int64_t>(rows) * lanes < min_threads &&
           partners_per_row >= 2 * lanes * tuning::MIN_PARTNERS)
      lanes *= 2;
    return lanes;
  }

  // Adds the number of partners of one candidate, or 0, to PARTNERS and MAX_PARTNERS. Counts
  // candidates with partners in ROWS, and those of group a in ROWS_A. All lanes of a warp must
  // call.
  __device__ void add_to_numbers(int found, bool is_of_a, std::int64_t *numbers)
  {
    const int maximum = max_warp(found), total = add_warp(found);
    const int rows = __popc(__ballot_sync(ALL_LANES, found > 0));
    const int rows_a = __popc(__ballot_sync(ALL_LANES, found > 0 && is_of_a));
    if (threadIdx.x % 32 != 0 || total == 0) return;
    atomicMax(reinterpret_cast<long long *>(numbers + MAX_PARTNERS),
              static_cast<long long>(maximum));
    const auto add = [&](int number, int n) {
      atomicAdd(reinterpret_cast<unsigned long long *>(numbers + number),
                static_cast<unsigned long long>(n));
    };
    add(PARTNERS, total);
    add(ROWS, rows);
    if (rows_a > 0) add(ROWS_A, rows_a);
  }

  // Writes the partners of each candidate, as many as fit, and counts all of them.
  __global__ void __launch_bounds__(THREADS)
      find_partners(const __grid_constant__ Search search, const __grid_constant__ Room room,
                    int *count, std::int64_t *numbers)
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
      for_each_partner(search, t, [&](int point) {
        append(found++, point);
      });
      count[t] = found;
      const int number = search.candidates(t).number;
      for (int k = found; k % FOUR != 0; ++k) append(k, number);
    }
    add_to_numbers(found, t < search.candidates.na, numbers);
  }

  // Like find_partners(), from masks. lanes() threads share a candidate.
  __global__ void __launch_bounds__(THREADS)
      find_partners_in_masks(const __grid_constant__ MasksOfGroups masks_of_groups,
                             const __grid_constant__ Candidates candidates,
                             const __grid_constant__ Room room, int *count, std::int64_t *numbers)
  {
    const PartnerMasks &masks = masks_of_groups.group[blockIdx.y];
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
      for (int k = found; k % FOUR != 0 && k < capacity; ++k)
        room.partner_of(t, k) = candidates(t).number;
    }
    add_to_numbers(counts ? found : 0, blockIdx.y == 0, numbers);
  }

  // Writes the points, atoms and counts of rows and, if tile is not null, the size of each tile.
  // active: the candidates that are rows; null: all.
  __global__ void list_rows(const __grid_constant__ Candidates candidates, const int *active, int n,
                            int lanes, const int *candidate_count, int *point, int *atom,
                            int *count, std::int64_t *tile)
  {
    const int r = thread_number(), rows_per_tile = 32 / lanes;
    int maximum = 0;
    if (r < n) {
      const int t = active ? active[r] : r;
      point[r] = candidates(t).number;
      atom[r] = candidates.atom_of[point[r]];
      count[r] = maximum = candidate_count[t];
    }
    if (!tile) return;
    for (int distance = rows_per_tile / 2; distance > 0; distance /= 2)
      maximum = max(maximum, __shfl_xor_sync(ALL_LANES, maximum, distance));
    const int fours = (maximum + FOUR - 1) / FOUR;
    if (r < n && r % rows_per_tile == 0)
      tile[r / rows_per_tile] = 32 * static_cast<std::int64_t>((fours + lanes - 1) / lanes);
  }

  // Partner k of row r, as found by the search.
  struct FoundPartners {
    const int *active;
    Room room;
    __device__ int operator()(int r, int k) const { return room.partner_of(active[r], k); }
  };
  // Partner k of row r, from a neighbor list of the caller.
  struct NeighborsOfCaller {
    const int *neighbor;
    std::int64_t atom_stride, neighbor_stride;
    __device__ int operator()(int r, int k) const
    {
      return neighbor[r * atom_stride + k * neighbor_stride];
    }
  };

  // One warp per tile.
  constexpr int TILE_THREADS = 128;

  template <class Partners>
  __global__ void __launch_bounds__(TILE_THREADS)
      make_tiles(const __grid_constant__ DeviceRows rows, int ntiles,
                 const __grid_constant__ Partners partners, int4 *partner)
  {
    const int thread = threadIdx.x % 32, tile = blockIdx.x * (TILE_THREADS / 32) + threadIdx.x / 32;
    if (tile >= ntiles) return;
    const int lanes = rows.lanes, r = tile * (32 / lanes) + thread / lanes;
    if (r >= rows.n) return;
    const int count = rows.count[r], none = rows.point ? rows.point[r] : r;
    const auto number = [&](int k) {
      return k < count ? partners(r, k) : none;
    };
    int4 *to = partner + (rows.tile ? rows.tile[tile] : tile * rows.stride) + thread;
#pragma unroll 2    // loads in flight
    for (int k = thread % lanes; k < count; k += FOUR * lanes, to += 32)
      *to = make_int4(number(k), number(k + lanes), number(k + 2 * lanes), number(k + 3 * lanes));
  }

  template <class Partners>
  void enqueue_tiles(const DeviceRows &rows, const Partners &partners, int4 *partner,
                     cudaStream_t stream)
  {
    const int rows_per_tile = 32 / rows.lanes,
              ntiles = (rows.n + rows_per_tile - 1) / rows_per_tile;
    make_tiles<<<(ntiles + TILE_THREADS / 32 - 1) / (TILE_THREADS / 32), TILE_THREADS, 0, stream>>>(
        rows, ntiles, partners, partner);
    check(cudaGetLastError(), "launching make_tiles");
  }

}    // namespace

// The result of a search for one pair of parts, before it is packed into tiles.
struct ResidentPairs::FoundRows {
  Candidates candidates;
  Room room;
  int n, na;           // number of rows, and of those of group a
  int max_partners;    // most partners of one row
  std::int64_t npairs;
  int lanes, ntiles;
  bool in_place;           // the search has written tiles, with one row per candidate
  std::int64_t longest;    // length of a tile with room for max_partners, in int4
  bool differ;             // tiles differ in size
};

/* ---------------------------------------------------------------------- */

Search ResidentPairs::search_for(int a, int b, const Candidates &candidates,
                                 const Reach &reach) const
{
  Search search = {};
  search.candidates = candidates;
  search.grid = grid;
  search.reach = reach;
  search.neighborhood = make_neighborhood(grid, reach.longest * REACH_MARGIN);
  search.unit = search_unit();
  search.inverse_unit = 1.0 / search_unit();
  search.two = two;
  const int part_of_group[] = {a, b};
  for (int group = 0; group < 2; ++group) {
    const int other = part_of_group[1 - group];
    search.atoms[group] = gathered[part_of_group[group]].data();
    search.partners[group] = sorted[other];
    search.partner_points[group] = search_points[other].data();
  }
  return search;
}

MasksOfGroups ResidentPairs::test_pairs(int a, int b, const Reach &reach, cudaStream_t stream)
{
  MasksOfGroups masks = {};
  const int part_of_group[] = {a, b}, ngroups = two ? 2 : 1;
  std::size_t first_word[] = {0, 0, 0};
  std::int64_t nwarps = 0;
  for (int group = 0; group < ngroups; ++group) {
    const int own = part_of_group[group], other = part_of_group[1 - group];
    PartnerMasks &m = masks.group[group];
    m.candidate = gathered[own].data();
    m.other = gathered[other].data();
    m.n = nowned_of[own];
    m.nother = n_of[other];
    m.first_point = first_point[other];
    m.reach = reach;
    first_word[group + 1] = first_word[group] + static_cast<std::size_t>(m.words()) * m.n;
    nwarps = std::max(nwarps, static_cast<std::int64_t>(m.words()) * m.chunks());
  }
  mask_words.reserve(first_word[ngroups]);
  for (int group = 0; group < ngroups; ++group)
    masks.group[group].word = mask_words.data() + first_word[group];
  constexpr int WARPS = MASK_THREADS / 32;
  test_all_pairs<<<dim3(static_cast<unsigned>((nwarps + WARPS - 1) / WARPS), ngroups), MASK_THREADS,
                   0, stream>>>(masks);
  check(cudaGetLastError(), "launching test_all_pairs");
  return masks;
}

/* ----------------------------------------------------------------------
   finds the partners in part j of the owned atoms in part i; with two groups, also the partners in
   part i of the owned atoms in part j
------------------------------------------------------------------------- */

void ResidentPairs::find_rows(int i, int j, cudaStream_t stream)
{
  const int a = part_index(0, i), b = part_index(two ? 1 : 0, j);
  if (n_of[a] == 0 || n_of[b] == 0) return;
  Candidates candidates = {};
  candidates.atom_of = atom_of.data();
  candidates.first_point[0] = first_point[a];
  candidates.first_point[1] = first_point[b];
  candidates.na = nowned_of[a];
  candidates.n = nowned_of[a] + (two ? nowned_of[b] : 0);
  if (candidates.n == 0) return;

  const std::size_t number = i * parts->size() + j;
  while (row_buffers.size() <= number) row_buffers.emplace_back();
  RowBuffers &buffers = row_buffers[number];
  Reach reach = {range_between(i, j) + skin, static_cast<float>(skin), nullptr,
                 type_classes.size()};
  if (ranges_differ(i, j)) reach.range = range_of_classes.data();
  FoundRows rows = search_partners(a, b, candidates, reach, buffers, stream);
  if (rows.n == 0) return;
  choose_tiles(rows, min_threads(i, j));
  DeviceRows view = compact_rows(rows, buffers, stream);
  if (rows.in_place) {
    buffers.partner.swap(found);
    view.stride = 32 * (buffers.capacity / FOUR);
    view.partner = buffers.partner.data();
    buffers.nelements = static_cast<std::size_t>(view.stride) * rows.ntiles;
  } else
    fill_tiles(rows, buffers, view, stream);
  all_rows.push_back({i, j, view});
}

// Writes the partners into 'found'. Waits for their number.
ResidentPairs::FoundRows ResidentPairs::search_partners(int a, int b, const Candidates &candidates,
                                                        const Reach &reach, RowBuffers &buffers,
                                                        cudaStream_t stream)
{
  const int ncandidates = candidates.n;
  // The capacity may come from a rebuild with fewer atoms. Reset it if it is wasteful now.
  if (is_wasteful(static_cast<std::int64_t>(ncandidates) * buffers.capacity, buffers.npartners))
    buffers.capacity = RowBuffers::FIRST_CAPACITY;
  // The old rows are no longer needed.
  if (found.bytes() < buffers.partner.bytes()) found.swap(buffers.partner);
  candidate_count.reserve(ncandidates);
  Search search = {};
  MasksOfGroups masks = {};
  if (few)
    masks = test_pairs(a, b, reach, stream);
  else
    search = search_for(a, b, candidates, reach);

  // Search again if an atom has more partners than the capacity of the last rebuild. If few atoms
  // have so many partners that rows of equal length would waste memory, each row gets the length
  // that it needs. This always takes two searches.
  int max_partners;
  Room room = {};
  for (;;) {
    if (!room.offset) {
      found.reserve((static_cast<std::size_t>(ncandidates) + 31) / 32 * 32 *
                    (buffers.capacity / FOUR));
      room = {found.data(), buffers.capacity, nullptr};
    }
    check(cudaMemsetAsync(numbers.data() + ROWS, 0, (LISTS - ROWS) * sizeof(std::int64_t), stream),
          "clearing numbers");
    if (few) {
      std::int64_t nthreads = 0;
      for (const PartnerMasks &m : masks.group)
        nthreads = std::max(nthreads, static_cast<std::int64_t>(m.n) * m.lanes());
      find_partners_in_masks<<<dim3(blocks_of(nthreads), two ? 2 : 1), THREADS, 0, stream>>>(
          masks, candidates, room, candidate_count.data(), numbers.data());
    } else
      find_partners<<<blocks_of(ncandidates), THREADS, 0, stream>>>(
          search, room, candidate_count.data(), numbers.data());
    check(cudaGetLastError(), "launching find_partners");
    wait_for_numbers(LISTS, stream);
    max_partners = static_cast<int>(numbers_host[MAX_PARTNERS]);
    if (room.offset || max_partners <= buffers.capacity) break;
    const int capacity = (max_partners + max_partners / 8 + 15) / 8 * 8;
    if (is_wasteful(static_cast<std::int64_t>(ncandidates) * capacity, numbers_host[PARTNERS])) {
      offset.reserve(ncandidates);
      const auto lengths = thrust::make_transform_iterator(candidate_count.data(), Fours());
      std::size_t bytes = 0;
      check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, lengths, offset.data(), ncandidates,
                                          stream),
            "planning a scan");
      workspace.reserve(bytes);
      check(cub::DeviceScan::ExclusiveSum(workspace.data(), bytes, lengths, offset.data(),
                                          ncandidates, stream),
            "adding up lengths");
      found.reserve(numbers_host[PARTNERS] / FOUR + numbers_host[ROWS]);
      room = {found.data(), 0, offset.data()};
    } else
      buffers.capacity = capacity;
  }
  FoundRows rows = {};
  rows.candidates = candidates;
  rows.room = room;
  rows.n = static_cast<int>(numbers_host[ROWS]);
  rows.na = static_cast<int>(numbers_host[ROWS_A]);
  rows.max_partners = max_partners;
  rows.npairs = buffers.npartners = numbers_host[PARTNERS];
  return rows;
}

int ResidentPairs::min_threads(int part_i, int part_j) const
{
  if (listing == Listing::ALWAYS) return tuning::TARGET_ORDER_THREADS;    // order parameters
  const bool has_one_function = classes_of(part_i).size() == 1 && classes_of(part_j).size() == 1;
  return has_one_function ? tuning::TARGET_THREADS : tuning::TARGET_CLASS_THREADS;
}

void ResidentPairs::choose_tiles(FoundRows &rows, int min_threads) const
{
  // A few rows may have most of the partners.
  rows.lanes = lanes_for(
      rows.n, std::max<std::int64_t>(rows.npairs / rows.n, rows.max_partners / 2), min_threads);
  // The search has already written tiles. They are good if nearly all candidates have partners.
  rows.in_place =
      rows.lanes == 1 && !rows.room.offset && rows.n >= tuning::ROWS_IN_PLACE * rows.candidates.n;
  if (rows.in_place) {
    rows.n = rows.candidates.n;
    rows.na = rows.candidates.na;
  }
  const int rows_per_tile = 32 / rows.lanes;
  rows.ntiles = (rows.n + rows_per_tile - 1) / rows_per_tile;
  // Tiles have room for the longest row, unless this wastes memory.
  rows.longest = 32 *
      static_cast<std::int64_t>(((rows.max_partners + FOUR - 1) / FOUR + rows.lanes - 1) /
                                rows.lanes);
  rows.differ = !rows.in_place && is_wasteful(FOUR * rows.longest * rows.ntiles, rows.npairs);
}

// Removes candidates without partners, unless the rows are in place. The result has no tile, stride
// and partner yet.
DeviceRows ResidentPairs::compact_rows(const FoundRows &rows, RowBuffers &buffers,
                                       cudaStream_t stream)
{
  const int n = rows.n, ncandidates = rows.candidates.n;
  buffers.point.reserve(n);
  buffers.atom.reserve(n);
  buffers.count.reserve(n);
  if (!rows.in_place) {
    const thrust::counting_iterator<int> indices(0);
    const HasPartners has_partners = {candidate_count.data()};
    active.reserve(ncandidates);
    std::size_t bytes = 0;
    check(cub::DeviceSelect::If(nullptr, bytes, indices, active.data(), numbers.data() + ROWS,
                                ncandidates, has_partners, stream),
          "planning a selection");
    workspace.reserve(bytes);
    check(cub::DeviceSelect::If(workspace.data(), bytes, indices, active.data(),
                                numbers.data() + ROWS, ncandidates, has_partners, stream),
          "selecting rows");
  }
  if (rows.differ) {
    buffers.tile.reserve(rows.ntiles + 1);
    check(cudaMemsetAsync(buffers.tile.data() + rows.ntiles, 0, sizeof(std::int64_t), stream),
          "clearing a number");
  }
  list_rows<<<blocks_of(n), THREADS, 0, stream>>>(
      rows.candidates, rows.in_place ? nullptr : active.data(), n, rows.lanes,
      candidate_count.data(), buffers.point.data(), buffers.atom.data(), buffers.count.data(),
      rows.differ ? buffers.tile.data() : nullptr);
  check(cudaGetLastError(), "launching list_rows");
  DeviceRows view = {};
  view.n = n;
  view.nvalue = rows.na;
  view.lanes = rows.lanes;
  view.point = buffers.point.data();
  view.atom = buffers.atom.data();
  view.count = buffers.count.data();
  return view;
}

// Writes the partners of compact rows into tiles. Waits for the total size if tiles differ in size.
void ResidentPairs::fill_tiles(const FoundRows &rows, RowBuffers &buffers, DeviceRows &view,
                               cudaStream_t stream)
{
  const int ntiles = rows.ntiles;
  if (rows.differ) {
    std::size_t bytes = 0;
    check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, buffers.tile.data(), buffers.tile.data(),
                                        ntiles + 1, stream),
          "planning a scan");
    workspace.reserve(bytes);
    check(cub::DeviceScan::ExclusiveSum(workspace.data(), bytes, buffers.tile.data(),
                                        buffers.tile.data(), ntiles + 1, stream),
          "adding up tiles");
    check(cudaMemcpyAsync(numbers_host.data(), buffers.tile.data() + ntiles, sizeof(std::int64_t),
                          cudaMemcpyDeviceToHost, stream),
          "copying data to the host");
    check(cudaStreamSynchronize(stream), "finding pairs of atoms");
    copied += sizeof(std::int64_t);
    view.tile = buffers.tile.data();
    buffers.nelements = numbers_host[0];
  } else {
    view.stride = rows.longest;
    buffers.nelements = rows.longest * ntiles;
  }
  buffers.partner.reserve(buffers.nelements);
  view.partner = buffers.partner.data();
  enqueue_tiles(view, FoundPartners{active.data(), rows.room}, buffers.partner.data(), stream);
}

// Takes the neighbor list of the caller; there is no search. Tiles have room for the capacity of
// the list, so there is no wait either.
void ResidentPairs::use_neighbors(const DeviceAtoms &atoms, const DeviceNeighbors &neighbors,
                                  cudaStream_t stream)
{
  if (two || type_classes.size() > 1)
    throw std::invalid_argument(
        "gpucoord: the neighbor list of the caller serves one group and one class of types");
  overlap = false;
  const int n = atoms.nlocal;
  nowned[0] = n;
  nowned[1] = 0;
  n_points = atoms.nall;
  if (n == 0) return;
  DeviceRows view = {};    // point and atom stay null: equal to the row's index
  view.n = view.nvalue = n;
  // Half of the capacity is about the number of neighbors of an atom in a liquid.
  const int partners = neighbors.capacity / 2;
  if (rebuilds_in_tiles > 0)
    --rebuilds_in_tiles;
  else if (!precise && RowBlockBuilder::are_for(n, n_points, neighbors.capacity, partners)) {
    if (!row_blocks) row_blocks = std::make_unique<RowBlockBuilder>();
    const double longest = longest_range();
    view.blocks = row_blocks->build(atoms, neighbors, longest + skin, stream);
    copied += sizeof(int);
    if (view.blocks.partner) {
      row_buffers.clear();    // unused tiles
      all_rows.push_back({0, 0, view});
      return;
    }
    rebuilds_in_tiles = tuning::LISTS_BEFORE_BLOCKS_AGAIN;
  }
  row_blocks.reset();
  if (row_buffers.empty()) row_buffers.emplace_back();
  RowBuffers &buffers = row_buffers[0];
  buffers.count.reserve(n);
  check(cudaMemcpyAsync(buffers.count.data(), neighbors.count, n * sizeof(int),
                        cudaMemcpyDeviceToDevice, stream),
        "copying data on the GPU");
  view.lanes = lanes_for(n, partners, min_threads(0, 0));
  view.count = buffers.count.data();
  const int rows_per_tile = 32 / view.lanes, ntiles = (n + rows_per_tile - 1) / rows_per_tile;
  view.stride = 32 * (((neighbors.capacity + FOUR - 1) / FOUR + view.lanes - 1) / view.lanes);
  buffers.partner.reserve(static_cast<std::size_t>(ntiles) * view.stride);
  view.partner = buffers.partner.data();
  enqueue_tiles(
      view, NeighborsOfCaller{neighbors.neighbor, neighbors.atom_stride, neighbors.neighbor_stride},
      buffers.partner.data(), stream);
  all_rows.push_back({0, 0, view});
}

}    // namespace gpucoord
