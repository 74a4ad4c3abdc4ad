// Part of GPUCOORD, GPL-2.0. Searches in cutoff bins: groups i-atoms into tasks and collects
// candidates for their partners.

#ifndef GPUCOORD_CELL_TASKS_HOST_H
#define GPUCOORD_CELL_TASKS_HOST_H

#include "cell_bins_host.h"
#include "pair_kernels_host.h"

#include "../core/run_in_parallel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace gpucoord {

// i-atoms that share one search for partners: the sorted atoms from begin up to, not including,
// end. They are in one row of cells.
struct CellTask {
  std::uint64_t key;    // key of the first cell
  int begin, end;
};

class CellTasks {
 public:
  // Makes the tasks. A task has the atoms within a quarter of the range along x. If these are few,
  // it takes more atoms. Its maximum width limits the loss of digits in distances from a common
  // origin. A task has at most MAX_ATOMS atoms, so that threads share the work even when all atoms
  // are at the same position.
  void make(const CellGrid &grid, const CellBins &bi, int nthreads)
  {
    constexpr int MIN_ATOMS = 8, MAX_ATOMS = 64, ATOMS_PER_PART = 1 << 14;
    const int width = grid.x_cells_per_range() / 4, max_width = 3 * grid.x_cells_per_range();
    const int n = static_cast<int>(bi.keys.size()), nparts = n / ATOMS_PER_PART + 1;
    const auto row = [&](int k) {
      return bi.keys[k] / grid.n[0];
    };
    tasks_of_part.resize(nparts);
    run_in_parallel(nparts, std::min(nthreads, nparts), [&](std::int64_t part) {
      auto &some = tasks_of_part[part];
      some.clear();
      // Take the rows of cells that begin in this part of the atoms.
      int begin = static_cast<int>(part) * ATOMS_PER_PART;
      const int end_of_part = std::min(begin + ATOMS_PER_PART, n);
      while (begin > 0 && begin < end_of_part && row(begin) == row(begin - 1)) ++begin;
      if (begin == end_of_part) return;
      while (begin < n && (begin < end_of_part || row(begin) == row(begin - 1))) {
        const std::uint64_t key = bi.keys[begin], end_of_row = (row(begin) + 1) * grid.n[0];
        const std::uint64_t end_of_some = std::min(key + max_width, end_of_row);
        int end = begin;
        bool any = false;
        for (; end < n && bi.keys[end] < end_of_some && end - begin < MAX_ATOMS; ++end) {
          if (end - begin >= MIN_ATOMS && bi.keys[end] >= key + width) break;
          any |= bi.owned[end] != 0;
        }
        if (any) some.push_back({key, begin, end});
        begin = end;
      }
    });
    tasks.clear();
    for (const auto &some : tasks_of_part) tasks.insert(tasks.end(), some.begin(), some.end());
  }

  const std::vector<CellTask> &all() const { return tasks; }
  std::size_t bytes() const { return bytes_of(tasks, tasks_of_part); }

 private:
  std::vector<CellTask> tasks;
  std::vector<std::vector<CellTask>> tasks_of_part;
};

// Candidates for the partners of the owned atoms of a task. Positions are relative to origin
// (distance). Candidates own_first to own_last - 1 are in the task's own row.
struct CellCandidates {
  double origin[3];
  int count = 0, own_first = 0, own_last = 0;
};

// Memory of one thread.
template <class Real> struct CandidateMemory {
  std::vector<Real> x, y, z;    // distance, relative to the origin
  // Indices among the sorted atoms.
  std::vector<int> index;
  std::vector<PointRange> ranges;
  std::vector<std::size_t> cursor;    // [rows in reach] where the next search of the row starts

  std::size_t bytes() const { return bytes_of(x, y, z, index, ranges, cursor); }

  // Resets the cursors for a new grid.
  void invalidate(const CellGrid &grid)
  {
    cursor.assign((2 * grid.reach + 1) * (2 * grid.reach + 1), 0);
  }
  void reserve(std::size_t n)
  {
    if (x.size() >= n) return;
    const std::size_t size = n + n / 2;
    index.resize(size);
    z.resize(size);
    y.resize(size);
    x.resize(size);    // last: its size tells that all arrays have this size
  }
};

