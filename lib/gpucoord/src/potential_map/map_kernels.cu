// Part of GPUCOORD, GPL-2.0. Potentials on a grid and at points. This file is compiled once for
// each kernel in map_formulas.h, with -DGPUCOORD_MAP_KERNEL=name.
//
// On a grid, each warp takes a tile of points: subtiles of 2 x 4 x 4 points along x. Its lanes find
// the rows of cells near the tile, load their charges, and keep the charges within the cutoff of
// the tile. The subtiles near a charge are the first N, the last N, or all subtiles. The charge is
// appended to the list of these subtiles in shared memory. When a list is full, its charges are
// summed without branches, for the subtiles of the list; points along x share dy^2 + dz^2. The
// points of a subtile are close together, so that few of the computed distances are beyond the
// cutoff. Warps never wait for each other.
//
// Launch: 128 threads per block; the four tiles of a block are adjacent along y and z. Shared
// memory: lists and rows of each warp. The summation order depends only on the order of the sorted
// charges. Results are therefore bitwise independent of the launch.

#include "map_arguments.cuh"

#include "../gpu/cuda_error.h"
#include "../gpu/sorted_atoms.cuh"
#include "../gpu/warp_reduction.cuh"

#include <cstddef>
#include <type_traits>

#ifndef GPUCOORD_MAP_KERNEL
#error "compile with -DGPUCOORD_MAP_KERNEL=name, one of those in map_formulas.h"
#endif

namespace gpucoord {

namespace {

  constexpr int THREADS = 32 * MAP_WARPS;
  // Number of charges summed together. At the end, lists are padded with zero charges to a multiple
  // of this number.
  constexpr int UNROLL = 2;

  // Tiles and lists of one kernel.
  template <class Kernel, bool SOFT, bool FIELD, class Real> struct Shape {
    static constexpr bool IS_SINGLE = std::is_same<Real, float>::value;
    // Storage format of the charges.
    static constexpr bool IS_PACKED = IS_SINGLE && !std::is_same<Kernel, map_kernel::Direct>::value;
    // If terms are cheap, more points share the search for charges.
    static constexpr bool IS_EWALD = std::is_same<Kernel, map_kernel::Ewald>::value ||
        std::is_same<Kernel, map_kernel::EwaldInFloat>::value;
    static constexpr bool IS_WIDE = IS_SINGLE && !SOFT && !FIELD && !IS_EWALD;
    static constexpr int SUBTILES = IS_WIDE ? 6 : 4;
    // Number of charges that a warp sums at a time. 1: each lane takes a point of a subtile. 2:
    // each half of the warp takes one charge, and each lane takes both points of a row.
    static constexpr int TOGETHER = IS_SINGLE && !FIELD ? 2 : 1;
    // List N - 1 has charges near the first N subtiles. List SUBTILES + N - 1 has charges near the
    // last N subtiles, with the sign of x reversed. The last list has the charges in the tile,
    // which may coincide with a point. It covers all subtiles, and every distance is tested.
    static constexpr int LISTS = 2 * SUBTILES, IN_TILE = LISTS - 1, NO_LIST = LISTS;
    static_assert((SUBTILES == 4 || SUBTILES == 6) && SUBTILES <= MAX_SUBTILES && LISTS < 32,
                  "each list has a case of a switch, and a lane");
    static constexpr int SLOTS = IS_WIDE ? 44 : IS_SINGLE ? 64 : 40;
    static_assert(SLOTS >= 32 + UNROLL - 1 && SLOTS % UNROLL == 0,
                  "room for the remaining charges and one charge per lane, padded to UNROLL");
    // Blocks per multiprocessor.
    static constexpr int BLOCKS = IS_WIDE ? 6 : FIELD || !IS_SINGLE ? 3 : 5;
  };

  template <class Real> struct alignas(16) TileCharge {
    Real x, y, z, q;
  };

