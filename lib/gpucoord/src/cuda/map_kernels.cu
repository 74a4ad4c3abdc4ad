// Part of GPUCOORD, GPL-2.0. Potentials on a grid and at points, by one kernel of map_formulas.h: compiled once for each, with
// -DGPUCOORD_MAP_KERNEL=name.
//
// On a grid each warp has a tile of points. Its lanes find the rows of cells that are near, load the charges in these, and
// keep those within the cutoff of the tile. Of its points the 2 x 4 x 4 that lanes take at a time are a subtile; a charge is
// near to subtiles one after the other, from the first on or to the last, or to all of them, and goes to one of so many lists
// in shared memory. When a list is long enough its charges are summed, without a branch: each for the subtiles of its list,
// which share dy^2 + dz^2. The cutoff of a charge and a subtile is a ball around 32 points, and few of the distances that are
// computed are beyond. Warps never wait for each other.
//
// Launch: 128 threads a block, whose four tiles make a cube. Shared memory: lists and rows of each warp. The order of sums is
// that of the sorted charges: bits do not depend on the launch.

#include "map_arguments.h"

#include "cuda_error.h"
#include "sorted_atoms.cuh"
#include "warp_reduction.cuh"

#include <cstddef>
#include <type_traits>

#ifndef GPUCOORD_MAP_KERNEL
#error "compile with -DGPUCOORD_MAP_KERNEL=name, one of those in map_formulas.h"
#endif

namespace gpucoord {

namespace {

  constexpr int THREADS = 32 * MAP_WARPS;
  constexpr int ROWS_OF_A_LANE = 4, MAX_ROWS = 32 * ROWS_OF_A_LANE;    // of cells that a warp searches at a time
  constexpr int LISTS = 8;
  constexpr int UNROLL = 4;    // charges that are summed together: lists are filled up to a multiple with charges of 0

  // Lists by the subtiles of their charges: 1 to 4: that many from the first on; 5 to 7: the second, third or fourth to the
  // last. List 0 has charges on a point of the tile, whose kernel looks at every distance.
  template <class Real> struct Shape {
    static constexpr int ENOUGH = sizeof(Real) == sizeof(float) ? 40 : 16, LIST = ENOUGH + 32;
  };

  template <class Real> struct alignas(16) TileCharge {
    Real x, y, z, q;
  };

  // around points
  struct PointBox {
    double lo[3], hi[3];
    __device__ double gap(int axis, double begin, double end) const
    {
      return fmax(0.0, fmax(begin - hi[axis], lo[axis] - end));
    }
  };

  // What a warp has in shared memory: lists, and what registers are too dear for.
  template <class Real> struct WarpMemory {
    TileCharge<Real> list[LISTS][Shape<Real>::LIST];
    PointBox box;    // around the tile
    double middle[3];
    int counts[LISTS];
    int row_begin[MAX_ROWS], row_offset[MAX_ROWS + 1];
  };

  template <int VALUES, class Real> struct PointSums {
    Real v[VALUES] = {};
  };

  __device__ inline float quick_root(float x)
  {
    float result;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
  }
  __device__ inline double quick_root(double x) { return sqrt(x); }

  // What a charge gives one point. CHECKED: it may be on the point.
  template <class Kernel, bool SOFT, bool CHECKED, int VALUES, class Real>
  __device__ __forceinline__ void add_charge(const MapConstants<Real> &c, Real r_sq, Real dx, Real dy, Real dz, Real q,
                                             PointSums<VALUES, Real> &sums)
  {
    constexpr bool FIELD = VALUES > 1;
    if constexpr (std::is_same<Kernel, map_kernel::Smooth>::value && !SOFT && !CHECKED && !FIELD &&
                  std::is_same<Real, float>::value) {
      // the unit of length is the cutoff: (1 - s) saturates to 0 where it ends
      const float f = __saturatef(1.0f - r_sq);
      sums.v[0] += (q * inverse_root(r_sq)) * (f * f);
    } else {
      BarePotential<Real> bare;
      if constexpr (SOFT || CHECKED)
        bare = bare_potential<SOFT>(c, r_sq);
      else
        bare = bare_potential_apart(r_sq);
      Real value, slope;
      Kernel::template eval<SOFT>(c, bare, value, slope);
      const bool counts = r_sq <= c.cutoff_sq && (SOFT || !CHECKED || r_sq > c.tiny_sq);
      const Real charge = counts ? q : Real(0);
      sums.v[0] += charge * value;
      if constexpr (FIELD) {
        const Real strength = charge * slope;
        sums.v[1] -= strength * dx;
        sums.v[2] -= strength * dy;
        sums.v[3] -= strength * dz;
      }
    }
  }

