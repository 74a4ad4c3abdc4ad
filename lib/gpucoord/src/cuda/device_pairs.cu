// Part of GPUCOORD, GPL-2.0. Finding pairs of atoms: selection, bins and lists of partners.
//
// Launch: one thread an atom (an owned one that may have partners, a row, a tile), 256 a block; no shared memory.
// Partners are found twice, first to count them, so that memory is what they need.

#include "device_pairs.h"

#include "../common/engine_parts.h"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256;

  unsigned blocks_of(std::int64_t n)
  {
    return static_cast<unsigned>((n + THREADS - 1) / THREADS);
  }

  __device__ int thread_number()
  {
    return blockIdx.x * THREADS + threadIdx.x;
  }

  // Where a rebuild counts on the device. Of the lists of atoms, two numbers for each.
  enum { LO, HI = LO + 3, OVERLAP = HI + 3, ROWS, ROWS_A, PARTNERS, LISTS };

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

  struct HasPartners {
    const int *count;
    __device__ bool operator()(int t) const { return count[t] > 0; }
  };

  struct Add {
    __host__ __device__ std::int64_t operator()(std::int64_t x, std::int64_t y) const { return x + y; }
  };

  // numbers that rise as the double does, and back
  __host__ __device__ std::int64_t to_ordered(double x)
  {
    union {
      double number;
      std::int64_t bits;
    } u = {x};
    return u.bits < 0 ? u.bits ^ 0x7fffffffffffffffLL : u.bits;
  }
  double from_ordered(std::int64_t ordered)
  {
    union {
      std::int64_t bits;
      double number;
    } u = {ordered < 0 ? ordered ^ 0x7fffffffffffffffLL : ordered};
    return u.number;
  }

  template <class X> __device__ double3 position_of(const X *x, int row)
  {
    const X *const p = x + 3 * static_cast<std::size_t>(row);
    return make_double3(p[0], p[1], p[2]);
  }

  // bounds of the selected atoms, how many are owned, and how many of those are in the other group
  template <class X>
  __global__ void describe(const X *x, const int *selected, const std::int64_t *n, int nlocal, const int *mask,
                           int other_bit, std::int64_t *numbers, std::int64_t *nowned)
  {
    const int k = thread_number();
    const bool valid = k < *n;
    const int row = valid ? selected[k] : 0;
    const bool owned = valid && row < nlocal;
    const unsigned owned_lanes = __ballot_sync(0xffffffffu, owned);
    const unsigned shared_lanes = __ballot_sync(0xffffffffu, owned && mask && (mask[row] & other_bit));
    long long extreme[6];
    const double3 p = valid ? position_of(x, row) : make_double3(0.0, 0.0, 0.0);
    const double position[3] = {p.x, p.y, p.z};
    for (int c = 0; c < 3; ++c) {
      const bool counts = valid && isfinite(position[c]);
      extreme[LO + c] = counts ? to_ordered(position[c]) : LLONG_MAX;
      extreme[HI + c] = counts ? to_ordered(position[c]) : LLONG_MIN;
      for (int distance = 16; distance > 0; distance /= 2) {
        extreme[LO + c] = min(extreme[LO + c], __shfl_xor_sync(0xffffffffu, extreme[LO + c], distance));
        extreme[HI + c] = max(extreme[HI + c], __shfl_xor_sync(0xffffffffu, extreme[HI + c], distance));
      }
    }
    if (threadIdx.x % 32 != 0) return;
    auto *const out = reinterpret_cast<long long *>(numbers);
    for (int c = 0; c < 3; ++c) {
      atomicMin(out + LO + c, extreme[LO + c]);
      atomicMax(out + HI + c, extreme[HI + c]);
    }
    if (owned_lanes) atomicAdd(reinterpret_cast<unsigned long long *>(nowned), static_cast<unsigned long long>(__popc(owned_lanes)));
    if (shared_lanes)
      atomicAdd(reinterpret_cast<unsigned long long *>(numbers + OVERLAP), static_cast<unsigned long long>(__popc(shared_lanes)));
  }

  __global__ void clear_numbers(std::int64_t *numbers, int n)
  {
    const int k = threadIdx.x;
    for (int t = k; t < n; t += THREADS) numbers[t] = t < HI ? LLONG_MAX : t < OVERLAP ? LLONG_MIN : 0;
  }

  template <class X> __global__ void gather_atoms(const X *x, const int *selected, int n, DeviceAtom *atom)
  {
    const int k = thread_number();
    if (k >= n) return;
    const double3 p = position_of(x, selected[k]);
    atom[k] = {p.x, p.y, p.z, selected[k]};
  }

  __global__ void note_atoms(const DeviceAtom *sorted, int n, int *atom_of)
  {
    const int k = thread_number();
    if (k < n) atom_of[k] = static_cast<int>(sorted[k].id);
  }

  // Rows of a pair of classes: owned atoms of group a with partners of b and, where there are two groups, the
  // other way round.
  struct Search {
    DeviceGrid grid;
    Neighbourhood neighbourhood;
    double reach_sq;
    SortedAtoms atoms[2], partners[2];
    int first_point[2], first_partner[2];
    int na;    // candidates of group a; the others are of b
  };

  __global__ void list_candidates(const __grid_constant__ Search search, int n, int *candidate)
  {
    const int t = thread_number();
    if (t >= n) return;
    const int group = t < search.na ? 0 : 1;
    const int k = group == 0 ? t : t - search.na;
    const int *const owned = search.atoms[group].owned;
    candidate[t] = search.first_point[group] + (owned ? owned[k] : k);
  }

  __device__ int lower_bound(const std::uint64_t *keys, int n, std::uint64_t key)
  {
    int first = 0;
    while (n > 0) {
      const int half = n / 2;
      if (keys[first + half] < key) {
        first += half + 1;
        n -= half + 1;
      } else
        n = half;
    }
    return first;
  }

  __device__ double outside(double x, double lo, double size)    // of the interval
  {
    return fmax(0.0, fmax(lo - x, x - (lo + size)));
  }

  // calls f(number among the points) for each partner
  template <class F> __device__ void for_each_partner(const Search &search, int group, int point, F f)
  {
    const DeviceAtom atom = search.atoms[group].atom[point - search.first_point[group]];
    const SortedAtoms &j = search.partners[group];
    const DeviceGrid &grid = search.grid;
    const std::int64_t cy = grid.coordinate(1, atom.y), cz = grid.coordinate(2, atom.z);
    for (int t = 0; t < search.neighbourhood.n; ++t) {
      const std::int64_t y = cy + search.neighbourhood.dy[t], z = cz + search.neighbourhood.dz[t];
      if (y < 0 || y >= grid.n[1] || z < 0 || z >= grid.n[2]) continue;
      const double out_y = outside(atom.y, grid.lo[1] + y * grid.size[1], grid.size[1]);
      const double out_z = outside(atom.z, grid.lo[2] + z * grid.size[2], grid.size[2]);
      // the margin is far above the rounding that puts an atom into the next column
      const double left_sq = search.reach_sq * (1.0 + 1e-9) - out_y * out_y - out_z * out_z;
      if (left_sq < 0.0) continue;
      const double left = sqrt(left_sq);
      const auto first = static_cast<std::uint64_t>(grid.column(y, z) * grid.n[0]);
      const std::uint64_t first_cell = first + grid.coordinate(0, atom.x - left);
      const std::uint64_t end_cell = first + grid.coordinate(0, atom.x + left) + 1;
      int begin, end;
      if (j.start) {
        begin = j.start[first_cell];
        end = j.start[end_cell];
      } else {
        begin = lower_bound(j.key, j.n, first_cell);
        end = begin + lower_bound(j.key + begin, j.n - begin, end_cell);
      }
      for (int k = begin; k < end; ++k) {
        const DeviceAtom other = j.atom[k];
        const double dx = other.x - atom.x, dy = other.y - atom.y, dz = other.z - atom.z;
        if (dx * dx + dy * dy + dz * dz <= search.reach_sq && other.id != atom.id)
          f(search.first_partner[group] + k);
      }
    }
  }

  __global__ void count_partners(const __grid_constant__ Search search, int n, const int *candidate, int *count)
  {
    const int t = thread_number();
    if (t >= n) return;
    int found = 0;
    for_each_partner(search, t < search.na ? 0 : 1, candidate[t], [&](int) { ++found; });
    count[t] = found;
  }

  // how many of the rows are of group a
  __global__ void count_rows_a(const int *active, int na, std::int64_t *numbers)
  {
    int n = static_cast<int>(numbers[ROWS]), first = 0;
    while (n > 0) {
      const int half = n / 2;
      if (active[first + half] < na) {
        first += half + 1;
        n -= half + 1;
      } else
        n = half;
    }
    numbers[ROWS_A] = first;
  }

  __global__ void list_rows(const int *active, int n, const int *candidate, const int *candidate_count, int *point,
                            int *count)
  {
    const int r = thread_number();
    if (r >= n) return;
    point[r] = candidate[active[r]];
    count[r] = candidate_count[active[r]];
  }

  __global__ void measure_tiles(const int *count, int n, int lanes, int ntiles, std::int64_t *tile)
  {
    const int t = thread_number();
    if (t > ntiles) return;
    const int rows = 32 / lanes;
    int most = 0;
    for (int r = t * rows; r < min(n, (t + 1) * rows); ++r) most = max(most, count[r]);
    tile[t] = t < ntiles ? 32 * static_cast<std::int64_t>((most + lanes - 1) / lanes) : 0;
  }

  __global__ void list_partners(const __grid_constant__ Search search, const __grid_constant__ DeviceRows rows, int na,
                                int *partner)
  {
    const int r = thread_number();
    if (r >= rows.n) return;
    const int rows_a_tile = 32 / rows.lanes, a = r % rows_a_tile;
    int *const first = partner + rows.tile[r / rows_a_tile] + a * rows.lanes;
    int k = 0;
    for_each_partner(search, r < na ? 0 : 1, rows.point[r], [&](int found) {
      first[static_cast<std::int64_t>(k / rows.lanes) * 32 + k % rows.lanes] = found;
      ++k;
    });
  }

  // whether it has moved too far since 'built' was set; limit_sq: half the skin, squared
  __device__ bool has_moved(const int4 &p, const int4 &built, float limit_sq)
  {
    const float dx = static_cast<float>(p.x - built.x), dy = static_cast<float>(p.y - built.y),
                dz = static_cast<float>(p.z - built.z);
    return dx * dx + dy * dy + dz * dz > limit_sq;
  }
  __device__ bool has_moved(const DeviceAtom &p, const DeviceAtom &built, float limit_sq)
  {
    const double dx = p.x - built.x, dy = p.y - built.y, dz = p.z - built.z;
    return dx * dx + dy * dy + dz * dz > limit_sq;
  }

  __device__ void make_point(const double3 &p, double inverse_unit, int4 &point)
  {
    // the low half of the integer: numbers go round
    point = make_int4(static_cast<int>(__double2ll_rn(p.x * inverse_unit)), static_cast<int>(__double2ll_rn(p.y * inverse_unit)),
                      static_cast<int>(__double2ll_rn(p.z * inverse_unit)), 0);
  }
  __device__ void make_point(const double3 &p, double, DeviceAtom &point)
  {
    point = {p.x, p.y, p.z, 0};
  }

  template <class X, class Point>
  __global__ void convert_points(const X *x, const int *atom_of, int n, double inverse_unit, float limit_sq,
                                 bool are_built, Point *point, Point *built, DeviceStatus *status)
  {
    const int k = thread_number();
    if (k >= n) return;
    const double3 p = position_of(x, atom_of[k]);
    if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z)) atomicMin(&status->bad_atom, atom_of[k]);
    Point made;
    make_point(p, inverse_unit, made);
    point[k] = made;
    if (are_built)
      built[k] = made;
    else if (has_moved(made, built[k], limit_sq))
      status->moved = 1;
  }

  __global__ void clear(DeviceStatus *status)
  {
    *status = {DeviceStatus::NONE, 0};
  }

}    // namespace