  // Shared memory of a warp: lists, and data that would need too many registers.
  template <class S, class Real> struct WarpMemory {
    TileCharge<Real> list[S::LISTS][S::SLOTS];
    int count[S::LISTS + 1];
    // [rows + 1] offset from the number of a charge to its index among the sorted charges; the last
    // offset leads beyond all charges
    unsigned shift[32 + 1];
    double middle[3];                        // middle of the tile, distance
    alignas(16) unsigned middle_parts[3];    // middle, in the units of a packed charge
    int last_subtile;                        // last subtile that has points
  };

  template <int VALUES, class Real> struct PointSums {
    Real v[VALUES] = {};
  };

  template <class Real> __device__ Real quick_root(Real x)
  {
    return sqrt(x);
  }
  template <> __device__ float quick_root(float x)
  {
    float result;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
  }

  // Keeps x in a register. Otherwise the compiler recomputes it for every charge.
  template <class Real> __device__ __forceinline__ void keep(Real &x)
  {
    if constexpr (std::is_same<Real, float>::value)
      asm volatile("" : "+f"(x));
    else
      asm volatile("" : "+d"(x));
  }

  // Adds the potential and field of a charge at one point. CHECKED: the charge may coincide with
  // the point.
  template <class Kernel, bool SOFT, bool CHECKED, int VALUES, class Real>
  __device__ __forceinline__ void add_charge(const MapConstants<Real> &c, Real r_sq, Real dx,
                                             Real dy, Real dz, Real q,
                                             PointSums<VALUES, Real> &sums)
  {
    constexpr bool FIELD = VALUES > 1;
    if constexpr (std::is_same<Kernel, map_kernel::Smooth>::value && !SOFT && !CHECKED && !FIELD &&
                  std::is_same<Real, float>::value) {
      // q/r (1 - s)^2 in four instructions. The length unit is the cutoff, and s is 1 beyond it.
      const float s = __saturatef(r_sq), inv_r = inverse_root(s);
      sums.v[0] += (q - q * s) * (inv_r - inv_r * s);
    } else {
      BarePotential<Real> bare;
      if constexpr (SOFT || CHECKED)
        bare = bare_potential<SOFT>(c, r_sq);
      else
        bare = bare_potential_apart(r_sq);
      Real value, derivative;
      Kernel::template eval<SOFT>(c, bare, value, derivative);
      const bool counts = r_sq <= c.cutoff_sq && (SOFT || !CHECKED || r_sq > c.tiny_sq);
      const Real charge = counts ? q : Real(0);
      sums.v[0] += charge * value;
      if constexpr (FIELD) {
        const Real strength = charge * derivative;
        sums.v[1] -= strength * dx;
        sums.v[2] -= strength * dy;
        sums.v[3] -= strength * dz;
      }
    }
  }

  // A thread's points in a row along x, relative to the middle of the tile. middle_x: x of the
  // first point after the first half of the points. mirrored_x: the same for the mirrored row,
  // counted from the last point
  template <class Real> struct ThreadPoints {
    Real middle_x, mirrored_x, y, z;
  };

