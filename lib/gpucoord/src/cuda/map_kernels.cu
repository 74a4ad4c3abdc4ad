// Part of GPUCOORD, GPL-2.0. Potentials on a grid and at points, by one kernel of map_formulas.h: compiled once for each, with
// -DGPUCOORD_MAP_KERNEL=name.
//
// On a grid each warp has a tile of points. Its lanes find the rows of cells that are near, load the charges in these, and
// keep those within the cutoff of the tile. Of its points the 2 x 4 x 4 that lanes take at a time are a subtile; a charge is
// near to subtiles one after the other, from the first on or to the last, or to all of them, and goes to one of so many lists
// in shared memory. When a list is full its charges are summed, without a branch: each for the subtiles of its list, which
// share dy^2 + dz^2. The cutoff of a charge and a subtile is a ball around 32 points, and few of the distances that are computed
// are beyond. Warps never wait for each other.
//
// Launch: 128 threads a block, whose four tiles stand side by side along y and z. Shared memory: lists and rows of each warp. The
// order of sums is that of the sorted charges: bits do not depend on the launch.

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
  constexpr int ROWS_OF_A_LANE = 2, MAX_ROWS = 32 * ROWS_OF_A_LANE;    // of cells that a warp searches at a time
  constexpr int UNROLL = 4;    // charges that are summed together: in the end lists are filled up to a multiple with charges of 0

  // Tiles and lists of one kernel.
  template <class Kernel, bool SOFT, bool FIELD, class Real> struct Shape {
    static constexpr bool IS_SINGLE = std::is_same<Real, float>::value;
    // the search for charges is shared by more points where terms are cheap
    static constexpr bool IS_EWALD = std::is_same<Kernel, map_kernel::Ewald>::value || std::is_same<Kernel, map_kernel::EwaldInFloat>::value;
    static constexpr bool IS_WIDE = IS_SINGLE && !SOFT && !FIELD && !IS_EWALD;
    static constexpr int SUBTILES = IS_WIDE ? 6 : 4;
    // Lists by the subtiles of their charges: 1 to SUBTILES: that many from the first on; SUBTILES + n: n to the last.
    // List IN_TILE has those in the tile, which may be on a point: they are for all, and every distance is looked at.
    static constexpr int IN_TILE = 0, LISTS = 2 * SUBTILES;
    static_assert((SUBTILES == 4 || SUBTILES == 6) && SUBTILES <= MAX_SUBTILES && LISTS <= 32, "for each list a case of a switch, and a lane");
    static constexpr int PLACES = IS_WIDE ? 44 : IS_SINGLE ? 64 : 40;
    static_assert(PLACES >= 32 + UNROLL - 1 && PLACES % UNROLL == 0, "one charge of each lane beside what is left over; and all filled up");
    static constexpr int BLOCKS = IS_WIDE ? 6 : FIELD || !IS_SINGLE ? 3 : 5;    // of a multiprocessor
  };

  template <class Real> struct alignas(16) TileCharge {
    Real x, y, z, q;
  };

  // What a warp has in shared memory: lists, and what registers are too dear for.
  template <class S, class Real> struct WarpMemory {
    TileCharge<Real> list[S::LISTS][S::PLACES];
    double middle[3];    // of the tile
    int more[32];        // of each list
    int row_begin[MAX_ROWS], row_offset[MAX_ROWS + 1];
  };

  template <int VALUES, class Real> struct PointSums {
    Real v[VALUES] = {};
  };

  template <class Real> __device__ Real quick_root(Real x) { return sqrt(x); }
  template <> __device__ float quick_root(float x)
  {
    float result;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
  }

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

  // a thread's points in a row along x, relative to the middle of the tile
  template <class Real> struct ThreadPoints {
    Real first_x, last_x, y, z;
  };

  // A warp's lists and what it has summed.
  template <class Kernel, bool SOFT, bool FIELD, class Real> class WarpSummer {
   public:
    using S = Shape<Kernel, SOFT, FIELD, Real>;
    static constexpr int VALUES = FIELD ? 4 : 1;

    __device__ WarpSummer(const MapGridArguments<Real> &arg, const ThreadPoints<Real> &points_in, WarpMemory<S, Real> &memory_in)
        : constants(arg.map.constants), tile(arg.tile), points(points_in), memory(memory_in)
    {
    }

    // One charge of each lane for the list of that number, -1: for none; first sums lists that have no room. In the end, when none
    // is for a list, sums all.
    __device__ __forceinline__ void take(const TileCharge<Real> &charge, int number, bool is_end)
    {
      const int lane = threadIdx.x % 32;
      const bool keeps = number >= 0;
      const unsigned kept = __ballot_sync(ALL_LANES, keeps);
      if (kept == 0 && !is_end) return;
      const unsigned peers = __match_any_sync(ALL_LANES, number) & kept;
      memory.more[lane] = 0;
      __syncwarp();
      if (keeps) memory.more[number] = __popc(peers);
      __syncwarp();
      const int more = memory.more[lane];
      for (unsigned full = __ballot_sync(ALL_LANES, is_end ? count > 0 : count + more > S::PLACES); full; full &= full - 1)
        sum(__ffs(full) - 1, is_end);
      const int place = __shfl_sync(ALL_LANES, count, number) + __popc(peers & ((1u << lane) - 1u));
      if (keeps) memory.list[number][place] = charge;
      count += more;
      __syncwarp();
    }

    PointSums<VALUES, double> total[S::SUBTILES];
    unsigned tested = 0;    // distances of this lane

   private:
    // Sums charges of a list, a multiple of UNROLL: what is over stays, and in the end is filled up.
    __device__ __forceinline__ void sum(int number, bool is_end)
    {
      const int lane = threadIdx.x % 32, n = __shfl_sync(ALL_LANES, count, number);
      TileCharge<Real> *const list = memory.list[number];
      const int summed = (is_end ? n + UNROLL - 1 : n) & -UNROLL, left = max(n - summed, 0);
      constexpr Real NOWHERE = 1e6;
      if (n + lane < summed) list[n + lane] = {NOWHERE, NOWHERE, NOWHERE, 0};
      __syncwarp();
      const bool from_last = number > S::SUBTILES;
      sum_by_length(list, summed, from_last ? number - S::SUBTILES : number, from_last);
      __syncwarp();
      if (lane < left) list[lane] = list[summed + lane];    // fewer than UNROLL: places do not overlap
      if (lane == number) count = left;
      __syncwarp();
    }

    __device__ __forceinline__ void sum_by_length(const TileCharge<Real> *list, int n, int length, bool from_last)
    {
      constexpr bool CHECKED = !S::IS_SINGLE;    // that costs little beside the rest of double
      switch (length) {
        case 0: return sum_subtiles<true, S::SUBTILES>(list, n, false);
        case 1: return sum_subtiles<CHECKED, 1>(list, n, from_last);
        case 2: return sum_subtiles<CHECKED, 2>(list, n, from_last);
        case 3: return sum_subtiles<CHECKED, 3>(list, n, from_last);
        case 4: return sum_subtiles<CHECKED, 4>(list, n, from_last);
      }
      if constexpr (S::IS_WIDE) switch (length) {
          case 5: return sum_subtiles<CHECKED, 5>(list, n, from_last);
          case 6: return sum_subtiles<CHECKED, 6>(list, n, from_last);
        }
    }

    // for N subtiles from the first on, or to the last as in a mirror
    template <bool CHECKED, int N> __device__ __forceinline__ void sum_subtiles(const TileCharge<Real> *list, int n, bool from_last)
    {
      PointSums<VALUES, Real> sums[N];
      const Real direction = from_last ? 1 : -1, x = from_last ? -points.last_x : points.first_x;
#pragma unroll 1
      for (int k = 0; k < n; k += UNROLL) {
        TileCharge<Real> a[UNROLL];
        Real dx[UNROLL][N], dy[UNROLL], dz[UNROLL], r_sq[UNROLL][N];
#pragma unroll
        for (int j = 0; j < UNROLL; ++j) a[j] = list[k + j];
#pragma unroll
        for (int j = 0; j < UNROLL; ++j) {
          const Real first = x + direction * a[j].x;
          dy[j] = points.y - a[j].y;
          dz[j] = points.z - a[j].z;
          const Real dyz_sq = dy[j] * dy[j] + dz[j] * dz[j];
#pragma unroll
          for (int i = 0; i < N; ++i) {
            dx[j][i] = first + tile.subtile[i];
            r_sq[j][i] = dx[j][i] * dx[j][i] + dyz_sq;
          }
        }
#pragma unroll
        for (int j = 0; j < UNROLL; ++j)
#pragma unroll
          for (int i = 0; i < N; ++i)
            add_charge<Kernel, SOFT, CHECKED>(constants, r_sq[j][i], dx[j][i], dy[j], dz[j], a[j].q, sums[i]);
      }
#pragma unroll
      for (int i = 0; i < N; ++i) {
        if constexpr (FIELD) sums[i].v[1] = from_last ? -sums[i].v[1] : sums[i].v[1];
#pragma unroll
        for (int v = 0; v < VALUES; ++v) {
          if (from_last)
            total[S::SUBTILES - 1 - i].v[v] += sums[i].v[v];
          else
            total[i].v[v] += sums[i].v[v];
        }
      }
      tested += n * N;
    }

    const MapConstants<Real> &constants;
    const TileShape<Real> &tile;
    const ThreadPoints<Real> points;
    WarpMemory<S, Real> &memory;
    int count = 0;    // of the list with the number of this lane
  };

  // Rows of cells that may hold charges near a box around its middle: all of a rectangle of columns. In float, with a margin for
  // its rounding.
  class NearRows {
   public:
    __device__ NearRows(const SortedCharges &charges_in, const double (&middle)[3], const float (&half_in)[3])
        : charges(charges_in), half{half_in[0], half_in[1], half_in[2]},
          range(static_cast<float>(charges_in.range) * (1.0f + 1e-4f) +
                1e-6f * (half_in[0] + half_in[1] + half_in[2] + static_cast<float>(charges_in.cells.size[1] + charges_in.cells.size[2])))
    {
      const DeviceGrid &cells = charges.cells;
      for (int a = 0; a < 2; ++a) {
        const int axis = a + 1;
        const std::int64_t begin = cells.coordinate(axis, middle[axis] - half[axis] - range);
        first[a] = static_cast<int>(begin);
        n[a] = static_cast<int>(cells.coordinate(axis, middle[axis] + half[axis] + range) - begin) + 1;
        edge[a] = static_cast<float>(cells.lo[axis] + static_cast<double>(begin) * cells.size[axis] - middle[axis]);
      }
      const double x = (middle[0] - cells.lo[0]) * cells.inverse_size[0], whole = floor(x);
      middle_cell = static_cast<int>(whole);
      rest = static_cast<float>(x - whole);
    }
    __device__ int size() const { return n[0] * n[1]; }

    // begin and end of the charges of one
    __device__ int2 operator[](int row) const
    {
      const DeviceGrid &cells = charges.cells;
      const int iz = row / n[0], iy = row - iz * n[0];
      const float gap_y = gap(0, iy), gap_z = gap(1, iz), reach_sq = range * range - gap_y * gap_y - gap_z * gap_z;
      if (reach_sq < 0.0f) return make_int2(0, 0);
      const float reach = (half[0] + quick_root(reach_sq)) * static_cast<float>(cells.inverse_size[0]);
      const int last = static_cast<int>(cells.n[0]) - 1;
      const auto cell_at = [&](float x) { return min(max(middle_cell + static_cast<int>(floorf(x)), 0), last); };
      const std::uint64_t cell = cells.column(first[0] + iy, first[1] + iz) * cells.n[0];
      const std::uint64_t begin = cell + cell_at(rest - reach), end = cell + cell_at(rest + reach) + 1;
      if (charges.depth > 0) return make_int2(begin * charges.depth, end * charges.depth);
      return atoms_of_cells(charges.order, begin, end);
    }

   private:
    // between the box and a column; charges beyond the cells are in those at the rim
    __device__ float gap(int a, int i) const
    {
      const int axis = a + 1, cell = first[a] + i;
      const float size = static_cast<float>(charges.cells.size[axis]), begin = edge[a] + i * size;
      const float before = cell == 0 ? 0.0f : begin - half[axis],
                  behind = cell == charges.cells.n[axis] - 1 ? 0.0f : -half[axis] - (begin + size);
      return fmaxf(0.0f, fmaxf(before, behind));
    }

    const SortedCharges &charges;
    const float half[3], range;
    float edge[2], rest;    // of the first columns, from the middle; of the middle in its cell, in cells
    int first[2], n[2];     // of the rectangle
    int middle_cell;
  };

  // Charges near the tile of a warp, those of a lane one after the other.
  template <class Memory, class Real> class Charges {
   public:
    __device__ Charges(const MapGridArguments<Real> &arg_in, Memory &memory_in) : arg(arg_in), memory(memory_in) {}

    // Looks at some more rows of cells; whether there were any.
    __device__ bool find_rows()
    {
      total = 0;
      if (first_row >= nrows) return false;
      float half[3];
      for (int c = 0; c < 3; ++c) half[c] = static_cast<float>(arg.tile.half[c] * arg.map.length * (1.0 + 1e-6));    // was rounded
      const NearRows rows(arg.map.charges, memory.middle, half);    // made for each look: registers are dear
      nrows = rows.size();
      const int lane = threadIdx.x % 32, first_of_lane = lane * ROWS_OF_A_LANE;
      int sum = 0;
      __syncwarp();    // rows before have been read
#pragma unroll 1
      for (int k = first_of_lane; k < first_of_lane + ROWS_OF_A_LANE; ++k) {
        const int2 range = first_row + k < nrows ? rows[first_row + k] : make_int2(0, 0);
        memory.row_begin[k] = range.x;
        memory.row_offset[k] = range.y - range.x;    // for now
        sum += range.y - range.x;
      }
      int offset = add_lanes_before(sum, total);
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
      if (number >= total) return {0.0, 0.0, 0.0, 0.0};
      while (memory.row_offset[row + 1] <= number) ++row;
      return arg.map.charges.charge[memory.row_begin[row] + number - memory.row_offset[row]];
    }

   private:
    const MapGridArguments<Real> &arg;
    Memory &memory;
    int nrows = 1, first_row = 0;
    int total = 0, row = 0;
  };

  template <class Real> __device__ int round_up(Real x) { return static_cast<int>(ceil(x)); }
  template <class Real> __device__ int round_down(Real x) { return static_cast<int>(floor(x)); }
  // of small numbers by arithmetic alone, and not above or below the integer
  __device__ inline int near_integer(float x)
  {
    constexpr float ROUND = 12582912.0f;    // 1.5 2^23
    return __float_as_int(x + ROUND) - 0x4b400000;
  }
  template <> __device__ int round_up(float x) { return near_integer(x + 0.499f); }
  template <> __device__ int round_down(float x) { return near_integer(x - 0.499f); }

  // The list of a charge: that of the subtiles which are near to it, and maybe more; -1: none is. last: the last subtile with points.
  template <class S, class Real>
  __device__ __forceinline__ int find_list(const TileShape<Real> &tile, Real reach_sq, Real margin, int last, const TileCharge<Real> &a)
  {
    const Real gap_y = fmax(fabs(a.y) - (tile.half[1] + margin), Real(0)), gap_z = fmax(fabs(a.z) - (tile.half[2] + margin), Real(0));
    const Real rest = reach_sq - gap_y * gap_y - gap_z * gap_z, reach = quick_root(fmax(rest, Real(0)));
    const Real first_near = (a.x - reach - tile.x_end) * tile.per_subtile, last_near = (a.x + reach - tile.x_begin) * tile.per_subtile;
    const int from = round_up(fmin(fmax(first_near, Real(0)), Real(S::SUBTILES))),
              to = min(round_down(fmin(fmax(last_near, Real(-1)), Real(S::SUBTILES - 1))), last);
    const int list = from <= S::SUBTILES - 1 - to ? to + 1 : 2 * S::SUBTILES - from;
    const bool is_near = rest >= Real(0) && from <= to && a.q != Real(0);
    return !is_near ? -1 : fmax(gap_y, gap_z) == Real(0) && fabs(a.x) < tile.half[0] + margin ? S::IN_TILE : list;
  }

  template <class Kernel, bool SOFT, bool FIELD, class Real>
  __global__ void __launch_bounds__(THREADS, Shape<Kernel, SOFT, FIELD, Real>::BLOCKS) potential_on_grid(const MapGridArguments<Real> arg)
  {
    using S = Shape<Kernel, SOFT, FIELD, Real>;
    extern __shared__ __align__(16) unsigned char memory_of_block[];
    const int block = arg.first_block + blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    auto &memory = reinterpret_cast<WarpMemory<S, Real> *>(memory_of_block)[warp];
    const int first[3] = {block % arg.blocks[0] * 2 * S::SUBTILES, (block / arg.blocks[0] % arg.blocks[1] * 2 + warp % 2) * TILE_Y,
                          (block / arg.blocks[0] / arg.blocks[1] * 2 + warp / 2) * TILE_Z};
    if (first[1] >= arg.grid.n[1] || first[2] >= arg.grid.n[2]) return;
    constexpr double MIDDLE[3] = {S::SUBTILES - 0.5, 0.5 * (TILE_Y - 1), 0.5 * (TILE_Z - 1)};
    if (lane < 3) {
      double middle = arg.grid.origin[lane];
      for (int a = 0; a < 3; ++a) middle += (first[a] + MIDDLE[a]) * arg.grid.step[a][lane];
      memory.middle[lane] = middle;
    }
    __syncwarp();

    const int ix = lane % 2, iy = lane / 2 % TILE_Y, iz = lane / 2 / TILE_Y;
    const auto place = [&](int i, int c) {    // relative to the middle
      const double at[3] = {i - MIDDLE[0], iy - MIDDLE[1], iz - MIDDLE[2]};
      double x = 0.0;
      for (int a = 0; a < 3; ++a) x += at[a] * arg.grid.step[a][c];
      return static_cast<Real>(x * arg.map.inverse_length);
    };
    const ThreadPoints<Real> points = {place(ix, 0), place(2 * S::SUBTILES - 2 + ix, 0), place(ix, 1), place(ix, 2)};
    WarpSummer<Kernel, SOFT, FIELD, Real> summer(arg, points, memory);
    const int last_subtile = min((arg.grid.n[0] - first[0] - 1) / 2, S::SUBTILES - 1);

    Charges<WarpMemory<S, Real>, Real> charges(arg, memory);
    MapCharge next = {};
    bool is_end = false;
#pragma unroll 1
    for (int begin = 0; !is_end; begin += 32) {
      if (begin >= charges.size()) {
        is_end = !charges.find_rows();
        begin = 0;
        next = charges.load(lane);
      }
      const Real unit = arg.map.unit;
      const TileCharge<Real> charge = {static_cast<Real>(next.x - memory.middle[0]) * unit, static_cast<Real>(next.y - memory.middle[1]) * unit,
                                       static_cast<Real>(next.z - memory.middle[2]) * unit, static_cast<Real>(next.q)};
      next = charges.load(begin + 32 + lane);
      const int list = find_list<S>(arg.tile, arg.map.reach_sq, arg.map.margin, last_subtile, charge);
      summer.take(charge, list, is_end);
    }

    const double unit = arg.map.inverse_length;
    for (int k = 0; k < S::SUBTILES; ++k) {
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
    const NearRows rows(arg.map.charges, {point.x, point.y, point.z}, {0.0f, 0.0f, 0.0f});
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
  void launch_on_grid(const MapGridArguments<Real> &arg, int blocks, cudaStream_t stream)
  {
    constexpr int BYTES = MAP_WARPS * sizeof(WarpMemory<Shape<Kernel, SOFT, FIELD, Real>, Real>);
    static_assert(BYTES <= 64 * 1024, "what every GPU gives");
    const auto kernel = potential_on_grid<Kernel, SOFT, FIELD, Real>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES), "asking for shared memory");
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
          "asking for shared memory");
    kernel<<<blocks, THREADS, BYTES, stream>>>(arg);
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
      launchers.subtiles[soft()][field()] = Shape<Kernel, soft(), field(), Real>::SUBTILES;
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
  // double has no EwaldInFloat
  if constexpr (!std::is_same<map_kernel::GPUCOORD_MAP_KERNEL, map_kernel::EwaldInFloat>::value) get<map_kernel::GPUCOORD_MAP_KERNEL>(launchers);
}

}    // namespace gpucoord
