// Part of GPUCOORD, GPL-2.0. Cell bins on the host: radix sort of atoms by cell.

#include "cell_bins_host.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpucoord {

namespace {

  // Limit along each axis. The product of three axes fits into a key.
  constexpr std::int64_t MAX_CELLS = std::int64_t(1) << 20;

  // Up to this number of cells per atom, the starts of all cells are stored.
  constexpr double MAX_CELLS_PER_ATOM = 8;
  constexpr int MIN_ATOMS_PER_THREAD = 4096;    // fewest atoms per thread
  constexpr int DIGIT_BITS = 11;                // bits per digit of the radix sort
  constexpr std::size_t DIGITS = 1 << DIGIT_BITS;

  int threads_for(int n, int nthreads)
  {
    return std::max(1, std::min(nthreads, n / MIN_ATOMS_PER_THREAD));
  }

  void extend(const double *x, const AtomList &list, double *lo, double *hi, int nthreads)
  {
#pragma omp parallel for schedule(static) num_threads(threads_for(list.n, nthreads)) \
    reduction(min                                                                    \
              : lo[:3]) reduction(max                                                \
                                  : hi[:3])
    for (int k = 0; k < list.n; ++k) {
      const double *const p = x + 3 * static_cast<std::size_t>(list.index[k]);
      for (int c = 0; c < 3; ++c) {
        lo[c] = std::min(lo[c], p[c]);
        hi[c] = std::max(hi[c], p[c]);
      }
    }
  }

}    // namespace

CellGrid make_cell_grid(const double *x, const AtomList &a, const AtomList &b, double range,
                        int nthreads)
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double lo[3] = {infinity, infinity, infinity}, hi[3] = {-infinity, -infinity, -infinity};
  extend(x, a, lo, hi, nthreads);
  extend(x, b, lo, hi, nthreads);
  CellGrid grid;
  if (!(lo[0] <= hi[0])) return grid;

  double volume = 1.0;
  for (int c = 0; c < 3; ++c) volume *= hi[c] - lo[c] + range;
  const double per_half_cell =
      (static_cast<double>(a.n) + b.n) * range * range * range / (8.0 * volume);
  // Cells of half the range reduce the number of tested pairs per pair in range from 6.4 to 3.7.
  // They also increase the number of visited cells from 27 to 125, which does not pay off when most
  // cells would be empty.
  grid.reach = per_half_cell > 0.5 ? 2 : 1;
  for (int c = 0; c < 3; ++c) {
    grid.lo[c] = lo[c];
    // A little larger than range/reach: rounding must not put two atoms in range one more cell
    // apart.
    double size = range / (c == 0 ? grid.x_cells_per_range() : grid.reach) * (1.0 + 1e-6);
    const double extent = hi[c] - lo[c];
    if (extent > size * (MAX_CELLS - 1)) size = extent / (MAX_CELLS - 1);
    grid.size[c] = size;
    grid.inverse_size[c] = 1.0 / size;
    grid.n[c] = static_cast<std::int64_t>(extent / size) + 1;
  }
  return grid;
}

void CellBins::build(const CellGrid &grid, const double *position, const AtomList &list,
                     int nthreads)
{
  const int n = list.n;
  nthreads = threads_for(n, nthreads);
  keys.resize(n);
  order.resize(n);
  const auto point = [&](int k) {
    return position + 3 * static_cast<std::size_t>(list.index[k]);
  };

#pragma omp parallel for schedule(static) num_threads(nthreads)
  for (int k = 0; k < n; ++k) {
    const double *const p = point(k);
    keys[k] =
        grid.key(grid.coordinate(0, p[0]), grid.coordinate(1, p[1]), grid.coordinate(2, p[2]));
    order[k] = k;
  }
  const auto last_key = static_cast<std::uint64_t>(grid.n[0] * grid.n[1] * grid.n[2] - 1);
  starts.clear();
  cells.clear();
  if (static_cast<double>(last_key) < MAX_CELLS_PER_ATOM * n)
    sort_few_cells(last_key, nthreads);
  else
    sort_many_cells(last_key, nthreads);

  x.resize(n);
  y.resize(n);
  z.resize(n);
  row.resize(n);
  owned.resize(n);
#pragma omp parallel for schedule(static) num_threads(nthreads)
  for (int k = 0; k < n; ++k) {
    const double *const p = point(order[k]);
    x[k] = p[0];
    y[k] = p[1];
    z[k] = p[2];
    row[k] = list.index[order[k]];
    owned[k] = order[k] < list.nowned;
  }
}