  // Sums the charges in the lists of a warp.
  template <class Kernel, bool SOFT, bool FIELD, class Real> class WarpSummer {
   public:
    using S = Shape<Kernel, SOFT, FIELD, Real>;
    static constexpr int VALUES = FIELD ? 4 : 1;

    __device__ WarpSummer(const MapGridArguments<Real> &arg, const ThreadPoints<Real> &points_in,
                          WarpMemory<S, Real> &memory_in) :
        constants(arg.map.constants),
        tile(arg.tile), points(points_in), memory(memory_in)
    {
      const int lane = threadIdx.x % 32;
      // The list NO_LIST is never full.
      if (lane <= S::LISTS) memory.count[lane] = lane == S::NO_LIST ? -32 : 0;
      __syncwarp();
    }

    // Finds the positions of one charge per lane in list 'number'. peers: lanes with the same list.
    // Returns the lanes whose list has no room.
    __device__ __forceinline__ unsigned find_slots(int list_index, unsigned &peers, int &slot) const
    {
      const unsigned before = (1u << threadIdx.x % 32) - 1u;
      peers = __match_any_sync(ALL_LANES, list_index);
      slot = __popc(peers & before) + memory.count[list_index];
      return __ballot_sync(ALL_LANES, slot >= S::SLOTS);
    }

    // Sums the lists of these lanes and moves the positions forward. is_end: sums all charges of
    // each list
    __device__ __forceinline__ void sum_lists(unsigned lanes, int list_index, int &slot,
                                              bool is_end)
    {
      while (lanes) {
        const int list = __shfl_sync(ALL_LANES, list_index, __ffs(lanes) - 1),
                  summed = sum(list, is_end);
        if (list_index == list) slot -= summed;
        lanes &= ~__ballot_sync(ALL_LANES, list_index == list);
      }
    }

    // Stores one charge per lane at its position.
    __device__ __forceinline__ void put(TileCharge<Real> charge, int list_index, unsigned peers,
                                        int slot)
    {
      __syncwarp();    // lists and counts have been read
      if (list_index >= S::SUBTILES) charge.x = -charge.x;
      if (list_index != S::NO_LIST) {
        memory.list[list_index][slot] = charge;
        const bool is_last = peers >> threadIdx.x % 32 == 1u;
        if (is_last) memory.count[list_index] = slot + 1;
      }
      __syncwarp();
    }

    // Assigns a list to each lane. Returns the lanes whose list has charges.
    __device__ unsigned find_lists(int &list_index) const
    {
      const int lane = threadIdx.x % 32;
      list_index = min(lane, S::NO_LIST);
      return __ballot_sync(ALL_LANES, memory.count[list_index] > 0);
    }

    PointSums<VALUES, double> total[S::SUBTILES];
    unsigned tested = 0;    // number of distances computed by this lane

   private:
    // Sums the last charges of a list, a multiple of UNROLL, and returns their number. is_end: sums
    // all charges
    __device__ __forceinline__ int sum(int list_index, bool is_end)
    {
      TileCharge<Real> *const list = memory.list[list_index];
      int end = memory.count[list_index], begin = end % UNROLL;
      if (is_end) {
        begin = 0;
        constexpr Real FAR_COORDINATE = 1e6;
        const int lane = threadIdx.x % 32, more = (UNROLL - end % UNROLL) % UNROLL;
        if (lane < more) list[end + lane] = {FAR_COORDINATE, FAR_COORDINATE, FAR_COORDINATE, 0};
        end += more;
        __syncwarp();
      }
      const bool is_mirrored = list_index >= S::SUBTILES;
      const Real x = is_mirrored ? points.mirrored_x : points.middle_x;
      constexpr bool CHECKED = !S::IS_SINGLE;    // the check costs little in double
      if (list_index == S::IN_TILE)
        sum_subtiles<true, S::SUBTILES>(list + begin, list + end, x, is_mirrored);
      else
        switch (is_mirrored ? list_index - S::SUBTILES : list_index) {
          case 0:
            sum_subtiles<CHECKED, 1>(list + begin, list + end, x, is_mirrored);
            break;
          case 1:
            sum_subtiles<CHECKED, 2>(list + begin, list + end, x, is_mirrored);
            break;
          case 2:
            sum_subtiles<CHECKED, 3>(list + begin, list + end, x, is_mirrored);
            break;
          case 3:
            sum_subtiles<CHECKED, 4>(list + begin, list + end, x, is_mirrored);
            break;
          case 4:
            if constexpr (S::IS_WIDE)
              sum_subtiles<CHECKED, 5>(list + begin, list + end, x, is_mirrored);
            break;
          case 5:
            if constexpr (S::IS_WIDE)
              sum_subtiles<CHECKED, 6>(list + begin, list + end, x, is_mirrored);
            break;
        }
      return end - begin;
    }

    // Sums charges for the first N subtiles, or for the last N subtiles of a mirrored list.
    template <bool CHECKED, int N>
    __device__ __forceinline__ void sum_subtiles(const TileCharge<Real> *begin,
                                                 const TileCharge<Real> *end, Real x,
                                                 bool is_mirrored)
    {
      constexpr int POINTS = N * S::TOGETHER, CHARGES = UNROLL / S::TOGETHER, MIDDLE = POINTS / 2;
      PointSums<VALUES, Real> sums[POINTS];
      Real step = tile.step * (2 / S::TOGETHER);
      // Middle of these points. Distances from it have the smallest rounding errors.
      Real middle = x - Real(S::SUBTILES * S::TOGETHER / 2 - MIDDLE) * step;
      keep(step);
      keep(middle);
      const int half = threadIdx.x % 32 / 16;
#pragma unroll 1
      for (const TileCharge<Real> *charge = begin + (S::TOGETHER == 2 ? half : 0); charge < end;
           charge += UNROLL) {
        TileCharge<Real> a[CHARGES];
        Real dx[CHARGES][POINTS], dy[CHARGES], dz[CHARGES], r_sq[CHARGES][POINTS];
#pragma unroll
        for (int j = 0; j < CHARGES; ++j) a[j] = charge[S::TOGETHER * j];
#pragma unroll
        for (int j = 0; j < CHARGES; ++j) {
          const Real middle_dx = middle - a[j].x;
          dy[j] = points.y - a[j].y;
          dz[j] = points.z - a[j].z;
          const Real dyz_sq = dy[j] * dy[j] + dz[j] * dz[j];
#pragma unroll
          for (int i = 0; i < POINTS; ++i) {
            dx[j][i] = i == MIDDLE ? middle_dx : middle_dx + Real(i - MIDDLE) * step;
            r_sq[j][i] = dx[j][i] * dx[j][i] + dyz_sq;
          }
        }
#pragma unroll
        for (int j = 0; j < CHARGES; ++j)
#pragma unroll
          for (int i = 0; i < POINTS; ++i)
            add_charge<Kernel, SOFT, CHECKED>(constants, r_sq[j][i], dx[j][i], dy[j], dz[j], a[j].q,
                                              sums[i]);
      }
      // Both halves of the warp have sums of both points of a row. Each half keeps the total of one
      // point.
      const bool keeps_first = (half == 0) != is_mirrored;
#pragma unroll
      for (int i = 0; i < N; ++i) {
        PointSums<VALUES, Real> sum = sums[S::TOGETHER * i];
        if constexpr (S::TOGETHER == 2) {
          const Real first = sums[2 * i].v[0], second = sums[2 * i + 1].v[0];
          sum.v[0] = (keeps_first ? first : second) +
              __shfl_xor_sync(ALL_LANES, keeps_first ? second : first, 16);
        }
        if constexpr (FIELD) sum.v[1] = is_mirrored ? -sum.v[1] : sum.v[1];
#pragma unroll
        for (int v = 0; v < VALUES; ++v) {
          if (is_mirrored)
            total[S::SUBTILES - 1 - i].v[v] += sum.v[v];
          else
            total[i].v[v] += sum.v[v];
        }
      }
      tested += static_cast<unsigned>(end - begin) * N;
    }

    const MapConstants<Real> &constants;
    const TileShape<Real> &tile;
    const ThreadPoints<Real> points;
    WarpMemory<S, Real> &memory;
  };

