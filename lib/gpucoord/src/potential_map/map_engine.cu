// Part of GPUCOORD, GPL-2.0. Potential maps of charges in device memory: bins and launches.
//
// Launch of the kernels in this file: one thread per charge, 256 threads per block, no shared
// memory.

#include "map_engine.h"

#include "../gpu/sorted_atoms.cuh"
#include "fixed_bins.h"
#include "map_arguments.cuh"

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256;
  constexpr unsigned blocks_for(unsigned n)
  {
    return (n + THREADS - 1u) / THREADS;
  }

  template <class Stored>
  __device__ Stored store(const SortedCharges &, const DeviceAtom &, double q);
  template <> __device__ MapCharge store(const SortedCharges &, const DeviceAtom &a, double q)
  {
    return {a.x, a.y, a.z, q};
  }
  template <>
  __device__ PackedCharge store(const SortedCharges &charges, const DeviceAtom &a, double q)
  {
    const BinGrid &cells = charges.cells;
    // Charges beyond the cells are not near any point. Clamp their positions, so that wrap-around
    // does not bring them near a point.
    const auto parts_at = [&](int axis, double x) {
      const double lo = cells.lo[axis], size = cells.size[axis];
      return charges.parts_at(axis, fmin(fmax(x, lo - size), lo + (cells.n[axis] + 1) * size));
    };
    return {parts_at(0, a.x), parts_at(1, a.y), parts_at(2, a.z), static_cast<float>(q)};
  }

  // Gathers the charges in sorted order, followed by a zero charge.
  template <class Stored>
  __global__ void gather_charges(SortedCharges charges, const DeviceAtom *atom, const double *q,
                                 Stored *charge)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k > charges.order.n) return;
    if (k == charges.order.n) {
      charge[k] = {};
      return;
    }
    const DeviceAtom a = atom[charges.order.caller_index[k]];
    charge[k] = store<Stored>(charges, a, q[a.id]);
  }

  // Sets sorted_index, [charges], to the index among the sorted charges, by row.
  __global__ void invert(const DeviceAtom *atom, const int *caller_index, int n, int *sorted_index)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k < n) sorted_index[atom[caller_index[k]].id] = k;
  }

  template <class Stored> __global__ void clear_slots(unsigned n, Stored *slot)
  {
    const unsigned k = blockIdx.x * THREADS + threadIdx.x;
    if (k < n) slot[k] = {};
  }

  // Stores the first charges of each bin. overflows: [n] nonzero: the sorted charge does not fit.
  // bins_of_size: number of bins by number of charges. deepest: number of charges in the fullest
  // bin
  template <class Stored>
  __global__ void fill_bins(SortedCharges charges, const DeviceAtom *atom, const double *q,
                            Stored *slot, unsigned char *overflows, int *bins_of_size, int *deepest)
  {
    const SortedAtoms &order = charges.order;
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= order.n) return;
    const std::uint64_t bin = order.cell(k);
    const int2 range = atoms_of_cells(order, bin, bin + 1);
    const int rank = k - range.x;
    const DeviceAtom a = atom[order.caller_index[k]];
    if (rank < charges.depth) slot[bin * charges.depth + rank] = store<Stored>(charges, a, q[a.id]);
    overflows[k] = rank >= charges.depth;
    if (rank > 0) return;
    atomicAdd(bins_of_size + (range.y - range.x), 1);
    atomicMax(deepest, range.y - range.x);
  }

  // index: [n] indices among the sorted atoms
  __global__ void gather_atoms(const DeviceAtom *atom, const int *caller_index, const int *index,
                               int n, DeviceAtom *gathered)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k < n) gathered[k] = atom[caller_index[index[k]]];
  }

  // Marks the points that are nearer to a charge than radius (distance).
  __global__ void mark_near(const DeviceAtom *atom, int n, MapGrid grid, double radius,
                            unsigned char *near)
  {
    const int a = blockIdx.x * THREADS + threadIdx.x;
    if (a >= n) return;
    const double d[3] = {atom[a].x - grid.origin[0], atom[a].y - grid.origin[1],
                         atom[a].z - grid.origin[2]};
    const auto first = [&](double x, double step) {
      return static_cast<int>(fmax(0.0, ceil((x - radius) / step)));
    };
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
      if (is_direct())
        get_map_launchers<map_kernel::Direct>(launchers);
      else
        visit_map_kernel<Real>(options, [&](auto kernel) {
          get_map_launchers<decltype(kernel)>(launchers);
        });
      tested_on_device.reserve(1);
    }

    void begin(const Bounds &point_bounds, const ChargesOnDevice &in, cudaStream_t stream) override
    {
      double size[3], extent = 0.0, volume = 1.0;
      for (int c = 0; c < 3; ++c) {
        size[c] = point_bounds.hi[c] - point_bounds.lo[c] + 2.0 * options.cutoff;
        extent = std::max(extent, point_bounds.hi[c] - point_bounds.lo[c]);
        volume *= size[c];
      }
      length = !is_direct() ? options.cutoff : extent > 0.0 ? extent : 1.0;
      BinGrid cells;
      for (int c = 0; c < 3; ++c) {
        const double width = cell_width(in.n / volume) * (c == 0 ? 0.5 : 1.0);
        cells.lo[c] = point_bounds.lo[c] - options.cutoff;
        // Use a single cell if there is no cutoff.
        cells.size[c] = is_direct() ? length
                                    : std::max(width, size[c] / (c == 0 ? MAX_CELLS : MAX_COLUMNS));
        cells.inverse_size[c] = 1.0 / cells.size[c];
        cells.n[c] = is_direct() ? 1
                                 : static_cast<std::int64_t>(size[c] * cells.inverse_size[c]) + 1;
      }
      sort(cells, in, stream);
      sorted.range = is_direct() ? 1e6 * length : options.cutoff * (1.0 + 1e-6);
    }

    ChargesOnDevice begin(const MapGrid &grid, const MapBins &wanted, const ChargesOnDevice &in,
                          MapOverflow &overflow, cudaStream_t stream) override
    {
      const FixedBins fixed = make_fixed_bins(grid, options.cutoff, wanted);
      const Bounds point_bounds = bounds_of(grid);
      BinGrid cells;
      for (int c = 0; c < 3; ++c) {
        // Limit the size of a single bin to the extent, because the rounding errors of the charges
        // grow with the size.
        const double extent = point_bounds.hi[c] - point_bounds.lo[c] + 2.0 * options.cutoff;
        cells.lo[c] = fixed.lo[c];
        cells.size[c] = fixed.n[c] == 1 ? std::min(wanted.size, extent) : wanted.size;
        cells.inverse_size[c] = 1.0 / cells.size[c];
        cells.n[c] = fixed.n[c];
      }
      length = options.cutoff;
      sort(cells, in, stream);
      sorted.range = options.cutoff * (1.0 + 1e-6);
      sorted.depth = wanted.depth;
      sorted.parts = parts_for(grid);
      const auto nslots = static_cast<int>(fixed.count() * wanted.depth);
      with_stored([&](auto &stored, auto *&in_order) {
        sorted.end = nslots;
        stored.reserve(nslots + std::size_t(1));
        clear_slots<<<blocks_for(nslots + 1u), THREADS, 0, stream>>>(nslots + 1u, stored.data());
        check(cudaGetLastError(), "launching clear_slots");
        in_order = stored.data();
      });
      overflow = {};
      if (in.n == 0) return {};

      overflows.reserve(in.n);
      // Number of bins by number of charges; number of charges in the fullest bin; number of
      // overflowing charges.
      sizes.reserve(in.n + 3);
      int *const deepest = sizes.data() + in.n + 1, *const nchosen = deepest + 1;
      check(cudaMemsetAsync(sizes.data(), 0, (in.n + 3) * sizeof(int), stream), "clearing numbers");
      with_stored([&](auto &stored, auto *&) {
        fill_bins<<<blocks_for(in.n), THREADS, 0, stream>>>(
            sorted, in.atom, in.q, stored.data(), overflows.data(), sizes.data(), deepest);
      });
      check(cudaGetLastError(), "launching fill_bins");
      chosen.reserve(in.n);
      const thrust::counting_iterator<int> indices(0);
      std::size_t bytes = 0;
      check(cub::DeviceSelect::Flagged(nullptr, bytes, indices, overflows.data(), chosen.data(),
                                       nchosen, in.n, stream),
            "planning a selection");
      workspace.reserve(bytes);
      check(cub::DeviceSelect::Flagged(workspace.data(), bytes, indices, overflows.data(),
                                       chosen.data(), nchosen, in.n, stream),
            "selecting charges");
      int counts[2];
      check(cudaMemcpyAsync(counts, deepest, sizeof(counts), cudaMemcpyDeviceToHost, stream),
            "copying data to the host");
      check(cudaStreamSynchronize(stream), "sorting charges");
      std::vector<int> bins_of_size(counts[0] + 1);
      check(cudaMemcpy(bins_of_size.data(), sizes.data(), bins_of_size.size() * sizeof(int),
                       cudaMemcpyDeviceToHost),
            "copying data to the host");
      overflow = find_overflow({bins_of_size.begin(), bins_of_size.end()}, wanted.depth);
      if (counts[1] == 0) return {};
      overflowing.reserve(counts[1]);
      gather_atoms<<<blocks_for(counts[1]), THREADS, 0, stream>>>(
          in.atom, sorted.order.caller_index, chosen.data(), counts[1], overflowing.data());
      check(cudaGetLastError(), "launching gather_atoms");
      return {overflowing.data(), in.q, counts[1]};
    }

    int layers(const MapGrid &grid) const override { return (grid.n[2] + BLOCK_Z - 1) / BLOCK_Z; }

    void on_grid(const MapGrid &given, int first_layer, int end_layer, bool add, double *phi,
                 double *field, cudaStream_t stream) override
    {
      MapGrid grid = given;
      // Spacing of the unused points of a tile.
      if (grid.n[0] == 1 && !(grid.step[0][0] > 0.0)) grid.step[0][0] = length;
      const std::int64_t n = static_cast<std::int64_t>(grid.n[0]) * grid.n[1] * grid.n[2];
      if (n == 0) return;
      with_stored([&](auto &stored, auto *&in_order) {
        const double parts = parts_for(grid);
        if (in_order && (parts == sorted.parts || sorted.depth > 0)) return;
        sorted.parts = parts;
        gather(stored, in_order, stream);
      });
      MapGridArguments<Real> arg = {};
      set(arg.map);
      arg.grid = grid;
      const int subtiles = launchers.subtiles[is_soft()][field != nullptr];
      arg.tile = tile_shape(grid, subtiles);
      arg.map.rows = row_search(box_of_points(grid, 2 * subtiles));
      // A power of 2; rounding errors are at most the last bit of double.
      arg.per_part = static_cast<Real>(1.0 / (sorted.parts * length));
      arg.blocks[0] = (grid.n[0] + 2 * subtiles - 1) / (2 * subtiles);
      arg.blocks[1] = (grid.n[1] + BLOCK_Y - 1) / BLOCK_Y;
      if (options.overlap == MapOverlap::ZERO) {
        if (first_layer == 0) mark(grid, n, stream);
        arg.zero = near.data();
      }
      const int blocks_per_layer = arg.blocks[0] * arg.blocks[1];
      arg.first_block = first_layer * blocks_per_layer;
      arg.add = add;
      arg.phi = phi;
      arg.field = field;
      launchers.grid[is_soft()][field != nullptr](arg, (end_layer - first_layer) * blocks_per_layer,
                                                  stream);
    }

    void at_points(const DeviceAtom *at, int n, double *phi, double *field,
                   cudaStream_t stream) override
    {
      if (n == 0) return;
      if (!sorted.charge) gather(sorted_charges, sorted.charge, stream);
      MapPointsArguments<Real> arg = {};
      set(arg.map);
      arg.map.rows = row_search({});
      const SortedAtoms order = bins_of_points.sort(sorted.cells, at, n, n, stream);
      arg.point = order.atom;
      arg.caller_index = order.caller_index;
      arg.n = n;
      if (charges.n > 0) {
        sorted_index.reserve(charges.n);
        invert<<<blocks_for(charges.n), THREADS, 0, stream>>>(
            charges.atom, sorted.order.caller_index, charges.n, sorted_index.data());
        check(cudaGetLastError(), "launching invert");
      }
      arg.sorted_index = sorted_index.data();
      arg.phi = phi;
      arg.field = field;
      launchers.points[is_soft()][field != nullptr](arg, stream);
    }

    double tested(cudaStream_t stream) override
    {
      unsigned long long n = 0;
      check(cudaMemcpyAsync(&n, tested_on_device.data(), sizeof(n), cudaMemcpyDeviceToHost, stream),
            "copying data to the host");
      check(cudaStreamSynchronize(stream), "computing potentials");
      return static_cast<double>(n);
    }

    std::size_t bytes() const override
    {
      return bins.bytes() + bins_of_points.bytes() + sorted_charges.bytes() +
          packed_charges.bytes() + overflowing.bytes() + sorted_index.bytes() + sizes.bytes() +
          chosen.bytes() + near.bytes() + overflows.bytes() + workspace.bytes();
    }

   private:
    // Limits along one axis. All cells fit into a key, and rows of cells near a tile are counted in
    // 32 bits.
    static constexpr double MAX_CELLS = 1 << 20, MAX_COLUMNS = 1 << 12;

    void sort(const BinGrid &cells, const ChargesOnDevice &in, cudaStream_t stream)
    {
      charges = in;
      sorted = {};
      sorted.cells = cells;
      check(cudaMemsetAsync(tested_on_device.data(), 0, sizeof(unsigned long long), stream),
            "clearing a number");
      if (in.n == 0) return;
      sorted.order = bins.sort_indices(cells, in.atom, in.n, stream);
    }

    // Calls f(buffer, pointer to the sorted charges) for the charges in the format of the grid
    // kernels.
    template <class F> void with_stored(F f)
    {
      if (std::is_same<Real, float>::value && !is_direct())
        f(packed_charges, sorted.packed);
      else
        f(sorted_charges, sorted.charge);
    }

    template <class Stored>
    void gather(DeviceBuffer<Stored> &stored, const Stored *&in_order, cudaStream_t stream)
    {
      sorted.end = charges.n;
      stored.reserve(charges.n + std::size_t(1));
      gather_charges<<<blocks_for(charges.n + 1u), THREADS, 0, stream>>>(sorted, charges.atom,
                                                                         charges.q, stored.data());
      check(cudaGetLastError(), "launching gather_charges");
      in_order = stored.data();
    }

    // Returns 2^32 over a turn, 1/distance. A turn is more than twice the distance along an axis
    // between the middle of a tile and the charges in the cells near it. It is a power of 2 in the
    // length unit, so that conversions are not rounded.
    double parts_for(const MapGrid &grid) const
    {
      const Bounds box = box_of_points(grid, 2 * MAX_SUBTILES);
      double distance = 0.0;
      for (int c = 0; c < 3; ++c)
        distance = std::max(
            distance, 0.5 * (box.hi[c] - box.lo[c]) + sorted.range + 2.0 * sorted.cells.size[c]);
      const double power = std::ceil(std::log2(2.1 * distance / length));
      return std::exp2(32.0 - power) / length;
    }

    bool is_direct() const { return options.kernel == MapKernel::DIRECT; }
    bool is_soft() const { return options.overlap == MapOverlap::SOFT; }

    // A cube of this width has a few charges, so that the cells near a tile have hardly more
    // charges than necessary.
    double cell_width(double density) const
    {
      constexpr double CHARGES_PER_CUBE = 2.0, MIN_SIZE = 0.1;
      return density > 0.0 ? std::clamp(std::cbrt(CHARGES_PER_CUBE / density),
                                        MIN_SIZE * options.cutoff, options.cutoff)
                           : options.cutoff;
    }

    RowSearch row_search(const Bounds &box) const
    {
      RowSearch search;
      const BinGrid &cells = sorted.cells;
      double extent = cells.size[1] + cells.size[2];
      for (int c = 0; c < 3; ++c) {
        const double half = 0.5 * (box.hi[c] - box.lo[c]);
        extent += half;
        search.half[c] = static_cast<float>(half * (1.0 + 1e-6));
      }
      const double range = sorted.range * (1.0 + 1e-4) + 1e-6 * extent;
      search.range = static_cast<float>(range);
      for (int a = 0; a < 2; ++a) {
        search.size[a] = static_cast<float>(cells.size[a + 1]);
        search.columns[a] = (search.half[a + 1] + range) * cells.inverse_size[a + 1];
      }
      search.cells_per_distance = static_cast<float>(cells.inverse_size[0]);
      return search;
    }

    void set(MapArguments<Real> &arg) const
    {
      MapOptions scaled = options;
      scaled.cutoff = is_direct() ? 0.0 : 1.0;
      scaled.alpha *= length;
      scaled.radius /= length;
      scaled.tiny /= length;
      arg.constants = make_map_constants<Real>(scaled);
      arg.reach_sq =
          arg.constants.cutoff_sq * Real(1.00001);    // keep all charges despite rounding
      arg.length = length;
      arg.inverse_length = 1.0 / length;
      arg.unit = static_cast<Real>(arg.inverse_length);
      arg.charges = sorted;
      arg.tested = tested_on_device.data();
    }

    // Returns the bounds of a tile with nx points along x.
    static Bounds box_of_points(MapGrid grid, int nx)
    {
      grid.n[0] = nx;
      grid.n[1] = TILE_Y;
      grid.n[2] = TILE_Z;
      return bounds_of(grid);
    }

    TileShape<Real> tile_shape(const MapGrid &grid, int subtiles) const
    {
      const Bounds box = box_of_points(grid, 2 * subtiles), subtile_box = box_of_points(grid, 2);
      const double step = grid.step[0][0] / length, half = 0.5 * (box.hi[0] - box.lo[0]) / length;
      const double subtile = (subtile_box.hi[0] - subtile_box.lo[0]) / length;
      // Charges beyond this margin do not coincide with a point, including rounding errors.
      const double margin = 2.0 * options.tiny / length + 2e-6;
      TileShape<Real> shape;
      for (int c = 0; c < 3; ++c)
        shape.inside[c] = static_cast<Real>(0.5 * (box.hi[c] - box.lo[c]) / length + margin);
      // The nearest integers above and below, with a tolerance of a thousandth of a subtile.
      shape.per_subtile = static_cast<Real>(0.5 / step);
      shape.first_near = static_cast<Real>(0.5 * (half - subtile) / step + 0.499);
      shape.last_near = static_cast<Real>(0.5 * half / step - 0.499);
      shape.step = static_cast<Real>(step);
      return shape;
    }

    void mark(const MapGrid &grid, std::int64_t n, cudaStream_t stream)
    {
      near.reserve(n);
      check(cudaMemsetAsync(near.data(), 0, n, stream), "clearing marks");
      if (charges.n == 0) return;
      mark_near<<<blocks_for(charges.n), THREADS, 0, stream>>>(charges.atom, charges.n, grid,
                                                               options.radius, near.data());
      check(cudaGetLastError(), "launching mark_near");
    }

    const MapOptions options;
    MapLaunchers<Real> launchers;
    ChargesOnDevice charges = {};
    double length = 1.0;
    SortedCharges sorted = {};
    Bins bins, bins_of_points;
    DeviceBuffer<MapCharge> sorted_charges;
    DeviceBuffer<PackedCharge> packed_charges;
    DeviceBuffer<DeviceAtom> overflowing;
    DeviceBuffer<int> sorted_index, sizes, chosen;
    DeviceBuffer<unsigned char> near, overflows;
    DeviceBuffer<char> workspace;
    DeviceBuffer<unsigned long long> tested_on_device;
  };

}    // namespace

int points_per_layer()
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