template <class Real>
CellCandidates collect_candidates(KeepNearBoxFunction<Real> keep_near_box, double range,
                                  const CellGrid &grid, const CellBins &bi, const CellBins &bj,
                                  const CellTask &task, CandidateMemory<Real> &s)
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double lo[3] = {infinity, infinity, infinity}, hi[3] = {-infinity, -infinity, -infinity};
  for (int p = task.begin; p < task.end; ++p) {
    if (!bi.owned[p]) continue;
    const double position[3] = {bi.x[p], bi.y[p], bi.z[p]};
    for (int c = 0; c < 3; ++c) {
      lo[c] = std::min(lo[c], position[c]);
      hi[c] = std::max(hi[c], position[c]);
    }
  }
  CellCandidates found;
  if (!(lo[0] <= hi[0])) return found;
  double half[3];
  for (int c = 0; c < 3; ++c) {
    found.origin[c] = 0.5 * (lo[c] + hi[c]);
    half[c] = 0.5 * (hi[c] - lo[c]);
  }

  // The margin is far above the rounding of Real, so that no pair is lost.
  const double range_sq = range * range * (1.0 + 1e-5);
  const int reach = grid.reach, width = 2 * reach + 1;
  // Gap between the bounding box and a row of cells. The grid begins at 0.
  const auto gap = [&](int axis, std::int64_t cell) {
    const double begin = static_cast<double>(cell) * grid.size[axis], end = begin + grid.size[axis];
    return std::max({0.0, begin - (hi[axis] - grid.lo[axis]), lo[axis] - grid.lo[axis] - end});
  };
  const auto cy = static_cast<std::int64_t>(task.key / grid.n[0] % grid.n[1]);
  const auto cz = static_cast<std::int64_t>(task.key / grid.n[0] / grid.n[1]);
  s.ranges.clear();
  int own = -1, size = 0;
  for (int dz = -reach; dz <= reach; ++dz) {
    if (cz + dz < 0 || cz + dz >= grid.n[2]) continue;
    for (int dy = -reach; dy <= reach; ++dy) {
      if (cy + dy < 0 || cy + dy >= grid.n[1]) continue;
      const double gap_y = gap(1, cy + dy), gap_z = gap(2, cz + dz);
      const double reach_sq = range_sq - gap_y * gap_y - gap_z * gap_z;
      if (reach_sq < 0.0) continue;
      const double reach_x = std::sqrt(reach_sq);
      const std::int64_t x_first = grid.coordinate(0, lo[0] - reach_x),
                         x_last = grid.coordinate(0, hi[0] + reach_x);
      std::size_t &cursor = s.cursor[(dz + reach) * width + dy + reach];
      int begin;
      const int n = bj.atoms(grid.key(x_first, cy + dy, cz + dz),
                             grid.key(x_last, cy + dy, cz + dz), cursor, begin);
      const bool is_own = dy == 0 && dz == 0;
      if (n == 0 && !is_own) continue;
      if (is_own) own = static_cast<int>(s.ranges.size());
      s.ranges.push_back({begin, begin + n, 0});
      size += n;
    }
  }
  s.ranges.push_back({0, 0, 0});    // end marker
  s.reserve(static_cast<std::size_t>(size) + KEEP_MARGIN);
  found.count = keep_near_box(
      static_cast<int>(s.ranges.size()), s.ranges.data(), {bj.x.data(), bj.y.data(), bj.z.data()},
      {found.origin, half, range_sq}, {s.x.data(), s.y.data(), s.z.data(), s.index.data()});
  if (own >= 0) {
    found.own_first = s.ranges[own].kept;
    found.own_last = s.ranges[own + 1].kept;
  }
  return found;
}

}    // namespace gpucoord

#endif