  // a thread's points, relative to the middle of the tile
  template <class Real> struct ThreadPoints {
    Real x[SUBTILES], y, z;
  };

  // of a list: charges for subtiles FIRST to LAST
  template <class Kernel, bool SOFT, bool CHECKED, int FIRST, int LAST, int VALUES, class Real>
  __device__ __forceinline__ void sum_list(const MapConstants<Real> &c, const TileCharge<Real> *list, int n,
                                           const ThreadPoints<Real> &points, PointSums<VALUES, double> *total)
  {
    constexpr int N = LAST - FIRST + 1;
    PointSums<VALUES, Real> sums[N];
#pragma unroll 1
    for (int round = 0; round < n; round += UNROLL) {
      TileCharge<Real> a[UNROLL];
      Real dx[UNROLL][N], dy[UNROLL], dz[UNROLL], r_sq[UNROLL][N];
#pragma unroll
      for (int j = 0; j < UNROLL; ++j) a[j] = list[round + j];
#pragma unroll
      for (int j = 0; j < UNROLL; ++j) {
        dy[j] = points.y - a[j].y;
        dz[j] = points.z - a[j].z;
        const Real dyz_sq = dy[j] * dy[j] + dz[j] * dz[j];
#pragma unroll
        for (int k = 0; k < N; ++k) {
          dx[j][k] = points.x[FIRST + k] - a[j].x;
          r_sq[j][k] = dx[j][k] * dx[j][k] + dyz_sq;
        }
      }
#pragma unroll
      for (int j = 0; j < UNROLL; ++j)
#pragma unroll
        for (int k = 0; k < N; ++k)
          add_charge<Kernel, SOFT, CHECKED>(c, r_sq[j][k], dx[j][k], dy[j], dz[j], a[j].q, sums[k]);
    }
#pragma unroll
    for (int k = FIRST; k <= LAST; ++k)
#pragma unroll
      for (int v = 0; v < VALUES; ++v) total[k].v[v] += sums[k - FIRST].v[v];
  }

  // A warp's lists and what it has summed.
  template <class Kernel, bool SOFT, int VALUES, class Real> struct WarpSummer {
    // double looks at every distance: that costs little beside the rest
    static constexpr bool ALWAYS_CHECKED = std::is_same<Real, double>::value;

    const MapConstants<Real> &constants;
    TileCharge<Real> (*list)[Shape<Real>::LIST];
    int *counts;
    ThreadPoints<Real> points;
    int count = 0;    // of the list with the number of this lane
    PointSums<VALUES, double> total[SUBTILES];
    unsigned tested = 0;    // distances of this lane

    // charges of this warp, one of each lane that keeps it, and then sums lists with so many charges
    __device__ void take(const TileCharge<Real> &charge, bool keeps, int number, int enough)
    {
      const int lane = threadIdx.x % 32;
      const unsigned kept = __ballot_sync(ALL_LANES, keeps);
      if (kept == 0 && enough > 1) return;
      const unsigned peers = __match_any_sync(ALL_LANES, keeps ? number : LISTS);
      const int before = __shfl_sync(ALL_LANES, count, number);
      if (keeps) list[number][before + __popc(peers & ((1u << lane) - 1u))] = charge;
      counts[lane % LISTS] = 0;
      __syncwarp();
      if (keeps) counts[number] = __popc(peers);
      __syncwarp();
      if (lane < LISTS) count += counts[lane];
      __syncwarp();
      unsigned full = __ballot_sync(ALL_LANES, lane < LISTS && count >= enough);
      for (; full; full &= full - 1) {
        const int number = __ffs(full) - 1, n = __shfl_sync(ALL_LANES, count, number);
        // a multiple of UNROLL, what is over stays; in the end with charges of 0
        const int summed = (enough > 1 ? n : n + UNROLL - 1) / UNROLL * UNROLL, left = max(n - summed, 0);
        constexpr Real NOWHERE = 1e6;
        if (n + lane < summed) list[number][n + lane] = {NOWHERE, NOWHERE, NOWHERE, 0};
        __syncwarp();
        sum(number, summed);
        __syncwarp();
        if (lane < left) list[number][lane] = list[number][summed + lane];    // fewer than UNROLL: places do not overlap
        if (lane == number) count = left;
        __syncwarp();
      }
    }

   private:
    __device__ void sum(int number, int n)
    {
      switch (number) {
        case 0: return sum_subtiles<true, 0, 3>(0, n);
        case 1: return sum_subtiles<ALWAYS_CHECKED, 0, 0>(1, n);
        case 2: return sum_subtiles<ALWAYS_CHECKED, 0, 1>(2, n);
        case 3: return sum_subtiles<ALWAYS_CHECKED, 0, 2>(3, n);
        case 4: return sum_subtiles<ALWAYS_CHECKED, 0, 3>(4, n);
        case 5: return sum_subtiles<ALWAYS_CHECKED, 1, 3>(5, n);
        case 6: return sum_subtiles<ALWAYS_CHECKED, 2, 3>(6, n);
        default: return sum_subtiles<ALWAYS_CHECKED, 3, 3>(7, n);
      }
    }
    template <bool CHECKED, int FIRST, int LAST> __device__ __forceinline__ void sum_subtiles(int number, int n)
    {
      sum_list<Kernel, SOFT, CHECKED, FIRST, LAST>(constants, list[number], n, points, total);
      tested += n * (LAST - FIRST + 1);
    }
  };

