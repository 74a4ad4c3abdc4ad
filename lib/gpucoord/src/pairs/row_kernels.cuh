// Part of GPUCOORD, GPL-2.0. The kernel over partner lists that are kept on the GPU.
//
// Launch of sum_rows: Functions::BLOCK_THREADS threads per block and at most MAX_KERNEL_BLOCKS
// blocks. Their warps take the tiles of rows in turn. 'lanes' threads share the partners of an
// atom. Shared memory: the sums of the block's warps, and the functions of classes if there are
// several (FunctionsByClass::shared_bytes()). The last block to finish adds the sums of all blocks,
// always in the same order.

#ifndef GPUCOORD_ROW_KERNELS_CUH
#define GPUCOORD_ROW_KERNELS_CUH

#include "../gpu/early_launch.cuh"
#include "../gpu/forces.cuh"
#include "atom_sums.cuh"
#include "class_functions_cuda.h"
#include "launch_cuda.h"
#include "pair_arguments_cuda.h"

namespace gpucoord {

// Smallest number of threads per multiprocessor; 0: the compiler decides. The bound gives a thread
// 64 registers instead of the compiler's 56 (rational 6/12, one function), for more loads in
// flight. This makes the kernel of most timesteps a fifth faster.
template <class Real, unsigned WANT>
constexpr int MIN_RESIDENT_THREADS =
    WANT == DERIVATIVES &&std::is_same<Real, float>::value ? 1024 : 0;
constexpr int FOURS_BEFORE_FLUSH = 16;

// difference() returns the difference of two points. Integer points are in units. length_sq()
// converts its square to distance^2.
__device__ inline void difference(const int4 &a, const int4 &b, float &dx, float &dy, float &dz)
{
  dx = static_cast<float>(b.x - a.x);
  dy = static_cast<float>(b.y - a.y);
  dz = static_cast<float>(b.z - a.z);
}
__device__ inline void difference(const DeviceAtom &a, const DeviceAtom &b, double &dx, double &dy,
                                  double &dz)
{
  dx = b.x - a.x;
  dy = b.y - a.y;
  dz = b.z - a.z;
}
__device__ inline float length_sq(float r_sq, float unit_sq)
{
  return unit_sq * r_sq;
}
__device__ inline double length_sq(double r_sq, double)
{
  return r_sq;
}

// Loads data that no other thread reads. The load bypasses L1, which is needed for points.
template <class Four> __device__ Four load_once(const Four *p)    // int4 or uint4
{
  Four v;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(p));
  return v;
}

template <class Real> struct PointOf {
  using Type = DeviceAtom;
};
template <> struct PointOf<float> {
  using Type = int4;
};

// A formula that includes the factor omitted by eval_bare(), for partners with different factors.
template <class Formula> struct WithScale {
  static constexpr bool CHEAP = Formula::CHEAP, IN_R0 = false, STARTS_AT_1 = Formula::STARTS_AT_1;
  static constexpr int POWER = Formula::POWER;
  template <class Real> static __device__ Real scale(const FormulaConstants<Real> &) { return 1; }
  template <class Real>
  static __device__ void eval_bare(const FormulaConstants<Real> &c, Real r_sq, Real &s, Real &dfunc)
  {
    Formula::eval_bare(c, r_sq, s, dfunc);
    dfunc *= Formula::scale(c);
  }
};

// The partners left in a row: their number. This thread takes every lanes-th of them.
struct PartnersLeft {
  int n, lanes;
};

// Adds the terms of up to four partners in range. weight: weight of the pairs, if the functions are
// weighted.
template <class Formula, class Functions, class FunctionsOfAtom, class Real, class Point,
          class Sums>
__device__ inline void add_four(Sums &sums, const Functions &functions,
                                const FunctionsOfAtom &functions_of_atom, const Point &atom,
                                const Point (&other)[FOUR], const Real (&weight)[FOUR],
                                PartnersLeft left, Real unit_sq)
{
#pragma unroll
  for (int u = 0; u < FOUR; ++u) {
    const bool exists = u * left.lanes < left.n;
    const FormulaConstants<Real> &c =
        functions.template get<Formula>(functions_of_atom, atom, other[u]);
    Real dx, dy, dz;
    difference(atom, other[u], dx, dy, dz);
    const Real r_sq = length_sq(dx * dx + dy * dy + dz * dz, unit_sq);
    if constexpr (Functions::IS_WEIGHTED) {
      const bool in_range = exists && r_sq <= c.dmax_sq;
      if (CHEAP<Formula> || in_range)
        sums.template add_weighted<Formula>(c, dx, dy, dz, r_sq, weight[u], in_range);
    } else if constexpr (CHEAP<Formula>)
      sums.template add_if<Formula>(c, dx, dy, dz, r_sq, exists && r_sq <= c.dmax_sq);
    else if (exists && r_sq <= c.dmax_sq)
      sums.template add<Formula>(c, dx, dy, dz, r_sq);
  }
}

// Stores the requested sums of a row. Adds value and virial to those of this thread.
template <unsigned WANT, class Sums>
__device__ void store_row(const RowArguments &arg, int r, Sums &sums, WarpSums &mine)
{
  if constexpr (WANT == VALUE) {
    if (arg.sums && r < arg.rows.nvalue)
      arg.sums[arg.rows.atom ? arg.rows.atom[r] : r] += arg.weight * sums.column(0);
  } else {
    if (arg.sums) sums.store({arg.sums, nullptr, 1, arg.weight}, r);
    if (arg.gradients)
      for (int c = 0; c < 3; ++c)
        arg.gradients[c * static_cast<std::size_t>(arg.rows.n) + r] =
            static_cast<float>(arg.weight * sums.column(1 + c));
    if (arg.forces.f)
      subtract(arg.forces, arg.rows.atom ? arg.rows.atom[r] : r, arg.weight * sums.column(1),
               arg.weight * sums.column(2), arg.weight * sums.column(3));
  }
  if (r < arg.rows.nvalue) {
    mine.value += sums.column(0);
    if constexpr ((WANT & VIRIAL) != 0)
      for (int k = 0; k < 6; ++k) mine.virial[k] += sums.column(4 + k);
  }
}