  // Rows of cells that may contain charges near a box around its middle: all rows of a rectangle of
  // columns.
  class NearRows {
   public:
    __device__ NearRows(const SortedCharges &charges_in, const RowSearch &search_in,
                        const double (&middle)[3]) :
        charges(charges_in),
        search(search_in)
    {
      const BinGrid &cells = charges.cells;
      for (int a = 0; a < 2; ++a) {
        const int axis = a + 1;
        const double at = (middle[axis] - cells.lo[axis]) * cells.inverse_size[axis];
        // Conversions to integers saturate.
        first[a] = min(max(static_cast<int>(at - search.columns[a]), 0),
                       static_cast<int>(cells.n[axis]) - 1);
        n[a] = min(max(static_cast<int>(at + search.columns[a]), 0),
                   static_cast<int>(cells.n[axis]) - 1) -
            first[a] + 1;
        edge[a] = static_cast<float>((first[a] - at) * cells.size[axis]);
      }
      const double x = (middle[0] - cells.lo[0]) * cells.inverse_size[0], whole = floor(x);
      middle_cell = static_cast<int>(whole);
      rest = static_cast<float>(x - whole);
    }
    __device__ int size() const { return n[0] * n[1]; }

    // Returns the begin and end of the charges in a row.
    __device__ int2 operator[](int row) const
    {
      const BinGrid &cells = charges.cells;
      const int iz = row / n[0], iy = row - iz * n[0];
      const float gap_y = gap(0, iy), gap_z = gap(1, iz),
                  reach_sq = search.range * search.range - gap_y * gap_y - gap_z * gap_z;
      if (reach_sq < 0.0f) return make_int2(0, 0);
      const float reach = (search.half[0] + quick_root(reach_sq)) * search.cells_per_distance;
      const int last = static_cast<int>(cells.n[0]) - 1;
      const auto cell_at = [&](float x) {
        return min(max(middle_cell + static_cast<int>(floorf(x)), 0), last);
      };
      const std::uint64_t cell = cells.column(first[0] + iy, first[1] + iz) * cells.n[0];
      const std::uint64_t begin = cell + cell_at(rest - reach),
                          end = cell + cell_at(rest + reach) + 1;
      if (charges.depth > 0) return make_int2(begin * charges.depth, end * charges.depth);
      return atoms_of_cells(charges.order, begin, end);
    }

