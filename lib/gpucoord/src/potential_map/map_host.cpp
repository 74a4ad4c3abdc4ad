// Part of GPUCOORD, GPL-2.0. Potential maps on the host: OpenMP over tiles of points, SIMD over the
// charges near them.
//
// Charges are sorted into cutoff bins. A tile has rows of points along x. The charges within the
// cutoff of its bounding box are collected once, relative to its center. Each row then sums over
// the charges near it (map_kernels_host.h). Separate points, such as atoms, are sorted into their
// own bins. Nearby points of a row of cells share a search.
//
// DIRECT has no bins. Every tile takes all charges, one block at a time.

#include "gpucoord/counters.h"
#include "gpucoord/potential_map.h"

#include "../core/run_in_parallel.h"
#include "../pairs/cell_tasks_host.h"
#include "fixed_bins.h"
#include "map_kernels_host.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace gpucoord {

namespace {

  // Rows per tile. Larger tiles need fewer searches, but more of the collected charges are beyond
  // the cutoff of a row.
  constexpr int TILE_Y = 4, TILE_Z = 4, POINTS_PER_TILE = POINTS_PER_ROW * TILE_Y * TILE_Z;
  constexpr int BLOCK = 4096;    // charges of DIRECT that stay in the L2 cache

  constexpr double INFINITE = std::numeric_limits<double>::infinity();

  struct BoxOfPoints {
    double lo[3] = {INFINITE, INFINITE, INFINITE}, hi[3] = {-INFINITE, -INFINITE, -INFINITE};
    void add(const double *x)
    {
      for (int c = 0; c < 3; ++c) {
        lo[c] = std::min(lo[c], x[c]);
        hi[c] = std::max(hi[c], x[c]);
      }
    }
  };

  std::vector<int> count_up(int n)
  {
    std::vector<int> all(n);
    for (int k = 0; k < n; ++k) all[k] = k;
    return all;
  }

