// Part of GPUCOORD, GPL-2.0. Potential maps of charges in device memory: bins, and which kernels run.
//
// Launch of the kernels here: one thread a charge, 256 a block. No shared memory.

#include "map_engine.h"

#include "../map/fixed_bins.h"
#include "map_arguments.h"
#include "sorted_atoms.cuh"

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256;
  constexpr unsigned blocks_for(int n) { return (n + THREADS - 1u) / THREADS; }

  __global__ void gather_charges(const DeviceAtom *sorted, const double *q, int n, MapCharge *charge)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= n) return;
    const DeviceAtom a = sorted[k];
    charge[k] = {a.x, a.y, a.z, q[a.id]};
  }

  // where: of charges among the sorted ones, by their rows
  __global__ void invert(const DeviceAtom *sorted, int n, int *where)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k < n) where[sorted[k].id] = k;
  }

  __global__ void clear_places(int n, MapCharge *place)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k < n) place[k] = {0.0, 0.0, 0.0, 0.0};
  }

  // The first charges of each bin have places there. of_size: numbers of bins with so many charges, and the largest of these.
  __global__ void place_in_bins(SortedAtoms order, const MapCharge *charge, int depth, MapCharge *place, unsigned char *overflows,
                                int *of_size, int *deepest)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= order.n) return;
    const std::uint64_t bin = order.key[k];
    const int2 range = atoms_of_cells(order, bin, bin + 1);
    const int rank = k - range.x;
    if (rank < depth) place[bin * depth + rank] = charge[k];
    overflows[k] = rank >= depth;
    if (rank > 0) return;
    atomicAdd(of_size + (range.y - range.x), 1);
    atomicMax(deepest, range.y - range.x);
  }

  __global__ void gather_atoms(const DeviceAtom *sorted, const int *index, int n, DeviceAtom *gathered)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k < n) gathered[k] = sorted[index[k]];
  }

  // points that are nearer to a charge than radius
  __global__ void mark_near(const DeviceAtom *atom, int n, MapGrid grid, double radius, unsigned char *near)
  {
    const int a = blockIdx.x * THREADS + threadIdx.x;
    if (a >= n) return;
    const double d[3] = {atom[a].x - grid.origin[0], atom[a].y - grid.origin[1], atom[a].z - grid.origin[2]};
    const auto first = [&](double x, double step) { return static_cast<int>(fmax(0.0, ceil((x - radius) / step))); };
    const auto last = [&](double x, double step, int size) {
      return static_cast<int>(fmin(size - 1.0, floor((x + radius) / step)));
    };
    const double step_x = grid.step[0][0], step_y = grid.step[1][1], step_z = grid.step[2][2];
    for (int k = first(d[2], step_z); k <= last(d[2], step_z, grid.n[2]); ++k) {
      const double y = d[1] - k * grid.step[2][1], z = d[2] - k * step_z;
      for (int j = first(y, step_y); j <= last(y, step_y, grid.n[1]); ++j) {
        const double x = d[0] - k * grid.step[2][0] - j * grid.step[1][0];
        for (int i = first(x, step_x); i <= last(x, step_x, grid.n[0]); ++i) {
          const double dx = x - i * step_x, dy = y - j * step_y;
          if (dx * dx + dy * dy + z * z < radius * radius)
            near[(static_cast<std::size_t>(k) * grid.n[1] + j) * grid.n[0] + i] = 1;
        }
      }
    }
  }

  template <class Real> class Engine : public MapEngine {
   public:
    explicit Engine(const MapOptions &options_in) : options(options_in)
    {
      check_kernels();
      visit_map_kernel<Real>(options, [&](auto kernel) { get_map_launchers<decltype(kernel)>(launchers); });
      tested_on_device.reserve(1);
    }

    void begin(const Bounds &of_points, const ChargesOnDevice &in, cudaStream_t stream) override
    {
      const bool is_direct = options.kernel == MapKernel::DIRECT;
      double size[3], extent = 0.0, volume = 1.0;
      for (int c = 0; c < 3; ++c) {
        size[c] = of_points.hi[c] - of_points.lo[c] + 2.0 * options.cutoff;
        extent = std::max(extent, of_points.hi[c] - of_points.lo[c]);
        volume *= size[c];
      }
      DeviceGrid cells;
      for (int c = 0; c < 3; ++c) {
        // one cell for all where there is no cutoff
        const double width = is_direct ? 1e100 : cell_width(in.n / volume) * (c == 0 ? 0.5 : 1.0);
        cells.lo[c] = of_points.lo[c] - options.cutoff;
        cells.size[c] = std::max(width, size[c] / (c == 0 ? MAX_CELLS : MAX_COLUMNS));
        cells.inverse_size[c] = 1.0 / cells.size[c];
        cells.n[c] = static_cast<std::int64_t>(size[c] * cells.inverse_size[c]) + 1;
      }
      length = !is_direct ? options.cutoff : extent > 0.0 ? extent : 1.0;
      sort(cells, in, stream);
      sorted.range = is_direct ? 1e150 : options.cutoff * (1.0 + 1e-6);
    }

    ChargesOnDevice begin(const MapGrid &grid, const MapBins &wanted, const ChargesOnDevice &in, MapOverflow &overflow,
                          cudaStream_t stream) override
    {
      const FixedBins fixed = make_fixed_bins(grid, options.cutoff, wanted);
      DeviceGrid cells;
      for (int c = 0; c < 3; ++c) {
        cells.lo[c] = fixed.lo[c];
        cells.size[c] = wanted.size;
        cells.inverse_size[c] = 1.0 / wanted.size;
        cells.n[c] = fixed.n[c];
      }
      length = options.cutoff;
      sort(cells, in, stream);
      sorted.range = options.cutoff * (1.0 + 1e-6);
      sorted.depth = wanted.depth;
      const auto nplaces = static_cast<int>(fixed.count() * wanted.depth);
      places.reserve(nplaces);
      clear_places<<<blocks_for(nplaces), THREADS, 0, stream>>>(nplaces, places.data());
      check(cudaGetLastError(), "launching clear_places");
      sorted.charge = places.data();
      overflow = {};
      if (in.n == 0) return {};

      overflows.reserve(in.n);
      sizes.reserve(in.n + 3);    // of bins; then the largest of these, and the number of charges that overflow
      int *const deepest = sizes.data() + in.n + 1, *const number = deepest + 1;
      check(cudaMemsetAsync(sizes.data(), 0, (in.n + 3) * sizeof(int), stream), "clearing numbers");
      place_in_bins<<<blocks_for(in.n), THREADS, 0, stream>>>(sorted.order, sorted_charges.data(), wanted.depth, places.data(),
                                                              overflows.data(), sizes.data(), deepest);
      check(cudaGetLastError(), "launching place_in_bins");
      chosen.reserve(in.n);
      const thrust::counting_iterator<int> numbers(0);
      std::size_t bytes = 0;
      check(cub::DeviceSelect::Flagged(nullptr, bytes, numbers, overflows.data(), chosen.data(), number, in.n, stream),
            "planning a selection");
      workspace.reserve(bytes);
      check(cub::DeviceSelect::Flagged(workspace.data(), bytes, numbers, overflows.data(), chosen.data(), number, in.n, stream),
            "selecting charges");
      int counts[2];
      check(cudaMemcpyAsync(counts, deepest, sizeof(counts), cudaMemcpyDeviceToHost, stream), "copying from it");
      check(cudaStreamSynchronize(stream), "sorting charges");
      std::vector<int> of_size(counts[0] + 1);
      check(cudaMemcpy(of_size.data(), sizes.data(), of_size.size() * sizeof(int), cudaMemcpyDeviceToHost), "copying from it");
      overflow = find_overflow({of_size.begin(), of_size.end()}, wanted.depth);
      if (counts[1] == 0) return {};
      overflowing.reserve(counts[1]);
      gather_atoms<<<blocks_for(counts[1]), THREADS, 0, stream>>>(sorted.order.atom, chosen.data(), counts[1], overflowing.data());
      check(cudaGetLastError(), "launching gather_atoms");
      return {overflowing.data(), in.q, counts[1]};
    }

    int layers(const MapGrid &grid) const override { return (grid.n[2] + BLOCK_Z - 1) / BLOCK_Z; }

    void on_grid(const MapGrid &grid, int first_layer, int end_layer, bool add, double *phi, double *field,
                 cudaStream_t stream) override
    {
      const std::int64_t n = static_cast<std::int64_t>(grid.n[0]) * grid.n[1] * grid.n[2];
      if (n == 0) return;
      MapGridArguments<Real> arg = {};
      set(arg.map);
      arg.grid = grid;
      const int subtiles = launchers.subtiles[is_soft()][field != nullptr];
      arg.tile = tile_shape(grid, subtiles);
      arg.blocks[0] = (grid.n[0] + 2 * subtiles - 1) / (2 * subtiles);
      arg.blocks[1] = (grid.n[1] + BLOCK_Y - 1) / BLOCK_Y;
      if (options.overlap == MapOverlap::ZERO) {
        if (first_layer == 0) mark(grid, n, stream);
        arg.zero = near.data();
      }
      const int blocks_of_a_layer = arg.blocks[0] * arg.blocks[1];
      arg.first_block = first_layer * blocks_of_a_layer;
      arg.add = add;
      arg.phi = phi;
      arg.field = field;
      launchers.grid[is_soft()][field != nullptr](arg, (end_layer - first_layer) * blocks_of_a_layer, stream);
    }

    void at_points(const DeviceAtom *at, int n, double *phi, double *field, cudaStream_t stream) override
    {
      if (n == 0) return;
      MapPointsArguments<Real> arg = {};
      set(arg.map);
      const SortedAtoms order = bins_of_points.sort(sorted.cells, at, n, n, stream);
      arg.point = order.atom;
      arg.place = order.place;
      arg.n = n;
      if (charges.n > 0) {
        where.reserve(charges.n);
        invert<<<blocks_for(charges.n), THREADS, 0, stream>>>(sorted.order.atom, charges.n, where.data());
        check(cudaGetLastError(), "launching invert");
      }
      arg.where = where.data();
      arg.phi = phi;
      arg.field = field;
      launchers.points[is_soft()][field != nullptr](arg, stream);
    }

    double tested(cudaStream_t stream) override
    {
      unsigned long long n = 0;
      check(cudaMemcpyAsync(&n, tested_on_device.data(), sizeof(n), cudaMemcpyDeviceToHost, stream), "copying from it");
      check(cudaStreamSynchronize(stream), "computing potentials");
      return static_cast<double>(n);
    }

    std::size_t bytes() const override
    {
      return bins.bytes() + bins_of_points.bytes() + sorted_charges.bytes() + places.bytes() + overflowing.bytes() +
          where.bytes() + sizes.bytes() + chosen.bytes() + near.bytes() + overflows.bytes() + workspace.bytes();
    }

   private:
    // along one axis: a key has room for all, and rows of cells near a tile are counted in 32 bits
    static constexpr double MAX_CELLS = 1 << 20, MAX_COLUMNS = 1 << 12;

    void sort(const DeviceGrid &cells, const ChargesOnDevice &in, cudaStream_t stream)
    {
      charges = in;
      sorted = {};
      sorted.cells = cells;
      check(cudaMemsetAsync(tested_on_device.data(), 0, sizeof(unsigned long long), stream), "clearing a number");
      if (in.n == 0) return;
      sorted.order = bins.sort(cells, in.atom, in.n, in.n, stream);
      sorted_charges.reserve(in.n);
      gather_charges<<<blocks_for(in.n), THREADS, 0, stream>>>(sorted.order.atom, in.q, in.n, sorted_charges.data());
      check(cudaGetLastError(), "launching gather_charges");
      sorted.charge = sorted_charges.data();
    }

    bool is_soft() const { return options.overlap == MapOverlap::SOFT; }

    // A few charges in a cube of it: then cells near a tile hold hardly more than what is near.
    double cell_width(double density) const
    {
      constexpr double CHARGES_OF_A_CUBE = 2.0, LEAST = 0.1;
      return density > 0.0 ? std::clamp(std::cbrt(CHARGES_OF_A_CUBE / density), LEAST * options.cutoff, options.cutoff)
                           : options.cutoff;
    }

    void set(MapArguments<Real> &arg) const
    {
      MapOptions scaled = options;
      scaled.cutoff = options.kernel == MapKernel::DIRECT ? 0.0 : 1.0;
      scaled.alpha *= length;
      scaled.radius /= length;
      scaled.tiny /= length;
      arg.constants = make_map_constants<Real>(scaled);
      arg.reach_sq = arg.constants.cutoff_sq * Real(1.00001);    // no charge is lost by rounding
      arg.margin = static_cast<Real>(2.0 * scaled.tiny + 2e-6);
      arg.length = length;
      arg.inverse_length = 1.0 / length;
      arg.unit = static_cast<Real>(arg.inverse_length);
      arg.charges = sorted;
      arg.tested = tested_on_device.data();
    }

    TileShape<Real> tile_shape(const MapGrid &grid, int subtiles) const
    {
      const auto box_of = [&](int nx) {
        MapGrid part = grid;
        part.n[0] = nx;
        part.n[1] = TILE_Y;
        part.n[2] = TILE_Z;
        return bounds_of(part);
      };
      const Bounds box = box_of(2 * subtiles), of_subtile = box_of(2);
      const double step = 2.0 * grid.step[0][0] / length;
      TileShape<Real> shape;
      for (int c = 0; c < 3; ++c) shape.half[c] = static_cast<Real>(0.5 * (box.hi[c] - box.lo[c]) / length);
      shape.x_begin = -shape.half[0];
      shape.x_end = shape.x_begin + static_cast<Real>((of_subtile.hi[0] - of_subtile.lo[0]) / length);
      shape.per_subtile = static_cast<Real>(1.0 / step);
      for (int k = 0; k < MAX_SUBTILES; ++k) shape.subtile[k] = static_cast<Real>(k * step);
      return shape;
    }

    void mark(const MapGrid &grid, std::int64_t n, cudaStream_t stream)
    {
      near.reserve(n);
      check(cudaMemsetAsync(near.data(), 0, n, stream), "clearing marks");
      if (charges.n == 0) return;
      mark_near<<<blocks_for(charges.n), THREADS, 0, stream>>>(charges.atom, charges.n, grid, options.radius, near.data());
      check(cudaGetLastError(), "launching mark_near");
    }

    const MapOptions options;
    MapLaunchers<Real> launchers;
    ChargesOnDevice charges = {};
    double length = 1.0;
    SortedCharges sorted = {};
    DeviceBins bins, bins_of_points;
    DeviceBuffer<MapCharge> sorted_charges, places;
    DeviceBuffer<DeviceAtom> overflowing;
    DeviceBuffer<int> where, sizes, chosen;
    DeviceBuffer<unsigned char> near, overflows;
    DeviceBuffer<char> workspace;
    DeviceBuffer<unsigned long long> tested_on_device;
  };

}    // namespace

int points_of_a_layer()
{
  return BLOCK_Z;
}

Bounds bounds_of(const MapGrid &grid)
{
  Bounds bounds;
  find_bounds(grid, bounds.lo, bounds.hi);
  return bounds;
}

std::unique_ptr<MapEngine> make_map_engine(const MapOptions &options, Precision precision)
{
  check_map_options(options);
  if (precision == Precision::DOUBLE) return std::make_unique<Engine<double>>(options);
  return std::make_unique<Engine<float>>(options);
}

}    // namespace gpucoord
