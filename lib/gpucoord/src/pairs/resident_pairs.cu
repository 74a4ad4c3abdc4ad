// Part of GPUCOORD, GPL-2.0. Lists pairs of atoms in reach: selects and sorts the atoms. The rows
// are in pair_rows.cu.
//
// Launch: one thread per atom, 256 threads per block. No shared memory.

#include "resident_pairs.h"

#include "../core/text_files.h"
#include "../gpu/positions.cuh"
#include "../gpu/staging.h"
#include "../gpu/warp_reduction.cuh"
#include "pair_rebuild.cuh"
#include "partner_search.cuh"

#include "passes.h"

#include "../switching/forms.h"

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <cmath>
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
                           const int *mask, int other_bit, std::int64_t *numbers,
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
    auto *const out = reinterpret_cast<long long *>(numbers);
    for (int c = 0; c < 3; ++c) {
      atomicMin(out + LO + c, extreme[LO + c]);
      atomicMax(out + HI + c, extreme[HI + c]);
    }
    atomicAdd(reinterpret_cast<unsigned long long *>(nowned),
              static_cast<unsigned long long>(owned));
    atomicAdd(reinterpret_cast<unsigned long long *>(numbers + OVERLAP),
              static_cast<unsigned long long>(shared));
  }

  __global__ void clear_numbers(std::int64_t *numbers, int n)
  {
    const int k = threadIdx.x;
    for (int t = k; t < n; t += THREADS)
      numbers[t] = t < HI ? LLONG_MAX : t < OVERLAP ? LLONG_MIN : 0;
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

  int number_of_formulas(const SwitchTable &table)
  {
    const std::vector<int> numbers = form_numbers(table);
    return numbers.empty() ? 0 : 1 + *std::max_element(numbers.begin(), numbers.end());
  }

  double extent_of(const Bounds &bounds)
  {
    double extent = 0.0;
    for (int c = 0; c < 3; ++c) extent = std::max(extent, bounds.hi[c] - bounds.lo[c]);
    return extent;
  }

}    // namespace

/* ---------------------------------------------------------------------- */

// The kernels of a formula evaluate all partners in a group of classes. Separate rows of n classes
// would take n^2 kernels. For 1,000,000 atoms of 16 types and one formula, groups take 1/8 of the
// time.
ResidentPairs::ResidentPairs(const SwitchTable &table, Precision precision, const double *weight,
                             Listing listing_in) :
    precise(precision == Precision::DOUBLE),
    listing(listing_in), type_classes(table, weight),
    groups_of_classes(listing == Listing::ALWAYS ? ClassGroups::all_together(type_classes)
                                                 : ClassGroups(type_classes)),
    single_classes(ClassGroups::one_each(type_classes)),
    groups_are_worthwhile(listing == Listing::ALWAYS ||
                          number_of_formulas(table) <=
                              std::max(2, static_cast<int>(type_classes.size()) / 2)),
    all_points(table.dmax())
{
  for (const Switch &function : table.functions()) ranges.push_back(function.dmax());
  const int n = type_classes.size();
  if (n == 1) return;
  send_table(type_classes.indices(), class_of_type);
  if (groups_of_classes.size() > 1) send_table(groups_of_classes.indices(), group_of_type);
  std::vector<float> range;
  for (int i = 0; i < n; ++i) {
    float longest = -1;
    for (int j = 0; j < n; ++j) {
      const auto &between = type_classes(i, j);
      range.push_back(between.exists() ? static_cast<float>(ranges[between.function]) : -1.0f);
      longest = std::max(longest, range.back());
    }
    range.push_back(longest);
  }
  send_table(range, range_of_classes);
}

// Returns the longest range of all functions (distance). There must be at least one function.
double ResidentPairs::longest_range() const
{
  return *std::max_element(ranges.begin(), ranges.end());
}

// Returns the grid for the search of partner lists.
BinGrid ResidentPairs::grid_of_lists(const Bounds &bounds) const
{
  return make_bin_grid(bounds, tuning::LIST_COLUMN_WIDTH * (longest_range() + skin));
}

// Returns the longest range between classes of two parts (distance); negative: no function.
double ResidentPairs::range_between(int part_i, int part_j) const
{
  double longest = -1.0;
  for (const int ci : classes_of(part_i))
    for (const int cj : classes_of(part_j))
      if (type_classes(ci, cj).exists())
        longest = std::max(longest, ranges[type_classes(ci, cj).function]);
  return longest;
}

