// Part of GPUCOORD, GPL-2.0. Finds the partners of atoms in bins, or by a test of all pairs.
//
// Launch: one thread per candidate, 256 threads per block. find_partners_in_masks: 1 or 32 threads
// per candidate, blockIdx.y is the group. No shared memory.

#include "pair_search.h"

#include "../core/text_files.h"
#include "../gpu/tuning.h"
#include "../gpu/warp_reduction.cuh"
#include "all_pairs_search.cuh"
#include "found_rows.cuh"
#include "pair_rebuild.cuh"

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cmath>

namespace gpucoord {

using namespace pair_rebuild;

namespace {

  struct Fours {
    __host__ __device__ std::int64_t operator()(int n) const { return (n + FOUR - 1) / FOUR; }
  };

  double extent_of(const Bounds &bounds)
  {
    double extent = 0.0;
    for (int c = 0; c < 3; ++c) extent = std::max(extent, bounds.hi[c] - bounds.lo[c]);
    return extent;
  }

  // Adds the number of partners of one candidate, or 0, to PARTNERS and MAX_PARTNERS. Counts
  // candidates with partners in ROWS, and those of group a in ROWS_A. All lanes of a warp must
  // call.
  __device__ void add_to_counters(int found, bool is_of_a, std::int64_t *counters)
  {
    const int maximum = max_warp(found), total = add_warp(found);
    const int rows = __popc(__ballot_sync(ALL_LANES, found > 0));
    const int rows_a = __popc(__ballot_sync(ALL_LANES, found > 0 && is_of_a));
    if (threadIdx.x % 32 != 0 || total == 0) return;
    atomicMax(reinterpret_cast<long long *>(counters + MAX_PARTNERS),
              static_cast<long long>(maximum));
    const auto add = [&](int counter, int n) {
      atomicAdd(reinterpret_cast<unsigned long long *>(counters + counter),
                static_cast<unsigned long long>(n));
    };
    add(PARTNERS, total);
    add(ROWS, rows);
    if (rows_a > 0) add(ROWS_A, rows_a);
  }

  // Writes the partners of each candidate, as many as fit, and counts all of them.
  __global__ void __launch_bounds__(THREADS)
      find_partners(const __grid_constant__ Search search, const __grid_constant__ Room room,
                    int *count, std::int64_t *counters)
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
      const int point = search.candidates(t).point;
      for (int k = found; k % FOUR != 0; ++k) append(k, point);
    }
    add_to_counters(found, t < search.candidates.na, counters);
  }

  // Like find_partners(), from masks. lanes() threads share a candidate.
  __global__ void __launch_bounds__(THREADS)
      find_partners_in_masks(const __grid_constant__ MasksOfGroups masks_of_groups,
                             const __grid_constant__ Candidates candidates,
                             const __grid_constant__ Room room, int *count, std::int64_t *counters)
  {
    const PairMasks &masks = masks_of_groups.group[blockIdx.y];
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
        room.partner_of(t, k) = candidates(t).point;
    }
    add_to_counters(counts ? found : 0, blockIdx.y == 0, counters);
  }

}    // namespace

/* ---------------------------------------------------------------------- */

PairSearch::PairSearch(Listing listing_in, ClassParts &parts_in, Points &points_in,
                       RebuildMemory &memory_in) :
    listing(listing_in),
    parts(parts_in), points(points_in), memory(memory_in), lists(parts_in, memory_in)
{
}

/* ----------------------------------------------------------------------
   selects the atoms of each part of both groups
------------------------------------------------------------------------- */

void PairSearch::take_all(const DeviceAtoms &atoms, const DeviceSelection &selection)
{
  skin = selection.skin;
  uses_bins = false;
  last.clear();
  lists.take_all(atoms);
}

bool PairSearch::select(const DeviceAtoms &atoms, const DeviceSelection &selection,
                        cudaStream_t stream)
{
  skin = selection.skin;
  uses_bins = false;    // stays false if an exception is thrown
  const bool were_joined = parts.are_joined();
  parts.join();
  bounds = select_lists(atoms, selection, stream);
  // The cell processor evaluates one pair of classes. The numbers of partners of groups are only
  // estimates, because they are based on the longest range.
  if (uses_bins && parts.size() < parts.classes().size()) {
    parts.separate();
    bounds = select_lists(atoms, selection, stream);
    if (!uses_bins) {
      parts.join();
      bounds = select_lists(atoms, selection, stream);
      uses_bins = false;
    }
  }
  const bool have_changed = parts.are_joined() != were_joined;
  if (have_changed || uses_bins) last.clear();
  return have_changed;
}