  // Rows of cells that may hold charges near a box: all of a rectangle of columns.
  class NearRows {
   public:
    __device__ NearRows(const SortedCharges &charges_in, const PointBox &box_in) : charges(charges_in), box(box_in)
    {
      for (int a = 0; a < 2; ++a) {
        first[a] = charges.cells.coordinate(a + 1, box.lo[a + 1] - charges.range);
        n[a] = static_cast<int>(charges.cells.coordinate(a + 1, box.hi[a + 1] + charges.range) - first[a]) + 1;
      }
    }
    __device__ int size() const { return n[0] * n[1]; }

    // begin and end of the charges of one
    __device__ int2 operator[](int row) const
    {
      const DeviceGrid &cells = charges.cells;
      const std::int64_t cy = first[0] + row % n[0], cz = first[1] + row / n[0];
      const double gap_y = gap(1, cy), gap_z = gap(2, cz);
      const double reach_sq = charges.range * charges.range - gap_y * gap_y - gap_z * gap_z;
      if (reach_sq < 0.0) return make_int2(0, 0);
      const double reach = sqrt(reach_sq);
      const std::uint64_t cell = cells.column(cy, cz) * cells.n[0];
      const std::uint64_t begin = cell + cells.coordinate(0, box.lo[0] - reach), end = cell + cells.coordinate(0, box.hi[0] + reach) + 1;
      if (charges.depth > 0) return make_int2(begin * charges.depth, end * charges.depth);
      return atoms_of_cells(charges.order, begin, end);
    }

   private:
    __device__ double gap(int axis, std::int64_t cell) const
    {
      const double begin = charges.cells.lo[axis] + static_cast<double>(cell) * charges.cells.size[axis];
      // charges beyond the cells are in those at the rim
      const bool is_first = cell == 0, is_last = cell == charges.cells.n[axis] - 1;
      return box.gap(axis, is_first ? -1e300 : begin, is_last ? 1e300 : begin + charges.cells.size[axis]);
    }

    const SortedCharges &charges;
    const PointBox &box;
    std::int64_t first[2];
    int n[2];    // of the rectangle
  };