   private:
    // Returns the gap between the box and a column. Charges beyond the cells are in the outermost
    // columns.
    __device__ float gap(int a, int i) const
    {
      const int axis = a + 1, cell = first[a] + i;
      const float size = search.size[a], begin = edge[a] + i * size;
      const float before = cell == 0 ? 0.0f : begin - search.half[axis],
                  above = cell == charges.cells.n[axis] - 1 ? 0.0f
                                                            : -search.half[axis] - (begin + size);
      return fmaxf(0.0f, fmaxf(before, above));
    }

    const SortedCharges &charges;
    const RowSearch &search;
    // edge: begin of the first column relative to the middle, distance. rest: position of the
    // middle in its cell, in cells
    float edge[2], rest;
    int first[2], n[2];    // rectangle of columns
    int middle_cell;
  };

  __device__ inline unsigned or_warp(unsigned bits)
  {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL_LANES, bits);
#else
    return reduce_warp(bits, [](unsigned a, unsigned b) {
      return a | b;
    });
#endif
  }
  // Returns 1 << n; 0 if n < 0 or n > 31.
  __device__ inline unsigned bit(int n)
  {
    unsigned result;
    asm("shl.b32 %0, 1, %1;" : "=r"(result) : "r"(n));
    return result;
  }

  // Loads the charges near the tile of a warp, 32 at a time.
  template <class S, class Real> class Charges {
   public:
    using Stored = typename std::conditional<S::IS_PACKED, PackedCharge, MapCharge>::type;

    __device__ Charges(const MapGridArguments<Real> &arg_in, WarpMemory<S, Real> &memory_in) :
        arg(arg_in), memory(memory_in)
    {
    }

    // Finds the charges in the next rows of cells. Returns false if no rows are left.
    __device__ bool find_rows()
    {
      total = 0;
      if (first_row >= nrows) return false;
      // Construct it in each call, to save registers.
      const NearRows rows(arg.map.charges, arg.map.rows, memory.middle);
      nrows = rows.size();
      const int lane = threadIdx.x % 32, row = first_row + lane;
      const int2 range = row < nrows ? rows[row] : make_int2(0, 0);
      const int size = range.y - range.x, begin = add_lanes_before(size, total);
      const unsigned filled = __ballot_sync(ALL_LANES, size > 0);
      __syncwarp();    // preceding rows have been read
      if (size > 0) memory.shift[__popc(filled & ((1u << lane) - 1u))] = range.x - begin;
      if (lane == 0) memory.shift[__popc(filled)] = 1u << 31;    // index beyond all charges
      last = size > 0 ? begin + size - 1 : -1;
      __syncwarp();
      first_row += 32;
      rows_before = 0;
      return true;
    }
    // Returns the number of charges in these rows.
    __device__ int size() const { return total; }

    // Returns charge begin + lane of the charges in these rows, or a zero charge beyond the last
    // one. Must be called in ascending order of 'begin', starting at 0.
    __device__ Stored load(int begin)
    {
      const int lane = threadIdx.x % 32;
      // Count the rows that end before the charge of each lane.
      const unsigned ends = or_warp(bit(last - begin));
      const int row = rows_before + __popc(ends & ((1u << lane) - 1u));
      rows_before += __popc(ends);
      const unsigned index =
          min(memory.shift[row] + (begin + lane), static_cast<unsigned>(arg.map.charges.end));
      if constexpr (S::IS_PACKED)
        return arg.map.charges.packed[index];
      else
        return arg.map.charges.charge[index];
    }

    __device__ TileCharge<Real> from_tile(const Stored &a) const
    {
      if constexpr (S::IS_PACKED) {
        const auto distance = [&](unsigned at, int axis) {
          return static_cast<int>(at - memory.middle_parts[axis]) * arg.per_part;
        };
        return {distance(a.x, 0), distance(a.y, 1), distance(a.z, 2), a.q};
      } else {
        const auto distance = [&](double at, int axis) {
          return static_cast<Real>(at - memory.middle[axis]) * arg.map.unit;
        };
        return {distance(a.x, 0), distance(a.y, 1), distance(a.z, 2), static_cast<Real>(a.q)};
      }
    }

   private:
    const MapGridArguments<Real> &arg;
    WarpMemory<S, Real> &memory;
    int nrows = 1, first_row = 0;
    int total = 0, rows_before = 0;
    int last = -1;    // index of the last charge in the row of this lane
  };