// Returns whether the functions between two parts differ in range, or some are missing.
bool ResidentPairs::ranges_differ(int part_i, int part_j) const
{
  const double longest = range_between(part_i, part_j);
  for (const int ci : classes_of(part_i))
    for (const int cj : classes_of(part_j)) {
      const auto &between = type_classes(ci, cj);
      if (!between.exists() || ranges[between.function] != longest) return true;
    }
  return false;
}

/* ----------------------------------------------------------------------
   selects the atoms of each part of both groups; sorts them into bins unless they are few
------------------------------------------------------------------------- */

void ResidentPairs::choose_parts(const DeviceAtoms &atoms, const DeviceSelection &selection,
                                 cudaStream_t stream)
{
  const ClassGroups *const before = parts;
  const ClassGroups *const shared = groups_are_worthwhile ? &groups_of_classes : &single_classes;
  parts = shared;
  Bounds bounds = select(atoms, selection, stream);
  // The cell processor evaluates one pair of classes. The numbers of partners of groups are only
  // estimates, because they are based on the longest range.
  if (uses_bins && parts->size() < single_classes.size()) {
    parts = &single_classes;
    bounds = select(atoms, selection, stream);
    if (!uses_bins) {
      parts = shared;
      bounds = select(atoms, selection, stream);
      uses_bins = false;
    }
  }
  if (parts != before) row_buffers.clear();    // these buffers belong to the previous parts
  if (n_points > 0) gather(atoms, bounds, stream);
}

void ResidentPairs::gather(const DeviceAtoms &atoms, const Bounds &bounds, cudaStream_t stream)
{
  const int nlists = static_cast<int>(n_of.size());
  atom_of.reserve(n_points);
  for (int k = 0; k < nlists; ++k) {
    const int n = n_of[k];
    if (n == 0) continue;
    gathered[k].reserve(n);
    with_positions(atoms, [&](const auto *x) {
      gather_atoms<<<blocks_of(n), THREADS, 0, stream>>>(x, selected[k].data(), n, atoms.type,
                                                         class_of_type.data(), gathered[k].data(),
                                                         atom_of.data() + first_point[k]);
    });
    check(cudaGetLastError(), "launching gather_atoms");
  }
  if (!few) sort(bounds, stream);
}