  // Charges near the tile of a warp, those of a lane one after the other.
  template <class Real> class Charges {
   public:
    __device__ Charges(const MapGridArguments<Real> &arg_in, WarpMemory<Real> &memory_in) : arg(arg_in), memory(memory_in) {}

    // Looks at some more rows of cells; whether there were any.
    __device__ bool find_rows()
    {
      const NearRows rows(arg.map.charges, memory.box);
      if (first_row >= rows.size()) return false;
      const int lane = threadIdx.x % 32, first_of_lane = lane * ROWS_OF_A_LANE;
      int sum = 0;
      __syncwarp();    // rows before have been read
#pragma unroll 1
      for (int k = first_of_lane; k < first_of_lane + ROWS_OF_A_LANE; ++k) {
        const int2 range = first_row + k < rows.size() ? rows[first_row + k] : make_int2(0, 0);
        memory.row_begin[k] = range.x;
        memory.row_offset[k] = range.y - range.x;    // for now
        sum += range.y - range.x;
      }
      int end = sum;
      for (int distance = 1; distance < 32; distance *= 2) {
        const int before = __shfl_up_sync(ALL_LANES, end, distance);
        if (lane >= distance) end += before;
      }
      total = __shfl_sync(ALL_LANES, end, 31);
      int offset = end - sum;
      for (int k = first_of_lane; k < first_of_lane + ROWS_OF_A_LANE; ++k) {
        const int size = memory.row_offset[k];
        memory.row_offset[k] = offset;
        offset += size;
      }
      if (lane == 31) memory.row_offset[MAX_ROWS] = offset;
      __syncwarp();
      first_row += MAX_ROWS;
      row = 0;
      return true;
    }
    __device__ int size() const { return total; }    // of all in these rows

    // the charge that is this one of all in the rows, a later one than that before
    __device__ MapCharge load(int number)
    {
      if (number >= total) return {memory.middle[0], memory.middle[1], memory.middle[2], 0.0};
      while (memory.row_offset[row + 1] <= number) ++row;
      return arg.map.charges.charge[memory.row_begin[row] + number - memory.row_offset[row]];
    }

    // from the middle of the tile
    __device__ TileCharge<Real> relative(const MapCharge &charge) const
    {
      const Real unit = arg.map.unit;
      return {static_cast<Real>(charge.x - memory.middle[0]) * unit, static_cast<Real>(charge.y - memory.middle[1]) * unit,
              static_cast<Real>(charge.z - memory.middle[2]) * unit, static_cast<Real>(charge.q)};
    }

    // of this tile
    __device__ bool is_on_point(const TileCharge<Real> &charge) const
    {
      const TileShape<Real> &tile = arg.tile;
      const Real margin = arg.map.on_point;
      const bool is_in_tile = fabs(charge.x) < tile.half[0] + margin && fabs(charge.y) < tile.half[1] + margin &&
          fabs(charge.z) < tile.half[2] + margin;
      if (!__any_sync(ALL_LANES, is_in_tile)) return false;
      Real rest[3] = {charge.x, charge.y, charge.z};
      constexpr int POINTS[3] = {TILE_X, TILE_Y, TILE_Z};
      for (int a = 2; a >= 0; --a) {    // step a has nothing beyond axis a
        const Real half = Real(0.5) * (POINTS[a] - 1), nearest = rint(rest[a] / tile.step[a][a] + half) - half;
        for (int c = 0; c <= a; ++c) rest[c] -= nearest * tile.step[a][c];
      }
      return rest[0] * rest[0] + rest[1] * rest[1] + rest[2] * rest[2] < arg.map.on_point * arg.map.on_point;
    }

   private:
    const MapGridArguments<Real> &arg;
    WarpMemory<Real> &memory;
    int first_row = 0, total = 0, row = 0;
  };

  // of small numbers; in float with arithmetic alone, and not above or below the integer
  __device__ inline int near_integer(float x)
  {
    constexpr float ROUND = 12582912.0f;    // 1.5 2^23
    return __float_as_int(x + ROUND) - 0x4b400000;
  }
  __device__ inline int round_up(float x) { return near_integer(x + 0.499f); }
  __device__ inline int round_down(float x) { return near_integer(x - 0.499f); }
  __device__ inline int round_up(double x) { return static_cast<int>(ceil(x)); }
  __device__ inline int round_down(double x) { return static_cast<int>(floor(x)); }

  // Whether a charge is near to any subtile; list: that of these and maybe more.
  template <class Real>
  __device__ __forceinline__ bool is_near(const TileShape<Real> &tile, Real reach_sq, const TileCharge<Real> &a, int &list)
  {
    const Real gap_y = fmax(fabs(a.y) - tile.half[1], Real(0)), gap_z = fmax(fabs(a.z) - tile.half[2], Real(0));
    const Real rest = reach_sq - gap_y * gap_y - gap_z * gap_z;
    const Real reach = quick_root(fmax(rest, Real(0)));
    constexpr int LAST = SUBTILES - 1;
    const Real first = (a.x - reach - tile.x_end) * tile.per_subtile, last = (a.x + reach - tile.x_begin) * tile.per_subtile;
    const int from = round_up(fmin(fmax(first, Real(0)), Real(LAST + 1))),
              to = round_down(fmin(fmax(last, Real(-1)), Real(LAST)));
    list = from == 0 || (from == 1 && to < LAST) ? to + 1 : LAST + 1 + from;
    return rest >= Real(0) && from <= to && a.q != Real(0);
  }