// Adds value and virial of all threads: first over the block, then over all blocks in the last
// block to finish. WARPS: warps per block.
template <unsigned WANT, int WARPS> __device__ void add_up(const RowArguments &arg, WarpSums &mine)
{
  const int warp = threadIdx.x / 32, thread = threadIdx.x % 32;
  __shared__ WarpSums warp_sums[WARPS];
  __shared__ bool is_last;
  constexpr int NVALUES = WANT & VIRIAL ? 7 : 1;    // the first members of WarpSums
  double *const values = &mine.value;
  const auto add_block = [&] {    // sets the sum of all threads in the first thread
    for (int k = 0; k < NVALUES; ++k) values[k] = add_warp(values[k]);
    if (thread == 0) warp_sums[warp] = mine;
    __syncthreads();
    if (threadIdx.x == 0)
      for (int w = 1; w < WARPS; ++w)
        for (int k = 0; k < NVALUES; ++k) values[k] += (&warp_sums[w].value)[k];
  };
  add_block();
  if (threadIdx.x == 0) {
    for (int k = 0; k < NVALUES; ++k) arg.block_sums[k * gridDim.x + blockIdx.x] = values[k];
    __threadfence();
    is_last = atomicAdd(arg.ended, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  mine = WarpSums();
  for (int block = threadIdx.x; block < gridDim.x; block += 32 * WARPS)
    for (int k = 0; k < NVALUES; ++k) values[k] += __ldcg(arg.block_sums + k * gridDim.x + block);
  __syncthreads();    // warp_sums may be overwritten again
  add_block();
  if (threadIdx.x != 0) return;
  for (int k = 0; k < NVALUES; ++k) {
    double *const total = &arg.total->value + k;
    *total = (arg.is_first ? 0.0 : *total) + arg.weight * arg.value_scale * values[k];
  }
  *arg.ended = 0;    // for the next launch
}

template <class Formula, class Real, unsigned WANT, class Functions>
__global__ void __launch_bounds__(Functions::BLOCK_THREADS,
                                  MIN_RESIDENT_THREADS<Real, WANT> / Functions::BLOCK_THREADS)
    sum_rows(const __grid_constant__ RowArguments arg, const Functions functions)
{
  using Point = typename PointOf<Real>::Type;
  const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
  const Real unit = std::is_same<Real, float>::value ? arg.unit : 1.0, unit_sq = unit * unit;
  constexpr int WARPS = Functions::BLOCK_THREADS / 32;
  const int lanes = arg.rows.lanes, rows_per_tile = 32 / lanes;
  const int warp = threadIdx.x / 32, thread = threadIdx.x % 32, a = thread / lanes,
            lane = thread % lanes;
  const int ntiles = (arg.rows.n + rows_per_tile - 1) / rows_per_tile;

  WarpSums mine = {};
  const auto loaded = functions.load();
  wait_for_previous_kernel();    // the preceding kernel may write the points
  for (int tile = blockIdx.x * WARPS + warp; tile < ntiles; tile += gridDim.x * WARPS) {
    const int r = tile * rows_per_tile + a;
    const bool valid = r < arg.rows.n;
    AtomSums<Real, double, WANT> sums;
    const int point = !valid ? 0 : arg.rows.point ? arg.rows.point[r] : r;
    if (valid) {
      const Point atom = points[point];
      Real own_weight = 0;
      if constexpr (Functions::IS_WEIGHTED) own_weight = functions.weight_of(atom, point);
      const auto functions_of_atom = functions.of_atom(loaded, atom);
      const int count = arg.rows.count[r];
      const std::int64_t begin = arg.rows.tile ? arg.rows.tile[tile] : tile * arg.rows.stride;
      const int4 *partner = arg.rows.partner + begin + thread;
      // Loads limit this kernel. Load the indices of the next partners while these partners are
      // summed.
      int4 next = {};
      if (lane < count) next = load_once(partner);
      int left = count - lane;    // this thread takes every lanes-th partner
      while (left > 0) {
        const int stop =
            std::is_same<Real, float>::value ? max(0, left - FOURS_BEFORE_FLUSH * FOUR * lanes) : 0;
        for (; left > stop; left -= FOUR * lanes) {
          const int index[FOUR] = {next.x, next.y, next.z, next.w};
          Point other[FOUR];
          Real weight[FOUR] = {};
#pragma unroll
          for (int u = 0; u < FOUR; ++u) {
            other[u] = points[index[u]];
            if constexpr (Functions::IS_WEIGHTED)
              weight[u] = own_weight + functions.weight_of(other[u], index[u]);
          }
          partner += 32;
          if (left > FOUR * lanes) next = load_once(partner);
          add_four<Formula>(sums, functions, functions_of_atom, atom, other, weight, {left, lanes},
                            unit_sq);
        }
        sums.flush();
      }
    }
    sums.finish(Formula::scale(functions.constants), unit);
    sums.add_lanes(lanes);
    if (valid && lane == 0) store_row<WANT>(arg, r, sums, mine);
  }
  add_up<WANT, WARPS>(arg, mine);
}

}    // namespace gpucoord

#endif