/* ---------------------------------------------------------------------- */

DevicePairs::DevicePairs(const SwitchTable &table, Precision precision, const double *weight) :
    precise(precision == Precision::DOUBLE), length_unit(std::ldexp(table.dmax(), -27)), type_classes(table, weight)
{
  for (const Switch &function : table.functions()) ranges.push_back(function.dmax());
  if (table.ntypes() > 0 && type_classes.size() > 1) {
    const auto &of_type = type_classes.of_types();
    class_of_type.reserve(of_type.size());
    check(cudaMemcpy(class_of_type.data(), of_type.data(), of_type.size() * sizeof(int), cudaMemcpyHostToDevice),
          "copying types to it");
  }
  device_status.reserve(1);
  clear_status(nullptr);
}

void DevicePairs::clear_status(cudaStream_t stream)
{
  clear<<<1, 1, 0, stream>>>(device_status.data());
  check(cudaGetLastError(), "launching clear");
}

/* ----------------------------------------------------------------------
   the atoms of each class of both groups, in bins
------------------------------------------------------------------------- */

void DevicePairs::select(const DeviceAtoms &atoms, const DeviceSelection &selection, cudaStream_t stream)
{
  two = selection.bit_b != 0;
  const int nclasses = type_classes.size(), nlists = (two ? 2 : 1) * nclasses;
  const int nnumbers = LISTS + 2 * nlists;
  numbers.reserve(nnumbers);
  clear_numbers<<<1, THREADS, 0, stream>>>(numbers.data(), nnumbers);
  while (static_cast<int>(selected.size()) < nlists) {
    selected.emplace_back();
    gathered.emplace_back();
    bins.emplace_back();
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
    if (atoms.x_is_float)
      describe<<<blocks_of(atoms.nall), THREADS, 0, stream>>>(static_cast<const float *>(atoms.x), selected[k].data(),
          count, atoms.nlocal, atoms.mask, other_bit, numbers.data(), count + 1);
    else
      describe<<<blocks_of(atoms.nall), THREADS, 0, stream>>>(static_cast<const double *>(atoms.x), selected[k].data(),
          count, atoms.nlocal, atoms.mask, other_bit, numbers.data(), count + 1);
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

  sorted.assign(nlists, SortedAtoms());
  if (n_points == 0) return;
  Bounds bounds;
  for (int c = 0; c < 3; ++c) {
    bounds.lo[c] = from_ordered(numbers_host[LO + c]);
    bounds.hi[c] = from_ordered(numbers_host[HI + c]);
    if (!(bounds.lo[c] <= bounds.hi[c])) bounds.lo[c] = bounds.hi[c] = 0.0;    // no finite position
  }
  const double longest = *std::max_element(ranges.begin(), ranges.end()) + skin;
  grid = make_device_grid(bounds, tuning::LIST_COLUMN_WIDTH * longest);
  atom_of.reserve(n_points);
  for (int k = 0; k < nlists; ++k) {
    const int n = n_of[k];
    if (n == 0) continue;
    gathered[k].reserve(n);
    if (atoms.x_is_float)
      gather_atoms<<<blocks_of(n), THREADS, 0, stream>>>(static_cast<const float *>(atoms.x), selected[k].data(), n,
                                                         gathered[k].data());
    else
      gather_atoms<<<blocks_of(n), THREADS, 0, stream>>>(static_cast<const double *>(atoms.x), selected[k].data(), n,
                                                         gathered[k].data());
    check(cudaGetLastError(), "launching gather_atoms");
    sorted[k] = bins[k].sort(grid, gathered[k].data(), n, nowned_of[k], stream);
    note_atoms<<<blocks_of(n), THREADS, 0, stream>>>(sorted[k].atom, n, atom_of.data() + first_point[k]);
    check(cudaGetLastError(), "launching note_atoms");
  }
}

void DevicePairs::wait_for_numbers(int n, cudaStream_t stream)
{
  numbers_host.reserve(n);
  check(cudaMemcpyAsync(numbers_host.data(), numbers.data(), n * sizeof(std::int64_t), cudaMemcpyDeviceToHost, stream),
        "copying from it");
  check(cudaStreamSynchronize(stream), "finding pairs of atoms");
}

/* ----------------------------------------------------------------------
   owned atoms of class ci with their partners of class cj; of two groups also the atoms of the second
   group and class cj with theirs of ci
------------------------------------------------------------------------- */

void DevicePairs::find_rows(int ci, int cj, cudaStream_t stream)
{
  const int a = place(0, ci), b = place(two ? 1 : 0, cj);
  Search search = {};
  search.grid = grid;
  const double reach = ranges[type_classes(ci, cj).function] + skin;
  search.neighbourhood = make_neighbourhood(grid, reach);
  search.reach_sq = reach * reach;
  search.atoms[0] = search.partners[1] = sorted[a];
  search.atoms[1] = search.partners[0] = sorted[b];
  search.first_point[0] = search.first_partner[1] = first_point[a];
  search.first_point[1] = search.first_partner[0] = first_point[b];
  search.na = nowned_of[a];
  if (n_of[a] == 0 || n_of[b] == 0) return;
  const int ncandidates = nowned_of[a] + (two ? nowned_of[b] : 0);
  if (ncandidates == 0) return;

  candidate.reserve(ncandidates);
  candidate_count.reserve(ncandidates);
  active.reserve(ncandidates);
  list_candidates<<<blocks_of(ncandidates), THREADS, 0, stream>>>(search, ncandidates, candidate.data());
  check(cudaGetLastError(), "launching list_candidates");
  count_partners<<<blocks_of(ncandidates), THREADS, 0, stream>>>(search, ncandidates, candidate.data(),
                                                                 candidate_count.data());
  check(cudaGetLastError(), "launching count_partners");
  const thrust::counting_iterator<int> places(0);
  const HasPartners has_partners = {candidate_count.data()};
  std::size_t select_bytes = 0, sum_bytes = 0;
  std::int64_t *const nrows = numbers.data() + ROWS, *const npartners = numbers.data() + PARTNERS;
  check(cub::DeviceSelect::If(nullptr, select_bytes, places, active.data(), nrows, ncandidates, has_partners, stream),
        "planning a selection");
  check(cub::DeviceReduce::Reduce(nullptr, sum_bytes, candidate_count.data(), npartners, ncandidates,
            Add(), std::int64_t(0), stream),
        "planning a sum");
  workspace.reserve(std::max(select_bytes, sum_bytes));
  check(cub::DeviceSelect::If(workspace.data(), select_bytes, places, active.data(), nrows, ncandidates, has_partners,
            stream), "selecting rows");
  check(cub::DeviceReduce::Reduce(workspace.data(), sum_bytes, candidate_count.data(), npartners, ncandidates,
            Add(), std::int64_t(0), stream),
        "counting pairs");
  count_rows_a<<<1, 1, 0, stream>>>(active.data(), search.na, numbers.data());
  check(cudaGetLastError(), "launching count_rows_a");
  wait_for_numbers(LISTS, stream);
  const int n = static_cast<int>(numbers_host[ROWS]), na = static_cast<int>(numbers_host[ROWS_A]);
  const std::int64_t npairs = numbers_host[PARTNERS];
  if (n == 0) return;

  const std::size_t number = all_rows.size();
  while (row_buffers.size() <= number) row_buffers.emplace_back();
  RowBuffers &buffers = row_buffers[number];
  int lanes = 1;
  while (lanes < 32 && static_cast<std::int64_t>(n) * lanes < tuning::ENOUGH_THREADS &&
         npairs / n >= 2 * lanes * tuning::FEWEST_PARTNERS)
    lanes *= 2;
  const int rows_a_tile = 32 / lanes, ntiles = (n + rows_a_tile - 1) / rows_a_tile;
  buffers.point.reserve(n);
  buffers.count.reserve(n);
  buffers.tile.reserve(ntiles + 1);
  list_rows<<<blocks_of(n), THREADS, 0, stream>>>(active.data(), n, candidate.data(), candidate_count.data(),
                                                  buffers.point.data(), buffers.count.data());
  check(cudaGetLastError(), "launching list_rows");
  measure_tiles<<<blocks_of(ntiles + 1), THREADS, 0, stream>>>(buffers.count.data(), n, lanes, ntiles,
                                                               buffers.tile.data());
  check(cudaGetLastError(), "launching measure_tiles");
  std::size_t scan_bytes = 0;
  check(cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, buffers.tile.data(), buffers.tile.data(), ntiles + 1, stream),
        "planning a scan");
  workspace.reserve(scan_bytes);
  check(cub::DeviceScan::ExclusiveSum(workspace.data(), scan_bytes, buffers.tile.data(), buffers.tile.data(), ntiles + 1,
            stream), "adding up tiles");
  check(cudaMemcpyAsync(numbers_host.data(), buffers.tile.data() + ntiles, sizeof(std::int64_t), cudaMemcpyDeviceToHost,
            stream), "copying from it");
  check(cudaStreamSynchronize(stream), "finding pairs of atoms");
  buffers.partner.reserve(numbers_host[0]);

  const DeviceRows view = {n, two ? na : n, lanes, buffers.point.data(), buffers.count.data(), buffers.tile.data(),
                           buffers.partner.data()};
  list_partners<<<blocks_of(n), THREADS, 0, stream>>>(search, view, two ? na : n, buffers.partner.data());
  check(cudaGetLastError(), "launching list_partners");
  all_rows.push_back({ci, cj, n, view.nvalue, view});
}