  template <class Kernel, bool SOFT, bool FIELD, class Real>
  __global__ void __launch_bounds__(THREADS, FIELD || sizeof(Real) == 8 ? 3 : 5) potential_on_grid(MapGridArguments<Real> arg)
  {
    extern __shared__ __align__(16) unsigned char memory_of_block[];
    const int cube = arg.first_cube + blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    WarpMemory<Real> &memory = reinterpret_cast<WarpMemory<Real> *>(memory_of_block)[warp];
    const int first[3] = {cube % arg.cubes[0] * CUBE, cube / arg.cubes[0] % arg.cubes[1] * CUBE + warp % 2 * TILE_Y,
                          cube / arg.cubes[0] / arg.cubes[1] * CUBE + warp / 2 * TILE_Z};
    if (first[1] >= arg.grid.n[1] || first[2] >= arg.grid.n[2]) return;
    constexpr double MIDDLE[3] = {0.5 * (TILE_X - 1), 0.5 * (TILE_Y - 1), 0.5 * (TILE_Z - 1)};
    if (lane < 3) {
      const int c = lane;
      double middle = arg.grid.origin[c];
      for (int a = 0; a < 3; ++a) middle += (first[a] + MIDDLE[a]) * arg.grid.step[a][c];
      const double half = arg.tile.half[c] * arg.map.length * (1.0 + 1e-6);    // in Real it was rounded
      memory.middle[c] = middle;
      memory.box.lo[c] = middle - half;
      memory.box.hi[c] = middle + half;
    }
    __syncwarp();

    const int ix = lane % 2, iy = lane / 2 % TILE_Y, iz = lane / 2 / TILE_Y;
    const auto place = [&](int i, int c) {    // relative to the middle
      const double at[3] = {i - MIDDLE[0], iy - MIDDLE[1], iz - MIDDLE[2]};
      double x = 0.0;
      for (int a = 0; a < 3; ++a) x += at[a] * arg.grid.step[a][c];
      return static_cast<Real>(x * arg.map.inverse_length);
    };
    constexpr int VALUES = FIELD ? 4 : 1;
    WarpSummer<Kernel, SOFT, VALUES, Real> summer = {arg.map.constants, memory.list, memory.counts};
    for (int k = 0; k < SUBTILES; ++k) summer.points.x[k] = place(2 * k + ix, 0);
    summer.points.y = place(ix, 1);
    summer.points.z = place(ix, 2);

    Charges<Real> charges(arg, memory);
    bool has_more = charges.find_rows();
    int number = lane;
    MapCharge next = charges.load(number);
    while (true) {
      const TileCharge<Real> charge = charges.relative(next);
      const bool ends = number - lane >= charges.size();
      if (ends) has_more = charges.find_rows();
      number = ends ? lane : number + 32;
      if (has_more) next = charges.load(number);
      int list = 0;
      const bool keeps = !ends && is_near(arg.tile, arg.map.reach_sq, charge, list);
      if (charges.is_on_point(charge)) list = 0;
      summer.take(charge, keeps, list, has_more ? Shape<Real>::ENOUGH : 1);
      if (!has_more) break;
    }

    const double unit = arg.map.inverse_length;
    for (int k = 0; k < SUBTILES; ++k) {
      const int at[3] = {first[0] + 2 * k + ix, first[1] + iy, first[2] + iz};
      if (at[0] >= arg.grid.n[0] || at[1] >= arg.grid.n[1] || at[2] >= arg.grid.n[2]) continue;
      const std::size_t p = (static_cast<std::size_t>(at[2]) * arg.grid.n[1] + at[1]) * arg.grid.n[0] + at[0];
      const bool is_zero = arg.zero && arg.zero[p];
      const auto write = [&](double value, double *to) { *to = is_zero ? 0.0 : arg.add ? *to + value : value; };
      write(summer.total[k].v[0] * unit, arg.phi + p);
      if constexpr (FIELD)
        for (int c = 0; c < 3; ++c) write(summer.total[k].v[1 + c] * unit * unit, arg.field + 3 * p + c);
    }
    const auto tested = add_warp(static_cast<unsigned long long>(summer.tested));
    if (lane == 0) atomicAdd(arg.map.tested, tested);
  }

