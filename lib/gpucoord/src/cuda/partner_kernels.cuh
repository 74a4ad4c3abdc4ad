// Part of GPUCOORD, GPL-2.0. The kernel over lists of partners that are kept on the GPU.
//
// Launch: GATHER_THREADS threads a block and no more than MAX_PARTNER_BLOCKS blocks, whose warps take the tiles of
// rows in turn; 'lanes' threads share the partners of an atom. Shared memory: the sums of the block's warps. The last
// block to end adds up the blocks, always in the same order.

#ifndef GPUCOORD_PARTNER_KERNELS_CUH
#define GPUCOORD_PARTNER_KERNELS_CUH

#include "atom_sums.cuh"
#include "device_forces.cuh"
#include "launch.h"
#include "pair_arguments.h"

namespace gpucoord {

constexpr int PARTNER_WARPS = GATHER_THREADS / 32;
// On a multiprocessor. To say so leaves registers for loads under way (64, where the compiler would take 56), in which
// the kernel of the most frequent steps gains a fifth.
template <class Real, unsigned WANT>
constexpr int PARTNER_BLOCKS = std::is_same<Real, float>::value && WANT == DERIVATIVES ? 8 : 0;    // 0: as it likes
constexpr int AT_ONCE = 4;    // partners
constexpr int BATCHES_BEFORE_FLUSH = 16;

// difference of two points in units of length
__device__ inline void difference(const int4 &a, const int4 &b, float unit, float &dx, float &dy, float &dz)
{
  dx = unit * static_cast<float>(b.x - a.x);
  dy = unit * static_cast<float>(b.y - a.y);
  dz = unit * static_cast<float>(b.z - a.z);
}
__device__ inline void difference(const DeviceAtom &a, const DeviceAtom &b, double, double &dx, double &dy, double &dz)
{
  dx = b.x - a.x;
  dy = b.y - a.y;
  dz = b.z - a.z;
}

// a number that no other thread reads: it does not stay in L1, which points need
__device__ inline int load_once(const int *p)
{
  int value;
  asm("ld.global.nc.L1::no_allocate.s32 %0, [%1];" : "=r"(value) : "l"(p));
  return value;
}

template <class Real> struct PointOf {
  using Type = DeviceAtom;
};
template <> struct PointOf<float> {
  using Type = int4;
};

template <class Formula, class Real, unsigned WANT>
__global__ void __launch_bounds__(GATHER_THREADS, PARTNER_BLOCKS<Real, WANT>)
sum_partners(const __grid_constant__ PartnerArguments arg, const FormulaConstants<Real> c)
{
  using Point = typename PointOf<Real>::Type;
  const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
  const int *const __restrict__ partners = arg.rows.partner;
  const auto unit = static_cast<Real>(arg.unit);
  const int lanes = arg.rows.lanes, rows_a_tile = 32 / lanes;
  const int warp = threadIdx.x / 32, thread = threadIdx.x % 32, a = thread / lanes, lane = thread % lanes;
  const int ntiles = (arg.rows.n + rows_a_tile - 1) / rows_a_tile;

  WarpSums mine = {};
  for (int tile = blockIdx.x * PARTNER_WARPS + warp; tile < ntiles; tile += gridDim.x * PARTNER_WARPS) {
    const int r = tile * rows_a_tile + a;
    const bool valid = r < arg.rows.n;
    AtomSums<Real, double, WANT> sums;
    const int point = valid ? arg.rows.point[r] : 0;
    if (valid) {
      const Point atom = points[point];
      const int count = arg.rows.count[r];
      const int *partner = partners + arg.rows.tile[tile] + thread;
      // It is loads that take time: those of the next partners' numbers are under way while these are summed.
      // Where there is none, the atom itself stands in.
      int number[AT_ONCE];
      const auto load_numbers = [&](int first) {
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) number[u] = first + u * lanes < count ? load_once(partner + 32 * u) : point;
      };
      load_numbers(lane);
      int batches = 0;
      for (int first = lane; first < count; first += AT_ONCE * lanes) {
        Point other[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) other[u] = points[number[u]];
        partner += AT_ONCE * 32;
        load_numbers(first + AT_ONCE * lanes);
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
          const bool exists = first + u * lanes < count;
          Real dx, dy, dz;
          difference(atom, other[u], unit, dx, dy, dz);
          const Real r_sq = dx * dx + dy * dy + dz * dz;
          if constexpr (CHEAP<Formula>)
            sums.template add_if<Formula>(c, dx, dy, dz, r_sq, exists && r_sq <= c.dmax_sq);
          else if (exists && r_sq <= c.dmax_sq)
            sums.template add<Formula>(c, dx, dy, dz, r_sq);
        }
        if (++batches % BATCHES_BEFORE_FLUSH == 0) sums.flush();
      }
    }
    sums.finish(Formula::scale(c));
    sums.add_lanes(lanes);
    if (!valid || lane != 0) continue;
    if (arg.sums) sums.store({arg.sums, nullptr, 1, arg.weight}, r);
    if (arg.forces.f)
      subtract(arg.forces, arg.atom_of[point], arg.weight * sums.column(1), arg.weight * sums.column(2),
               arg.weight * sums.column(3));
    if (r < arg.rows.nvalue) {
      mine.value += sums.column(0);
      if constexpr ((WANT & VIRIAL) != 0)
        for (int k = 0; k < 6; ++k) mine.virial[k] += sums.column(4 + k);
    }
  }

  // of the block, then of all blocks
  __shared__ WarpSums of_warp[PARTNER_WARPS];
  __shared__ bool is_last;
  constexpr int NVALUES = WANT & VIRIAL ? 7 : 1;    // the first members of WarpSums
  double *const values = &mine.value;
  const auto add_block = [&] {    // the sum of all threads is left with the first
    for (int k = 0; k < NVALUES; ++k) values[k] = add_warp(values[k]);
    if (thread == 0) of_warp[warp] = mine;
    __syncthreads();
    if (threadIdx.x == 0)
      for (int w = 1; w < PARTNER_WARPS; ++w)
        for (int k = 0; k < NVALUES; ++k) values[k] += (&of_warp[w].value)[k];
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
  for (int block = threadIdx.x; block < gridDim.x; block += GATHER_THREADS)
    for (int k = 0; k < NVALUES; ++k) values[k] += __ldcg(arg.block_sums + k * gridDim.x + block);
  __syncthreads();    // of_warp is free
  add_block();
  if (threadIdx.x != 0) return;
  for (int k = 0; k < NVALUES; ++k) {
    double *const total = &arg.total->value + k;
    *total = (arg.is_first ? 0.0 : *total) + arg.weight * arg.value_scale * values[k];
  }
  *arg.ended = 0;    // for the next launch
}

}    // namespace gpucoord

#endif