// Selects the atoms of each list. Decides from the estimated number of partners whether to use
// bins. Returns the bounds of the atoms.
Bounds PairSearch::select_lists(const DeviceAtoms &atoms, const DeviceSelection &selection,
                                cudaStream_t stream)
{
  const Bounds bounds = lists.select(atoms, selection, stream);
  const bool two = lists.counts().two;
  double npairs = 0.0;    // number of pairs of a candidate and a possible partner
  for (int i = 0; i < parts.size(); ++i)
    for (int j = 0; j < parts.size(); ++j) {
      if (parts.range_between(i, j) < 0.0) continue;
      const AtomLists::List &a = lists[list_of_a(i)], &b = lists[list_of_b(j)];
      npairs += static_cast<double>(a.nowned) * b.n;
      if (two) npairs += static_cast<double>(b.nowned) * a.n;
    }
  // Bins need one kernel for each ordered pair of classes.
  const bool avoids_lists = listing == Listing::NEVER ||
      (selection.is_evaluated_once && parts.classes().size() == 1);
  const bool needs_bins = listing != Listing::ALWAYS && parts.have_functions() &&
      (avoids_lists || !can_search(bounds) || !can_resolve(bounds));
  few = !needs_bins && npairs <= tuning::MAX_TESTED_PAIRS;
  uses_bins = needs_bins ||
      (listing == Listing::AUTO && !few && mean_partners(bounds) >= MANY_PARTNERS);
  if (listing == Listing::ALWAYS && !few && parts.have_functions() && !can_search(bounds))
    throw DeviceError("the atoms spread over " + short_text(extent_of(bounds)) +
                      ", too far for a search within dmax plus skin " +
                      short_text(parts.longest_range() + skin));
  return bounds;
}

// Returns the grid for the search of partner lists.
BinGrid PairSearch::grid_of_lists(const Bounds &bounds) const
{
  return make_bin_grid(bounds, tuning::LIST_COLUMN_WIDTH * (parts.longest_range() + skin));
}

// Returns whether search points resolve these bounds. They have a fixed number of bits.
bool PairSearch::can_search(const Bounds &bounds) const
{
  const BinGrid wide = grid_of_lists(bounds);
  for (int c = 0; c < 3; ++c)    // search points must not wrap around within a cell
    if (wide.size[c] > 4.0 * (parts.longest_range() + skin)) return false;
  return true;
}

// Returns whether points resolve these bounds. Their unit is a fraction of the range, which is too
// coarse if all atoms are much closer than the range.
bool PairSearch::can_resolve(const Bounds &bounds) const
{
  return extent_of(bounds) > 0.125 * parts.longest_range() || lists.counts().n < 2;
}

// Returns the mean number of partners per row at a uniform density.
double PairSearch::mean_partners(const Bounds &bounds) const
{
  const bool two = lists.counts().two;
  double rows = 0.0, partners = 0.0;
  for (int i = 0; i < parts.size(); ++i)
    for (int j = 0; j < parts.size(); ++j) {
      const double range = parts.range_between(i, j), reach = range + skin;
      if (range < 0.0) continue;
      double volume = 1.0;
      for (int c = 0; c < 3; ++c) volume *= bounds.hi[c] - bounds.lo[c] + reach;
      const double fraction = 4.0 / 3.0 * 3.14159265358979 * reach * reach * reach / volume;
      const AtomLists::List &a = lists[list_of_a(i)], &b = lists[list_of_b(j)];
      rows += a.nowned + (two ? b.nowned : 0);
      partners += fraction * a.nowned * b.n + (two ? fraction * b.nowned * a.n : 0.0);
    }
  return rows > 0.0 ? partners / rows : 0.0;
}

void PairSearch::sort(const DeviceAtoms &atoms, cudaStream_t stream)
{
  if (lists.counts().n == 0) return;
  lists.gather(atoms, stream);
  if (few) return;
  if (uses_bins) {
    const double longest = parts.longest_range() + skin;
    double volume = 1.0;
    for (int c = 0; c < 3; ++c) volume *= bounds.hi[c] - bounds.lo[c] + longest;
    const BinGrid grid = make_bin_grid(bounds, lists.longest() / volume, longest);
    lists.sort_into_bins(grid, points.reserve_doubles(lists.counts().n), stream);
  } else
    lists.sort_for_search(grid_of_lists(bounds), search_unit(), stream);
}

// Returns the unit of the search points (distance). Like the unit of the points, but for the
// longest range plus skin, so that search points do not wrap around.
double PairSearch::search_unit() const
{
  return points.unit() * (1.0 + skin / std::ldexp(points.unit(), 27));
}

/* ----------------------------------------------------------------------
   partners
------------------------------------------------------------------------- */

Search PairSearch::search_for(int a, int b, const Candidates &candidates, const Reach &reach) const
{
  Search search = {};
  search.candidates = candidates;
  search.grid = lists.grid();
  search.reach = reach;
  search.neighborhood = make_neighborhood(lists.grid(), reach.longest * REACH_MARGIN);
  search.unit = search_unit();
  search.inverse_unit = 1.0 / search_unit();
  search.two = lists.counts().two;
  const int list_of_group[] = {a, b};
  for (int group = 0; group < 2; ++group) {
    const AtomLists::List &other = lists[list_of_group[1 - group]];
    search.atoms[group] = lists[list_of_group[group]].gathered.data();
    search.partners[group] = other.sorted;
    search.partner_points[group] = other.search_points.data();
  }
  return search;
}

