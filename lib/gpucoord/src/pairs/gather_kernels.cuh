// Part of GPUCOORD, GPL-2.0. The kernels of engines 'list' and 'allpairs' and of pair mode.
//
// Launch: GATHER_THREADS threads per block.
// - sum_lists: one warp per atom; its lanes share the neighbors; no shared memory.
// - sum_all_pairs: one thread per atom; blockIdx.y selects a share of the partners; they are staged
//   in shared memory in tiles of ALL_PAIRS_TILE.
// - sum_pairs: one thread per pair; no shared memory.

#ifndef GPUCOORD_GATHER_KERNELS_CUH
#define GPUCOORD_GATHER_KERNELS_CUH

#include "atom_sums.cuh"
#include "launch_cuda.h"
#include "pair_arguments_cuda.h"

#include "../core/minimum_image.h"

namespace gpucoord {

constexpr int TERMS_BEFORE_FLUSH = 256;

template <class Real> __device__ Real weight_of(const double *weights, std::int64_t k)
{
  return weights ? static_cast<Real>(weights[k]) : Real(0);
}

template <class Formula, class Real, class Accumulator, unsigned WANT, bool WEIGHTED>
__global__ void __launch_bounds__(GATHER_THREADS)
    sum_lists(const ListArguments arg, const FormulaConstants<Real> c)
{
  const int t = blockIdx.x * (GATHER_THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (t >= arg.n) return;
  const int row = arg.row[t];
  const double *const xi = arg.x + 3 * static_cast<std::size_t>(row);
  const double x = xi[0], y = xi[1], z = xi[2];
  Real own_weight = 0;
  if constexpr (WEIGHTED) own_weight = weight_of<Real>(arg.weight_i, row);
  AtomSums<Real, Accumulator, WANT> sums;
  int terms = 0;
  for (std::int64_t k = arg.first[t] + lane; k < arg.first[t + 1]; k += 32) {
    const int j = arg.neighbor[k] & arg.neighmask;
    if (arg.member && !(arg.member[j] & arg.bit)) continue;
    const double *const xj = arg.x + 3 * static_cast<std::size_t>(j);
    const Real dx = static_cast<Real>(xj[0] - x), dy = static_cast<Real>(xj[1] - y),
               dz = static_cast<Real>(xj[2] - z);
    const Real r_sq = dx * dx + dy * dy + dz * dz;
    if (r_sq <= c.dmax_sq) {
      if constexpr (WEIGHTED)
        sums.template add_weighted<Formula>(c, dx, dy, dz, r_sq,
                                            own_weight + weight_of<Real>(arg.weight_j, j), true);
      else
        sums.template add<Formula>(c, dx, dy, dz, r_sq);
    }
    if (++terms % TERMS_BEFORE_FLUSH == 0) sums.flush();
  }
  sums.finish(Formula::scale(c));
  __syncwarp();
  sums.add_lanes();
  if (lane == 0 && arg.out.sums) sums.store(arg.out, t);
  sums.store_warp(arg.out, t, lane == 0);
}

template <class Formula, class Real, class Accumulator, unsigned WANT, bool WEIGHTED>
__global__ void __launch_bounds__(GATHER_THREADS)
    sum_all_pairs(const __grid_constant__ AllPairsArguments arg, const FormulaConstants<Real> c)
{
  __shared__ DeviceAtom partner[tuning::ALL_PAIRS_TILE];
  const int t = blockIdx.x * GATHER_THREADS + threadIdx.x;
  const bool valid = t < arg.n;
  const DeviceAtom atom = arg.i[valid ? t : 0];
  Real own_weight = 0;
  if constexpr (WEIGHTED) own_weight = weight_of<Real>(arg.weight_i, valid ? t : 0);
  AtomSums<Real, Accumulator, WANT> sums;
  const std::int64_t stride = static_cast<std::int64_t>(tuning::ALL_PAIRS_TILE) * gridDim.y;
  for (std::int64_t first = static_cast<std::int64_t>(tuning::ALL_PAIRS_TILE) * blockIdx.y;
       first < arg.nj; first += stride) {
    const int count =
        static_cast<int>(min(static_cast<std::int64_t>(tuning::ALL_PAIRS_TILE), arg.nj - first));
    if (threadIdx.x < count) partner[threadIdx.x] = arg.j[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      double dx = partner[k].x - atom.x, dy = partner[k].y - atom.y, dz = partner[k].z - atom.z;
      minimum_image(arg.box, dx, dy, dz);
      const Real rx = static_cast<Real>(dx), ry = static_cast<Real>(dy), rz = static_cast<Real>(dz);
      const Real r_sq = rx * rx + ry * ry + rz * rz;
      if (r_sq <= c.dmax_sq && partner[k].id != atom.id) {
        if constexpr (WEIGHTED)
          sums.template add_weighted<Formula>(
              c, rx, ry, rz, r_sq, own_weight + weight_of<Real>(arg.weight_j, first + k), true);
        else
          sums.template add<Formula>(c, rx, ry, rz, r_sq);
      }
    }
    sums.flush();
    __syncthreads();
  }
  sums.finish(Formula::scale(c));
  if (valid && arg.out.sums) sums.store(arg.out, static_cast<std::size_t>(blockIdx.y) * arg.n + t);
  const std::size_t warps = static_cast<std::size_t>(gridDim.x) * (GATHER_THREADS / 32);
  sums.store_warp(
      arg.out, blockIdx.y * warps + blockIdx.x * (GATHER_THREADS / 32) + threadIdx.x / 32, valid);
}

template <class Formula, class Real, class Accumulator, unsigned WANT>
__global__ void __launch_bounds__(GATHER_THREADS)
    sum_pairs(const __grid_constant__ PairsArguments arg, const FormulaConstants<Real> c)
{
  const int t = blockIdx.x * GATHER_THREADS + threadIdx.x;
  if (t - static_cast<int>(threadIdx.x % 32) >= arg.n) return;    // the whole warp has no pairs
  AtomSums<Real, Accumulator, WANT> sums;
  if (t < arg.n) {
    const double *const a = arg.xa + 3 * static_cast<std::size_t>(t),
                        *const b = arg.xb + 3 * static_cast<std::size_t>(t);
    double dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2];
    minimum_image(arg.box, dx, dy, dz);
    const Real rx = static_cast<Real>(dx), ry = static_cast<Real>(dy), rz = static_cast<Real>(dz);
    const Real r_sq = rx * rx + ry * ry + rz * rz;
    if (r_sq <= c.dmax_sq) sums.template add<Formula>(c, rx, ry, rz, r_sq);
    sums.finish(arg.weights ? Formula::scale(c) * static_cast<Real>(arg.weights[t])
                            : Formula::scale(c));
    if (arg.out.sums) sums.store(arg.out, t);
  }
  __syncwarp();
  sums.store_warp(arg.out, t / 32, t < arg.n && arg.counts[t]);
}

}    // namespace gpucoord

#endif