  template <class Real> class HostMap : public PotentialMap {
   public:
    HostMap(const MapOptions &options_in, Precision precision, int nthreads_in) :
        options(options_in), constants(make_map_constants<Real>(options_in)),
        nthreads(std::max(1, nthreads_in)),
        kernels(select_map_kernels<Real>(options_in, precision)),
        keep_near_box(select_keep_near_box<Real>()), scratch(nthreads)
    {
    }

    void on_grid(const MapGrid &grid, const MapCharges &charges, const MapResults &out) override
    {
      GPUCOORD_COUNT(MAP_HOST);
      sort(charges, 0.5 * extent_of_tile(grid));
      const std::int64_t tiles[3] = {(grid.n[0] + POINTS_PER_ROW - 1) / POINTS_PER_ROW,
                                     (grid.n[1] + TILE_Y - 1) / TILE_Y,
                                     (grid.n[2] + TILE_Z - 1) / TILE_Z};
      run_in_parallel(tiles[0] * tiles[1] * tiles[2], nthreads, [&](std::int64_t t) {
        const int first[3] = {static_cast<int>(t % tiles[0]) * POINTS_PER_ROW,
                              static_cast<int>(t / tiles[0] % tiles[1]) * TILE_Y,
                              static_cast<int>(t / tiles[0] / tiles[1]) * TILE_Z};
        tile(grid, first, out);
      });
    }

    void at_points(const MapPoints &points, const MapCharges &charges,
                   const MapResults &out) override
    {
      GPUCOORD_COUNT(MAP_HOST);
      sort(charges, 0.0);
      const auto all_indices = count_up(points.n);
      BoxOfPoints box;
      for (int p = 0; p < points.n; ++p) box.add(points.x + 3 * static_cast<std::size_t>(p));
      double range = options.cutoff;
      if (is_direct()) {
        // Divide the system into parts, so that near charges are relative to a nearby origin.
        constexpr int PARTS = 8;
        range = 0.0;
        for (int c = 0; c < 3 && points.n > 0; ++c)
          range = std::max(range, (box.hi[c] - box.lo[c]) / PARTS);
        if (range == 0.0) range = 1.0;
      }
      const AtomList list = {all_indices.data(), points.n, points.n};
      const CellGrid cells = make_cell_grid(points.x, list, {}, range, nthreads);
      bins_of_points.build(cells, points.x, list, nthreads);
      tasks.make(cells, bins_of_points, nthreads);
      sorted_index.resize(charges.n);
      for (int k = 0; k < charges.n; ++k) sorted_index[bins.row[k]] = k;
      run_in_parallel(static_cast<std::int64_t>(tasks.all().size()), nthreads, [&](std::int64_t t) {
        some_points(points, tasks.all()[t], out);
      });
    }

    double tested() const override
    {
      double sum = 0.0;
      for (const Scratch &s : scratch) sum += s.tested;
      return sum;
    }

    std::size_t bytes() const override
    {
      return bytes_of(scratch, bins, bins_of_points, charge, sorted_index, tasks);
    }

   private:
    struct Scratch {
      std::vector<Real> x, y, z, q;    // charges near a box, relative to its center
      std::vector<int> index;          // index among the sorted charges
      std::vector<PointRange> ranges;
      double sums[POINTS_PER_TILE * MAP_VALUES];
      char near[POINTS_PER_TILE];
      double tested = 0.0;

      std::size_t bytes() const { return bytes_of(x, y, z, q, index, ranges); }
      NearCharges<Real> view(int n) const { return {n, x.data(), y.data(), z.data(), q.data()}; }
    };

    bool is_direct() const { return options.kernel == MapKernel::DIRECT; }

    // Returns the larger extent of a tile along y and z, distance.
    static double extent_of_tile(const MapGrid &grid)
    {
      const int tile_size[3] = {POINTS_PER_ROW, TILE_Y, TILE_Z};
      double extent[3] = {};
      for (int a = 0; a < 3; ++a)
        for (int c = 1; c < 3; ++c)
          extent[c] +=
              std::max(0, std::min(tile_size[a], grid.n[a]) - 1) * std::fabs(grid.step[a][c]);
      return std::max(extent[1], extent[2]);
    }

    // Sorts the charges into cells for a range of at least min_range. If a tile were much
    // larger than the cells, it would search very many rows of cells.
    void sort(const MapCharges &charges, double min_range)
    {
      for (Scratch &s : scratch) s.tested = 0.0;
      const auto all_indices = count_up(charges.n);
      const AtomList list = {all_indices.data(), charges.n, charges.n};
      cells_of_charges = is_direct()
          ? CellGrid()
          : make_cell_grid(charges.x, list, {}, std::max(options.cutoff, min_range), nthreads);
      bins.build(cells_of_charges, charges.x, list, nthreads);
      charge.resize(charges.n);
      for (int k = 0; k < charges.n; ++k) charge[k] = static_cast<Real>(charges.q[bins.row[k]]);
    }

    // Collects the charges that may be within the cutoff of a box in s. Calls visit(n) for each
    // batch of n charges.
    template <class Visit>
    void for_charges_near(const BoxOfPoints &box, const double *origin, Scratch &s,
                          const Visit &visit)
    {
      const int n = static_cast<int>(charge.size());
      double half[3];
      for (int c = 0; c < 3; ++c) half[c] = 0.5 * (box.hi[c] - box.lo[c]);
      // Far above the rounding errors of Real, so that no charge is lost.
      constexpr double MARGIN_OF_ROUNDING = 1.0 + 1e-5;
      const double range_sq = is_direct() ? std::numeric_limits<double>::max()
                                          : options.cutoff * options.cutoff * MARGIN_OF_ROUNDING;
      if (is_direct()) {
        for (int begin = 0; begin < n; begin += BLOCK) {
          s.ranges.assign(1, {begin, std::min(n, begin + BLOCK), 0});
          visit(collect(origin, half, range_sq, s));
        }
        return;
      }
      find_rows(box, range_sq, s);
      const int count = collect(origin, half, range_sq, s);
      if (count > 0) visit(count);
    }

    // Finds the ranges of sorted charges in rows of cells within the cutoff of a box.
    void find_rows(const BoxOfPoints &box, double range_sq, Scratch &s) const
    {
      const CellGrid &grid = cells_of_charges;
      const double range = std::sqrt(range_sq);
      const auto gap = [&](int axis, std::int64_t cell) {
        const double begin = grid.lo[axis] + static_cast<double>(cell) * grid.size[axis],
                     end = begin + grid.size[axis];
        return std::max({0.0, begin - box.hi[axis], box.lo[axis] - end});
      };
      s.ranges.clear();
      std::size_t cursor = 0;
      const std::int64_t z_last = grid.coordinate(2, box.hi[2] + range),
                         y_first = grid.coordinate(1, box.lo[1] - range),
                         y_last = grid.coordinate(1, box.hi[1] + range);
      for (std::int64_t cz = grid.coordinate(2, box.lo[2] - range); cz <= z_last; ++cz)
        for (std::int64_t cy = y_first; cy <= y_last; ++cy) {
          const double gap_y = gap(1, cy), gap_z = gap(2, cz),
                       reach_sq = range_sq - gap_y * gap_y - gap_z * gap_z;
          if (reach_sq < 0.0) continue;
          const double reach = std::sqrt(reach_sq);
          int begin;
          const int n =
              bins.atoms(grid.key(grid.coordinate(0, box.lo[0] - reach), cy, cz),
                         grid.key(grid.coordinate(0, box.hi[0] + reach), cy, cz), cursor, begin);
          if (n > 0) s.ranges.push_back({begin, begin + n, 0});
        }
    }

    int collect(const double *origin, const double *half, double range_sq, Scratch &s) const
    {
      std::size_t size = KEEP_MARGIN;
      for (const PointRange &range : s.ranges) size += range.end - range.begin;
      if (s.x.size() < size) {
        size += size / 2;
        s.index.resize(size);
        // Resize x last: its size tells that all arrays have this size.
        for (auto *row : {&s.q, &s.z, &s.y, &s.x}) row->resize(size);
      }
      const int count =
          keep_near_box(static_cast<int>(s.ranges.size()), s.ranges.data(),
                        {bins.x.data(), bins.y.data(), bins.z.data()}, {origin, half, range_sq},
                        {s.x.data(), s.y.data(), s.z.data(), s.index.data()});
      for (int k = 0; k < count; ++k) s.q[k] = charge[s.index[k]];
      return count;
    }

    void tile(const MapGrid &grid, const int *first, const MapResults &out)
    {
      Scratch &s = scratch[omp_get_thread_num()];
      int size[3];
      const int tile_size[3] = {POINTS_PER_ROW, TILE_Y, TILE_Z};
      for (int c = 0; c < 3; ++c) size[c] = std::min(tile_size[c], grid.n[c] - first[c]);
      const auto set_point = [&](int i, int j, int k, double *x) {
        for (int c = 0; c < 3; ++c)
          x[c] = grid.origin[c] + (first[0] + i) * grid.step[0][c] +
              (first[1] + j) * grid.step[1][c] + (first[2] + k) * grid.step[2][c];
      };
      BoxOfPoints box;
      double x[3], origin[3];
      for (int corner = 0; corner < 8; ++corner) {
        set_point(corner & 1 ? size[0] - 1 : 0, corner & 2 ? size[1] - 1 : 0,
                  corner & 4 ? size[2] - 1 : 0, x);
        box.add(x);
      }
      for (int c = 0; c < 3; ++c) origin[c] = 0.5 * (box.lo[c] + box.hi[c]);

      std::fill(s.sums, s.sums + POINTS_PER_TILE * MAP_VALUES, 0.0);
      std::fill(s.near, s.near + POINTS_PER_TILE, static_cast<char>(0));
      const auto kernel = kernels.row[false][out.field != nullptr];
      for_charges_near(box, origin, s, [&](int n) {
        const NearCharges<Real> charges = s.view(n);
        for (int k = 0; k < size[2]; ++k)
          for (int j = 0; j < size[1]; ++j) {
            RowOfPoints<Real> row;
            row.n = POINTS_PER_ROW;
            for (int i = 0; i < POINTS_PER_ROW; ++i) {
              set_point(std::min(i, size[0] - 1), j, k, x);
              row.x[i] = static_cast<Real>(x[0] - origin[0]);
            }
            row.y = static_cast<Real>(x[1] - origin[1]);
            row.z = static_cast<Real>(x[2] - origin[2]);
            const int p = (k * TILE_Y + j) * POINTS_PER_ROW;
            s.tested += kernel(constants, charges, row, s.sums + p * MAP_VALUES);
            if (options.overlap == MapOverlap::ZERO)
              kernels.find_near(constants.radius_sq, charges, row, s.near + p);
          }
      });

      for (int k = 0; k < size[2]; ++k)
        for (int j = 0; j < size[1]; ++j)
          for (int i = 0; i < size[0]; ++i) {
            const int p = (k * TILE_Y + j) * POINTS_PER_ROW + i;
            const std::size_t to =
                (static_cast<std::size_t>(first[2] + k) * grid.n[1] + first[1] + j) * grid.n[0] +
                first[0] + i;
            write(s.sums + p * MAP_VALUES, s.near[p] != 0, to, out);
          }
    }

    static void write(const double *sums, bool is_zero, std::size_t to, const MapResults &out)
    {
      out.phi[to] = is_zero ? 0.0 : sums[0];
      for (int c = 0; out.field && c < 3; ++c) out.field[3 * to + c] = is_zero ? 0.0 : sums[1 + c];
    }

    // Computes the points of one task, which are in one row of cells.
    void some_points(const MapPoints &points, const CellTask &task, const MapResults &out)
    {
      Scratch &s = scratch[omp_get_thread_num()];
      BoxOfPoints box;
      double origin[3];
      for (int p = task.begin; p < task.end; ++p) {
        const double x[3] = {bins_of_points.x[p], bins_of_points.y[p], bins_of_points.z[p]};
        box.add(x);
      }
      for (int c = 0; c < 3; ++c) origin[c] = 0.5 * (box.lo[c] + box.hi[c]);
      std::vector<double> sums(MAP_VALUES * static_cast<std::size_t>(task.end - task.begin), 0.0);
      const auto kernel = kernels.row[true][out.field != nullptr];
      for_charges_near(box, origin, s, [&](int n) {
        for (int p = task.begin; p < task.end; ++p) {
          RowOfPoints<Real> row;
          row.n = 1;
          row.x[0] = static_cast<Real>(bins_of_points.x[p] - origin[0]);
          row.y = static_cast<Real>(bins_of_points.y[p] - origin[1]);
          row.z = static_cast<Real>(bins_of_points.z[p] - origin[2]);
          // Set the point's own charge to 0 during this call.
          const int self = points.self ? points.self[bins_of_points.row[p]] : -1;
          const int own = self < 0
              ? n
              : static_cast<int>(
                    std::find(s.index.begin(), s.index.begin() + n, sorted_index[self]) -
                    s.index.begin());
          if (own < n) s.q[own] = 0;
          s.tested += kernel(constants, s.view(n), row,
                             sums.data() + MAP_VALUES * static_cast<std::size_t>(p - task.begin));
          if (own < n) s.q[own] = charge[sorted_index[self]];
        }
      });
      for (int p = task.begin; p < task.end; ++p)
        write(sums.data() + MAP_VALUES * static_cast<std::size_t>(p - task.begin), false,
              bins_of_points.row[p], out);
    }

    const MapOptions options;
    const MapConstants<Real> constants;
    const int nthreads;
    const MapKernels<Real> kernels;
    const KeepNearBoxFunction<Real> keep_near_box;
    std::vector<Scratch> scratch;    // [nthreads]
    CellGrid cells_of_charges;
    CellBins bins, bins_of_points;
    std::vector<Real> charge;         // [charges] in sorted order
    std::vector<int> sorted_index;    // [charges] index among the sorted charges
    CellTasks tasks;
  };

}    // namespace

std::unique_ptr<PotentialMap> make_host_potential_map(const MapOptions &options,
                                                      Precision precision, int nthreads,
                                                      const MapBins &bins)
{
  check_map_options(options);
  check_map_bins(bins, options);
  std::unique_ptr<PotentialMap> map;
  if (precision == Precision::DOUBLE)
    map = std::make_unique<HostMap<double>>(options, precision, nthreads);
  else
    map = std::make_unique<HostMap<float>>(options, precision, nthreads);
  return bins.are_fixed ? make_fixed_bins_map(std::move(map), options.cutoff, bins)
                        : std::move(map);
}

}    // namespace gpucoord