MasksOfGroups PairSearch::test_pairs(int a, int b, const Reach &reach, cudaStream_t stream)
{
  MasksOfGroups masks = {};
  const int list_of_group[] = {a, b}, ngroups = lists.counts().two ? 2 : 1;
  std::size_t first_word[] = {0, 0, 0};
  std::int64_t nwarps = 0;
  for (int group = 0; group < ngroups; ++group) {
    const AtomLists::List &own = lists[list_of_group[group]],
                          &other = lists[list_of_group[1 - group]];
    PairMasks &m = masks.group[group];
    m.candidate = own.gathered.data();
    m.other = other.gathered.data();
    m.n = own.nowned;
    m.nother = other.n;
    m.first_point = other.first_point;
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

Candidates PairSearch::candidates_of(int a, int b) const
{
  Candidates candidates = {};
  candidates.atom_of = lists.atom_of();
  candidates.first_point[0] = lists[a].first_point;
  candidates.first_point[1] = lists[b].first_point;
  candidates.na = lists[a].nowned;
  candidates.n = lists[a].nowned + (lists.counts().two ? lists[b].nowned : 0);
  return candidates;
}

bool PairSearch::has_candidates(int part_i, int part_j) const
{
  const int a = list_of_a(part_i), b = list_of_b(part_j);
  return lists[a].n > 0 && lists[b].n > 0 && candidates_of(a, b).n > 0;
}

FoundRows PairSearch::find(int part_i, int part_j, cudaStream_t stream)
{
  last.resize(static_cast<std::size_t>(parts.size()) * parts.size());
  Last &mine = last[static_cast<std::size_t>(part_i) * parts.size() + part_j];
  const int a = list_of_a(part_i), b = list_of_b(part_j);
  Reach reach = {parts.range_between(part_i, part_j) + skin, static_cast<float>(skin), nullptr,
                 parts.classes().size()};
  if (parts.ranges_differ(part_i, part_j)) reach.range = parts.range_of_classes();
  FoundRows rows = {};
  const Candidates candidates = rows.candidates = candidates_of(a, b);
  const int ncandidates = candidates.n;
  // The capacity may come from a rebuild with fewer atoms. Reset it if it is wasteful now.
  if (is_wasteful(static_cast<std::int64_t>(ncandidates) * mine.capacity, mine.npartners))
    mine.capacity = Last::FIRST_CAPACITY;
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
                    (mine.capacity / FOUR));
      room = {found.data(), mine.capacity, nullptr};
    }
    check(cudaMemsetAsync(memory.counters.data() + ROWS, 0, (LISTS - ROWS) * sizeof(std::int64_t),
                          stream),
          "clearing numbers");
    if (few) {
      std::int64_t nthreads = 0;
      for (const PairMasks &m : masks.group)
        nthreads = std::max(nthreads, static_cast<std::int64_t>(m.n) * m.lanes());
      find_partners_in_masks<<<dim3(blocks_of(nthreads), lists.counts().two ? 2 : 1), THREADS, 0,
                               stream>>>(masks, candidates, room, candidate_count.data(),
                                         memory.counters.data());
    } else
      find_partners<<<blocks_of(ncandidates), THREADS, 0, stream>>>(
          search, room, candidate_count.data(), memory.counters.data());
    check(cudaGetLastError(), "launching find_partners");
    memory.wait_for_counters(LISTS, stream);
    max_partners = static_cast<int>(memory.counters_host[MAX_PARTNERS]);
    if (room.offset || max_partners <= mine.capacity) break;
    const int capacity = (max_partners + max_partners / 8 + 15) / 8 * 8;
    if (is_wasteful(static_cast<std::int64_t>(ncandidates) * capacity,
                    memory.counters_host[PARTNERS])) {
      offset.reserve(ncandidates);
      const auto lengths = thrust::make_transform_iterator(candidate_count.data(), Fours());
      std::size_t bytes = 0;
      check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, lengths, offset.data(), ncandidates,
                                          stream),
            "planning a scan");
      memory.workspace.reserve(bytes);
      check(cub::DeviceScan::ExclusiveSum(memory.workspace.data(), bytes, lengths, offset.data(),
                                          ncandidates, stream),
            "adding up lengths");
      found.reserve(memory.counters_host[PARTNERS] / FOUR + memory.counters_host[ROWS]);
      room = {found.data(), 0, offset.data()};
    } else
      mine.capacity = capacity;
  }
  rows.candidate_count = candidate_count.data();
  rows.room = room;
  rows.n = static_cast<int>(memory.counters_host[ROWS]);
  rows.na = static_cast<int>(memory.counters_host[ROWS_A]);
  rows.max_partners = max_partners;
  rows.npairs = mine.npartners = memory.counters_host[PARTNERS];
  return rows;
}

}    // namespace gpucoord