  // one thread a point, 128 a block: points of one cell read the same charges
  template <class Kernel, bool SOFT, bool FIELD, class Real>
  __global__ void __launch_bounds__(THREADS) potential_at_points(MapPointsArguments<Real> arg)
  {
    const int p = blockIdx.x * THREADS + threadIdx.x;
    if (p >= arg.n) return;
    const DeviceAtom point = arg.point[p];
    const int self = point.id < 0 ? -1 : arg.where[point.id];
    const PointBox box = {{point.x, point.y, point.z}, {point.x, point.y, point.z}};
    const NearRows rows(arg.map.charges, box);
    constexpr int VALUES = FIELD ? 4 : 1;
    PointSums<VALUES, double> total;
    unsigned long long tested = 0;
    const int n = rows.size();
    const double unit = arg.map.inverse_length;
    for (int row = 0; row < n; ++row) {
      const int2 range = rows[row];
      PointSums<VALUES, Real> sums;
      for (int j = range.x; j < range.y; ++j) {
        const MapCharge a = arg.map.charges.charge[j];
        const auto dx = static_cast<Real>((point.x - a.x) * unit), dy = static_cast<Real>((point.y - a.y) * unit),
                   dz = static_cast<Real>((point.z - a.z) * unit);
        const auto q = j == self ? Real(0) : static_cast<Real>(a.q);
        add_charge<Kernel, SOFT, true>(arg.map.constants, dx * dx + (dy * dy + dz * dz), dx, dy, dz, q, sums);
        constexpr int CHUNK = 256;
        if ((j - range.x) % CHUNK == CHUNK - 1 || j == range.y - 1) {
          for (int v = 0; v < VALUES; ++v) total.v[v] += sums.v[v];
          sums = {};
        }
      }
      tested += range.y - range.x;
    }
    const int to = arg.place[p];
    arg.phi[to] = total.v[0] * unit;
    if constexpr (FIELD)
      for (int c = 0; c < 3; ++c) arg.field[3 * static_cast<std::size_t>(to) + c] = total.v[1 + c] * unit * unit;
    atomicAdd(arg.map.tested, tested);
  }

  template <class Kernel, bool SOFT, bool FIELD, class Real>
  void launch_on_grid(const MapGridArguments<Real> &arg, int cubes, cudaStream_t stream)
  {
    constexpr int BYTES = MAP_WARPS * sizeof(WarpMemory<Real>);
    static_assert(BYTES <= 64 * 1024, "what every GPU gives");
    const auto kernel = potential_on_grid<Kernel, SOFT, FIELD, Real>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES), "asking for shared memory");
    kernel<<<cubes, THREADS, BYTES, stream>>>(arg);
    check(cudaGetLastError(), "launching potential_on_grid");
  }

  template <class Kernel, bool SOFT, bool FIELD, class Real>
  void launch_at_points(const MapPointsArguments<Real> &arg, cudaStream_t stream)
  {
    potential_at_points<Kernel, SOFT, FIELD, Real><<<(arg.n + THREADS - 1) / THREADS, THREADS, 0, stream>>>(arg);
    check(cudaGetLastError(), "launching potential_at_points");
  }

  template <class Kernel, class Real> void get(MapLaunchers<Real> &launchers)
  {
    const auto set = [&](auto soft, auto field) {
      launchers.grid[soft()][field()] = launch_on_grid<Kernel, soft(), field(), Real>;
      launchers.points[soft()][field()] = launch_at_points<Kernel, soft(), field(), Real>;
    };
    set(std::false_type(), std::false_type());
    set(std::false_type(), std::true_type());
    set(std::true_type(), std::false_type());
    set(std::true_type(), std::true_type());
  }

}    // namespace

template <> void get_map_launchers<map_kernel::GPUCOORD_MAP_KERNEL>(MapLaunchers<float> &launchers)
{
  get<map_kernel::GPUCOORD_MAP_KERNEL>(launchers);
}
template <> void get_map_launchers<map_kernel::GPUCOORD_MAP_KERNEL>(MapLaunchers<double> &launchers)
{
  get<map_kernel::GPUCOORD_MAP_KERNEL>(launchers);
}

}    // namespace gpucoord