// Selects the atoms of each list and waits for their numbers. Decides from the estimated number of
// partners whether to use bins. Returns the bounds of the atoms.
Bounds ResidentPairs::select(const DeviceAtoms &atoms, const DeviceSelection &selection,
                             cudaStream_t stream)
{
  const int nparts = parts->size(), nlists = (two ? 2 : 1) * nparts;
  const int nnumbers = LISTS + 2 * nlists;
  const int *const part_of_type = nparts == 1 ? nullptr
      : parts == &single_classes              ? class_of_type.data()
                                              : group_of_type.data();
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
    const int group = k / nparts;
    const IsSelected is_selected = {atoms.mask, group == 0 ? selection.bit_a : selection.bit_b,
                                    atoms.type, part_of_type, k % nparts};
    std::int64_t *const count = numbers.data() + LISTS + 2 * k;
    selected[k].reserve(atoms.nall);
    std::size_t bytes = 0;
    check(cub::DeviceSelect::If(nullptr, bytes, rows, selected[k].data(), count, atoms.nall,
                                is_selected, stream),
          "planning a selection");
    workspace.reserve(bytes);
    check(cub::DeviceSelect::If(workspace.data(), bytes, rows, selected[k].data(), count,
                                atoms.nall, is_selected, stream),
          "selecting atoms");
    const int other_bit = two && group == 0 ? selection.bit_b : 0;
    with_positions(atoms, [&](const auto *x) {
      describe<<<std::min(blocks_of(atoms.nall), MAX_DESCRIBE_BLOCKS), THREADS, 0, stream>>>(
          x, selected[k].data(), count, atoms.nlocal, atoms.mask, other_bit, numbers.data(),
          count + 1);
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
    nowned[k / nparts] += nowned_of[k];
    first_point[k] = static_cast<int>(total);
    total += n_of[k];
  }
  if (total > std::numeric_limits<int>::max())
    throw DeviceError("more than 2147483647 atoms of two groups on one GPU");
  n_points = static_cast<int>(total);
  overlap = numbers_host[OVERLAP] > 0;

  Bounds bounds;
  for (int c = 0; c < 3; ++c) {
    bounds.lo[c] = from_ordered(numbers_host[LO + c]);
    bounds.hi[c] = from_ordered(numbers_host[HI + c]);
    if (!(bounds.lo[c] <= bounds.hi[c])) bounds.lo[c] = bounds.hi[c] = 0.0;    // no finite position
  }
  double npairs = 0.0;    // number of pairs of a candidate and a possible partner
  for (int i = 0; i < nparts; ++i)
    for (int j = 0; j < nparts; ++j) {
      if (range_between(i, j) < 0.0) continue;
      const int a = part_index(0, i), b = part_index(two ? 1 : 0, j);
      npairs += static_cast<double>(nowned_of[a]) * n_of[b];
      if (two) npairs += static_cast<double>(nowned_of[b]) * n_of[a];
    }
  // Bins need one kernel for each ordered pair of classes.
  const bool avoids_lists = listing == Listing::NEVER ||
      (selection.is_evaluated_once && type_classes.size() == 1);
  const bool needs_bins = listing != Listing::ALWAYS && !ranges.empty() &&
      (avoids_lists || !can_search(bounds) || !can_resolve(bounds));
  few = !needs_bins && npairs <= tuning::MAX_TESTED_PAIRS;
  uses_bins = needs_bins ||
      (listing == Listing::AUTO && !few && mean_partners(bounds) >= MANY_PARTNERS);
  if (listing == Listing::ALWAYS && !few && !ranges.empty() && !can_search(bounds))
    throw DeviceError("the atoms spread over " + short_text(extent_of(bounds)) +
                      ", too far for a search within dmax plus skin " +
                      short_text(longest_range() + skin));
  return bounds;
}

// Returns whether search points resolve these bounds. They have a fixed number of bits.
bool ResidentPairs::can_search(const Bounds &bounds) const
{
  const BinGrid wide = grid_of_lists(bounds);
  for (int c = 0; c < 3; ++c)    // search points must not wrap around within a cell
    if (wide.size[c] > 4.0 * (longest_range() + skin)) return false;
  return true;
}

// Returns whether points resolve these bounds. Their unit is a fraction of the range, which is too
// coarse if all atoms are much closer than the range.
bool ResidentPairs::can_resolve(const Bounds &bounds) const
{
  return extent_of(bounds) > 0.125 * longest_range() || n_points < 2;
}

// Returns the mean number of partners per row at a uniform density.
double ResidentPairs::mean_partners(const Bounds &bounds) const
{
  double rows = 0.0, partners = 0.0;
  for (int i = 0; i < parts->size(); ++i)
    for (int j = 0; j < parts->size(); ++j) {
      const double range = range_between(i, j), reach = range + skin;
      if (range < 0.0) continue;
      double volume = 1.0;
      for (int c = 0; c < 3; ++c) volume *= bounds.hi[c] - bounds.lo[c] + reach;
      const double fraction = 4.0 / 3.0 * 3.14159265358979 * reach * reach * reach / volume;
      const int a = part_index(0, i), b = part_index(two ? 1 : 0, j);
      rows += nowned_of[a] + (two ? nowned_of[b] : 0);
      partners +=
          fraction * nowned_of[a] * n_of[b] + (two ? fraction * nowned_of[b] * n_of[a] : 0.0);
    }
  return rows > 0.0 ? partners / rows : 0.0;
}

void ResidentPairs::sort(const Bounds &bounds, cudaStream_t stream)
{
  const int nlists = static_cast<int>(n_of.size());
  sorted.assign(nlists, SortedAtoms());
  if (uses_bins) {
    const double longest = longest_range() + skin;
    double volume = 1.0;
    for (int c = 0; c < 3; ++c) volume *= bounds.hi[c] - bounds.lo[c] + longest;
    grid = make_bin_grid(bounds, *std::max_element(n_of.begin(), n_of.end()) / volume, longest);
    DeviceAtom *const points = all_points.reserve_doubles(n_points);
    for (int k = 0; k < nlists; ++k) {
      const int n = n_of[k];
      if (n == 0) continue;
      sorted[k] = bins[k].sort(grid, gathered[k].data(), n, nowned_of[k], stream);
      list_sorted_rows<<<blocks_of(n), THREADS, 0, stream>>>(sorted[k].atom, n,
                                                             atom_of.data() + first_point[k]);
      check(cudaGetLastError(), "launching list_sorted_rows");
      sorted[k].atom = points + first_point[k];
    }
    return;
  }
  grid = grid_of_lists(bounds);
  for (int k = 0; k < nlists; ++k) {
    const int n = n_of[k];
    if (n == 0) continue;
    sorted[k] = bins[k].sort(grid, gathered[k].data(), n, n, stream);
    search_points[k].reserve(n);
    make_search_points<<<blocks_of(n), THREADS, 0, stream>>>(sorted[k].atom, sorted[k].caller_index,
                                                             n, first_point[k], 1.0 / search_unit(),
                                                             search_points[k].data());
    check(cudaGetLastError(), "launching make_search_points");
  }
}

// Returns the unit of the search points (distance). Like the unit of the points, but for the
// longest range plus skin, so that search points do not wrap around.
double ResidentPairs::search_unit() const
{
  return all_points.unit() * (1.0 + skin / std::ldexp(all_points.unit(), 27));
}

void ResidentPairs::wait_for_numbers(int n, cudaStream_t stream)
{
  numbers_host.reserve(n);
  copied += n * static_cast<std::int64_t>(sizeof(std::int64_t));
  check(cudaMemcpyAsync(numbers_host.data(), numbers.data(), n * sizeof(std::int64_t),
                        cudaMemcpyDeviceToHost, stream),
        "copying data to the host");
  check(cudaStreamSynchronize(stream), "finding pairs of atoms");
}

// Lists the rows of owned atoms of each class with atoms of another class. If there are two groups,
// also lists the rows of the second group with the first one.
void ResidentPairs::list_rows_in_bins()
{
  for (int ci = 0; ci < type_classes.size(); ++ci)
    for (int cj = 0; cj < type_classes.size(); ++cj) {
      if (!type_classes(ci, cj).exists()) continue;
      const int a = part_index(0, ci), b = part_index(two ? 1 : 0, cj);
      for (const bool second : {false, true}) {
        const int i = second ? b : a, j = second ? a : b;
        if ((second && !two) || nowned_of[i] == 0 || n_of[j] == 0) continue;
        DeviceRows view = {};
        view.n = nowned_of[i];
        view.nvalue = second ? 0 : view.n;
        view.atom = selected[i].data();
        all_rows.push_back({ci, cj, view, i, j});    // here, parts are classes
      }
    }
}

/* ---------------------------------------------------------------------- */

void ResidentPairs::rebuild(const DeviceAtoms &atoms, const DeviceSelection &selection,
                            std::int64_t version, cudaStream_t stream)
{
  if (version != 0 && version == known_version) return;
  clear_errors();
  known_version = known_positions = 0;
  ++rebuilds;
  all_rows.clear();
  skin = selection.skin;
  two = selection.bit_b != 0;
  uses_bins = false;
  all_atoms = selection.neighbors.neighbor;
  if (all_atoms)
    use_neighbors(atoms, selection.neighbors, stream);
  else {
    row_blocks.reset();
    choose_parts(atoms, selection, stream);
  }
  if (uses_bins) {
    row_buffers.clear();    // partner lists may be large
    DeviceBuffer<int4>().swap(found);
    list_rows_in_bins();
  } else if (!all_atoms)
    for (int i = 0; i < parts->size() && n_points > 0; ++i)
      for (int j = 0; j < parts->size(); ++j)
        if (range_between(i, j) >= 0.0) find_rows(i, j, stream);
  all_points.build(atoms, all_atoms ? nullptr : atom_of.data(), n_points, class_of_type.data(),
                   precise || uses_bins, selection, stream);
  known_version = version;
}

void ResidentPairs::update(const DeviceAtoms &atoms, std::int64_t positions, cudaStream_t stream)
{
  if (positions != 0 && positions == known_positions) return;
  all_points.update(atoms, stream);
  known_positions = positions;
}

std::size_t ResidentPairs::bytes() const
{
  std::size_t total = all_points.bytes() + atom_of.bytes() + workspace.bytes() +
      range_of_classes.bytes() + class_of_type.bytes() + group_of_type.bytes() +
      mask_words.bytes() + candidate_count.bytes() + active.bytes() + found.bytes() +
      offset.bytes() + numbers.bytes() + numbers_host.bytes() +
      (row_blocks ? row_blocks->bytes() : 0);
  for (const auto &buffer : selected) total += buffer.bytes();
  for (const auto &buffer : gathered) total += buffer.bytes();
  for (const auto &bin : bins) total += bin.bytes();
  for (const auto &buffer : search_points) total += buffer.bytes();
  for (const auto &rows : row_buffers)
    total += rows.point.bytes() + rows.atom.bytes() + rows.count.bytes() + rows.partner.bytes() +
        rows.tile.bytes();
  return total;
}

std::shared_ptr<ResidentPairs> make_resident_pairs(const SwitchTable &table, Precision precision,
                                                   const double *weight, const CudaTuning &tuning)
{
  check_kernels();
  need_end(table, "cells");
  return std::make_shared<ResidentPairs>(table, precision, weight,
                                         tuning.keeps_lists ? Listing::AUTO : Listing::NEVER);
}

std::shared_ptr<ResidentPairs> make_resident_pairs(const SwitchTable &table, Precision precision,
                                                   const double *weight)
{
  return make_resident_pairs(table, precision, weight, CudaTuning());
}

}    // namespace gpucoord