// One pass of a radix sort by DIGIT_BITS bits of the keys, starting at bit 'shift'. Each thread
// sorts a part of the atoms. The sort is stable, so that its result does not depend on the number
// of threads.
void CellBins::sort_by_digit(int shift, int nthreads)
{
  const int n = static_cast<int>(keys.size());
  keys_swap.resize(n);
  order_swap.resize(n);
  next_index.assign(DIGITS * nthreads, 0);    // [part][digit] position of the next atom
  const auto digit = [shift](std::uint64_t key) {
    return static_cast<std::size_t>(key >> shift) & (DIGITS - 1);
  };
  const auto first = [&](int part) {
    return static_cast<int>(static_cast<std::int64_t>(n) * part / nthreads);
  };
#pragma omp parallel for schedule(static, 1) num_threads(nthreads)
  for (int part = 0; part < nthreads; ++part) {
    int *const next = &next_index[DIGITS * part];
    for (int k = first(part); k < first(part + 1); ++k) ++next[digit(keys[k])];
  }
  int before = 0;
  for (std::size_t d = 0; d < DIGITS; ++d)
    for (int part = 0; part < nthreads; ++part) {
      const int count = next_index[DIGITS * part + d];
      next_index[DIGITS * part + d] = before;
      before += count;
    }
#pragma omp parallel for schedule(static, 1) num_threads(nthreads)
  for (int part = 0; part < nthreads; ++part) {
    int *const next = &next_index[DIGITS * part];
    for (int k = first(part); k < first(part + 1); ++k) {
      const int to = next[digit(keys[k])]++;
      keys_swap[to] = keys[k];
      order_swap[to] = order[k];
    }
  }
  keys.swap(keys_swap);
  order.swap(order_swap);
}

// Sorts by buckets of adjacent cells, then within each bucket, which is contiguous in memory. Also
// computes the starts of the cells.
void CellBins::sort_few_cells(std::uint64_t last_key, int nthreads)
{
  int shift = 0;
  while (last_key >> shift >= DIGITS) ++shift;
  sort_by_digit(shift, nthreads);
  const auto ncells = static_cast<std::int64_t>(last_key) + 1, size = std::int64_t(1) << shift;
  const int nbuckets = static_cast<int>((ncells + size - 1) / size);
  // The ends of the last part are the ends of the buckets.
  const int *const end_of_bucket = &next_index[DIGITS * (nthreads - 1)];
  starts.assign(static_cast<std::size_t>(ncells) + 1, 0);
  starts.back() = static_cast<int>(keys.size());
#pragma omp parallel for schedule(static) num_threads(nthreads)
  for (int b = 0; b < nbuckets; ++b) {
    const int first = b > 0 ? end_of_bucket[b - 1] : 0, last = end_of_bucket[b];
    const std::int64_t first_cell = b * size, end_cell = std::min(first_cell + size, ncells);
    for (int k = first; k < last; ++k) ++starts[keys[k]];
    int end = first;
    for (std::int64_t cell = first_cell; cell < end_cell; ++cell)
      starts[cell] = end += starts[cell];
    // Backwards, so that each element of 'starts' moves from the end to the start of its cell.
    for (int k = last; k > first; --k) {
      const int to = --starts[keys[k - 1]];
      keys_swap[to] = keys[k - 1];
      order_swap[to] = order[k - 1];
    }
  }
  keys.swap(keys_swap);
  order.swap(order_swap);
}

void CellBins::sort_many_cells(std::uint64_t last_key, int nthreads)
{
  for (int shift = 0; shift < 64 && (last_key >> shift) > 0; shift += DIGIT_BITS)
    sort_by_digit(shift, nthreads);
  const int n = static_cast<int>(keys.size());
  for (int k = 0; k < n; ++k)
    if (k == 0 || keys[k] != keys[k - 1]) cells.push_back({keys[k], k});
  cells.push_back({std::numeric_limits<std::uint64_t>::max(), n});
}

int CellBins::atoms(std::uint64_t first, std::uint64_t last, std::size_t &cursor, int &begin) const
{
  if (!starts.empty()) {
    begin = starts[first];
    return starts[last + 1] - begin;
  }
  cursor = seek(cursor, first);
  begin = cells[cursor].begin;
  return cells[seek(cursor, last + 1)].begin - begin;
}

// Returns the first occupied cell whose key is not less than key.
std::size_t CellBins::seek(std::size_t near, std::uint64_t key) const
{
  // Successive searches hit nearby cells: gallop, then bisect. All keys before 'low' are less than
  // key. All keys from 'high' on are not.
  std::size_t low = near, high = near, step = 1;
  while (low > 0 && cells[low - 1].key >= key) {
    high = low - 1;
    low -= std::min(low, step);
    step *= 2;
  }
  while (high < cells.size() && cells[high].key < key) {
    low = high + 1;
    high += std::min(cells.size() - high, step);
    step *= 2;
  }
  const auto found = std::lower_bound(cells.begin() + static_cast<std::ptrdiff_t>(low),
                                      cells.begin() + static_cast<std::ptrdiff_t>(high), key,
                                      [](const Cell &cell, std::uint64_t value) {
                                        return cell.key < value;
                                      });
  return static_cast<std::size_t>(found - cells.begin());
}

}    // namespace gpucoord