  // nearest() returns the nearest integer plus BIAS, or a very large number if x is NaN. In float,
  // it needs only arithmetic.
  template <class Real> constexpr int BIAS = std::is_same<Real, float>::value ? 0x4b400000 : 0;
  template <class Real> __device__ __forceinline__ int nearest(Real x)
  {
    if constexpr (std::is_same<Real, float>::value)
      return __float_as_int(x + 12582912.0f);    // 1.5 2^23
    else
      return __double2int_rn(fmin(x, 1e9));    // fmin() replaces NaN
  }

  // Returns the list of a charge. The list covers all subtiles near the charge, and may cover more.
  // last: the last subtile with points
  template <class S, class Real>
  __device__ __forceinline__ int find_list(const TileShape<Real> &tile, Real reach_sq, int last,
                                           const TileCharge<Real> &a)
  {
    constexpr int ZERO = BIAS<Real>;
    const Real gap_y = fmax(fabs(a.y) - tile.inside[1], Real(0)),
               gap_z = fmax(fabs(a.z) - tile.inside[2], Real(0));
    const Real rest = reach_sq - gap_y * gap_y - gap_z * gap_z,
               reach = quick_root(rest);    // may be NaN
    const int from = max(nearest((a.x - reach) * tile.per_subtile + tile.first_near), ZERO),
              to = min(nearest((a.x + reach) * tile.per_subtile + tile.last_near), ZERO + last);
    const bool is_near = from <= to && a.q != Real(0);
    const int list = (from - ZERO) + (to - ZERO) <= S::SUBTILES - 1
        ? to - ZERO
        : 2 * S::SUBTILES - 1 + ZERO - from;
    const bool is_in_tile = fmax(gap_y, gap_z) == Real(0) && fabs(a.x) < tile.inside[0];
    return !is_near ? S::NO_LIST : is_in_tile ? S::IN_TILE : list;
  }