/* ---------------------------------------------------------------------- */

void DevicePairs::rebuild(const DeviceAtoms &atoms, const DeviceSelection &selection, std::int64_t version,
                          cudaStream_t stream)
{
  if (version != 0 && version == known_version) return;
  cudaGetLastError();    // of others: a launch here must not be blamed for it
  known_version = known_positions = 0;
  all_rows.clear();
  skin = selection.skin;
  select(atoms, selection, stream);
  for (int ci = 0; ci < type_classes.size() && n_points > 0; ++ci)
    for (int cj = 0; cj < type_classes.size(); ++cj)
      if (type_classes(ci, cj).exists()) find_rows(ci, cj, stream);
  if (precise) {
    doubles.reserve(n_points);
    doubles_built.reserve(n_points);
  } else {
    integers.reserve(n_points);
    integers_built.reserve(n_points);
  }
  if (atoms.x_is_float)
    convert<float>(atoms, true, stream);
  else
    convert<double>(atoms, true, stream);
  known_version = version;
}

template <class X> void DevicePairs::convert(const DeviceAtoms &atoms, bool are_built, cudaStream_t stream)
{
  if (n_points == 0) return;
  const double limit = 0.5 * skin * (1.0 + 1e-6) / (precise ? 1.0 : length_unit);
  const auto limit_sq = static_cast<float>(limit * limit);
  const auto *const x = static_cast<const X *>(atoms.x);
  if (precise)
    convert_points<<<blocks_of(n_points), THREADS, 0, stream>>>(x, atom_of.data(), n_points, 1.0, limit_sq, are_built,
        doubles.data(), doubles_built.data(), device_status.data());
  else
    convert_points<<<blocks_of(n_points), THREADS, 0, stream>>>(x, atom_of.data(), n_points, 1.0 / length_unit, limit_sq,
        are_built, integers.data(), integers_built.data(), device_status.data());
  check(cudaGetLastError(), "launching convert_points");
}

void DevicePairs::update(const DeviceAtoms &atoms, std::int64_t positions, cudaStream_t stream)
{
  if (positions != 0 && positions == known_positions) return;
  if (atoms.x_is_float)
    convert<float>(atoms, false, stream);
  else
    convert<double>(atoms, false, stream);
  known_positions = positions;
}

std::size_t DevicePairs::bytes() const
{
  std::size_t total = atom_of.bytes() + integers.bytes() + integers_built.bytes() + doubles.bytes() + doubles_built.bytes() +
      workspace.bytes() + candidate.bytes() + candidate_count.bytes() + active.bytes();
  for (const auto &buffer : selected) total += buffer.bytes();
  for (const auto &buffer : gathered) total += buffer.bytes();
  for (const auto &bin : bins) total += bin.bytes();
  for (const auto &rows : row_buffers)
    total += rows.point.bytes() + rows.count.bytes() + rows.partner.bytes() + rows.tile.bytes();
  return total;
}

std::shared_ptr<DevicePairs> make_device_pairs(const SwitchTable &table, Precision precision, const double *weight)
{
  check_kernels();
  need_end(table, "cells");
  return std::make_shared<DevicePairs>(table, precision, weight);
}

}    // namespace gpucoord