  template <class Kernel, bool SOFT, bool FIELD, class Real>
  __global__ void __launch_bounds__(THREADS, Shape<Kernel, SOFT, FIELD, Real>::BLOCKS)
      potential_on_grid(const MapGridArguments<Real> arg)
  {
    using S = Shape<Kernel, SOFT, FIELD, Real>;
    extern __shared__ __align__(16) unsigned char memory_of_block[];
    const int block = arg.first_block + blockIdx.x, lane = threadIdx.x % 32,
              warp = threadIdx.x / 32;
    auto &memory = reinterpret_cast<WarpMemory<S, Real> *>(memory_of_block)[warp];
    const int first[3] = {block % arg.blocks[0] * 2 * S::SUBTILES,
                          (block / arg.blocks[0] % arg.blocks[1] * 2 + warp % 2) * TILE_Y,
                          (block / arg.blocks[0] / arg.blocks[1] * 2 + warp / 2) * TILE_Z};
    if (first[1] >= arg.grid.n[1] || first[2] >= arg.grid.n[2]) return;
    constexpr double MIDDLE[3] = {S::SUBTILES - 0.5, 0.5 * (TILE_Y - 1), 0.5 * (TILE_Z - 1)};
    if (lane < 3) {
      double middle = arg.grid.origin[lane];
      for (int a = 0; a < 3; ++a) middle += (first[a] + MIDDLE[a]) * arg.grid.step[a][lane];
      memory.middle[lane] = middle;
    }
    __syncwarp();
    if (lane == 0) memory.last_subtile = min((arg.grid.n[0] - first[0] - 1) / 2, S::SUBTILES - 1);
    if constexpr (S::IS_PACKED) {
      if (lane < 3) memory.middle_parts[lane] = arg.map.charges.parts_at(lane, memory.middle[lane]);
    }
    __syncwarp();

    const int iy = lane % TILE_Y, iz = lane / TILE_Y % TILE_Z, ix = lane / (TILE_Y * TILE_Z);
    const auto coordinate = [&](int i, int c) {    // relative to the middle
      const double at[3] = {i - MIDDLE[0], iy - MIDDLE[1], iz - MIDDLE[2]};
      double x = 0.0;
      for (int a = 0; a < 3; ++a) x += at[a] * arg.grid.step[a][c];
      return static_cast<Real>(x * arg.map.inverse_length);
    };
    const int first_point = S::TOGETHER == 2 ? 0 : ix,
              last_point = 2 * S::SUBTILES - (S::TOGETHER == 2 ? 1 : 2 - ix);
    const ThreadPoints<Real> points = {coordinate(first_point + S::SUBTILES, 0),
                                       -coordinate(last_point - S::SUBTILES, 0), coordinate(0, 1),
                                       coordinate(0, 2)};
    WarpSummer<Kernel, SOFT, FIELD, Real> summer(arg, points, memory);

    Charges<S, Real> charges(arg, memory);
    typename Charges<S, Real>::Stored next = {};
    bool is_end = false;
#pragma unroll 1
    for (int begin = 0;; begin += 32) {
      if (begin >= charges.size()) {
        is_end = !charges.find_rows();
        begin = 0;
        if (!is_end) next = charges.load(0);
      }
      TileCharge<Real> charge;
      int list_index, slot = 0;
      unsigned peers = 0, full;
      if (is_end)
        full = summer.find_lists(list_index);
      else {
        charge = charges.from_tile(next);
        next = charges.load(begin + 32);
        list_index = find_list<S>(arg.tile, arg.map.reach_sq, memory.last_subtile, charge);
        full = summer.find_slots(list_index, peers, slot);
      }
      summer.sum_lists(full, list_index, slot, is_end);
      if (is_end) break;
      summer.put(charge, list_index, peers, slot);
    }

    const double unit = arg.map.inverse_length;
    for (int k = 0; k < S::SUBTILES; ++k) {
      const int at[3] = {first[0] + 2 * k + ix, first[1] + iy, first[2] + iz};
      if (at[0] >= arg.grid.n[0] || at[1] >= arg.grid.n[1] || at[2] >= arg.grid.n[2]) continue;
      const std::size_t p =
          (static_cast<std::size_t>(at[2]) * arg.grid.n[1] + at[1]) * arg.grid.n[0] + at[0];
      const bool is_zero = arg.zero && arg.zero[p];
      const auto write = [&](double value, double *to) {
        *to = is_zero ? 0.0 : arg.add ? *to + value : value;
      };
      write(summer.total[k].v[0] * unit, arg.phi + p);
      if constexpr (FIELD)
        for (int c = 0; c < 3; ++c)
          write(summer.total[k].v[1 + c] * unit * unit, arg.field + 3 * p + c);
    }
    const auto tested = add_warp(static_cast<unsigned long long>(summer.tested));
    if (lane == 0) atomicAdd(arg.map.tested, tested);
  }

  // Launch: one thread per point, 128 threads per block, no shared memory. Points of the same cell
  // read the same charges.
  template <class Kernel, bool SOFT, bool FIELD, class Real>
  __global__ void __launch_bounds__(THREADS) potential_at_points(MapPointsArguments<Real> arg)
  {
    const int p = blockIdx.x * THREADS + threadIdx.x;
    if (p >= arg.n) return;
    const DeviceAtom point = arg.point[p];
    const int self = point.id < 0 ? -1 : arg.sorted_index[point.id];
    const NearRows rows(arg.map.charges, arg.map.rows, {point.x, point.y, point.z});
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
        const auto dx = static_cast<Real>((point.x - a.x) * unit),
                   dy = static_cast<Real>((point.y - a.y) * unit),
                   dz = static_cast<Real>((point.z - a.z) * unit);
        const auto q = j == self ? Real(0) : static_cast<Real>(a.q);
        add_charge<Kernel, SOFT, true>(arg.map.constants, dx * dx + (dy * dy + dz * dz), dx, dy, dz,
                                       q, sums);
        constexpr int CHUNK = 256;
        if ((j - range.x) % CHUNK == CHUNK - 1 || j == range.y - 1) {
          for (int v = 0; v < VALUES; ++v) total.v[v] += sums.v[v];
          sums = {};
        }
      }
      tested += range.y - range.x;
    }
    const int to = arg.caller_index[p];
    arg.phi[to] = total.v[0] * unit;
    if constexpr (FIELD)
      for (int c = 0; c < 3; ++c)
        arg.field[3 * static_cast<std::size_t>(to) + c] = total.v[1 + c] * unit * unit;
    atomicAdd(arg.map.tested, tested);
  }

  template <class Kernel, bool SOFT, bool FIELD, class Real>
  void launch_on_grid(const MapGridArguments<Real> &arg, int blocks, cudaStream_t stream)
  {
    constexpr int BYTES = MAP_WARPS * sizeof(WarpMemory<Shape<Kernel, SOFT, FIELD, Real>, Real>);
    static_assert(BYTES <= 64 * 1024, "every GPU can have 64 KiB per block");
    const auto kernel = potential_on_grid<Kernel, SOFT, FIELD, Real>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES),
          "requesting shared memory");
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared),
          "requesting shared memory");
    kernel<<<blocks, THREADS, BYTES, stream>>>(arg);
    check(cudaGetLastError(), "launching potential_on_grid");
  }

  template <class Kernel, bool SOFT, bool FIELD, class Real>
  void launch_at_points(const MapPointsArguments<Real> &arg, cudaStream_t stream)
  {
    potential_at_points<Kernel, SOFT, FIELD, Real>
        <<<(arg.n + THREADS - 1) / THREADS, THREADS, 0, stream>>>(arg);
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
  // EwaldInFloat exists only in float.
  if constexpr (!std::is_same<map_kernel::GPUCOORD_MAP_KERNEL, map_kernel::EwaldInFloat>::value)
    get<map_kernel::GPUCOORD_MAP_KERNEL>(launchers);
}

}    // namespace gpucoord
