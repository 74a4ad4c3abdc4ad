// Part of GPUCOORD, GPL-2.0. Sums over the partners of one atom, shared by all pair kernels.

#ifndef GPUCOORD_ATOM_SUMS_CUH
#define GPUCOORD_ATOM_SUMS_CUH

#include "../gpu/warp_reduction.cuh"
#include "../switching/formula_constants_cuda.h"
#include "../switching/formula_traits.cuh"
#include "pair_arguments_cuda.h"

#include "gpucoord/pairs.h"

#include <cstddef>
#include <type_traits>

namespace gpucoord {

// Sums over the partners of one atom, as selected by WANT: s; dS/dx, dS/dy, dS/dz; the virial xx yy
// zz xy xz yz. If Accumulator differs from Real, terms are summed in Real until flush() adds them
// to the accumulators.
template <class Real, class Accumulator, unsigned WANT> class AtomSums {
  static constexpr int N = WANT & VIRIAL ? 10 : WANT & DERIVATIVES ? 4 : 1;
  static constexpr bool IN_PARTS = !std::is_same<Real, Accumulator>::value;

 public:
  // Number of columns that store() writes: those of the per-atom output, or only s.
  static constexpr int COLUMNS = WANT == VALUE ? 1 : peratom_columns(WANT);

  // Adds a partner in range. dx, dy, dz: position of the partner minus that of the atom
  template <class Formula>
  __device__ void add(const FormulaConstants<Real> &c, Real dx, Real dy, Real dz, Real r_sq)
  {
    Real s, dfunc;
    Formula::eval_bare(c, r_sq, s, dfunc);
    if constexpr ((WANT & WINDOWED) != 0)
      dfunc *= window(c, r_sq);
    else
      part[0] += s;
    add_gradient(dfunc, dx, dy, dz);
  }

  // Adds a partner if in_range is true, for formulas that are cheaper than a branch. With IN_R0,
  // lengths are in units of r0.
  template <class Formula, bool IN_R0 = false>
  __device__ void add_if(const FormulaConstants<Real> &c, Real dx, Real dy, Real dz, Real r_sq,
                         bool in_range)
  {
    Real s, dfunc;
    if constexpr (IN_R0)
      Formula::eval_in_r0(c, r_sq, s, dfunc);
    else
      Formula::eval_bare(c, r_sq, s, dfunc);
    if constexpr ((WANT & VIRIAL) != 0) {
      if (in_range) part[0] += s;
      add_gradient(in_range ? dfunc : Real(0), dx, dy, dz);
    } else if (in_range) {    // few instructions: they are predicated, without a branch
      part[0] += s;
      add_gradient(dfunc, dx, dy, dz);
    }
  }

  // Adds the derivatives of a partner, times a weight, if in_range is true. Does not add s. With
  // IN_R0, lengths are in units of r0.
  template <class Formula, bool IN_R0 = false>
  __device__ void add_weighted(const FormulaConstants<Real> &c, Real dx, Real dy, Real dz,
                               Real r_sq, Real weight, bool in_range)
  {
    Real s, dfunc;
    if constexpr (IN_R0)
      Formula::eval_in_r0(c, r_sq, s, dfunc);
    else
      Formula::eval_bare(c, r_sq, s, dfunc);
    add_gradient(in_range ? weight * dfunc : Real(0), dx, dy, dz);
  }

  // Adds the derivatives of a partner in range. dfunc: (ds/dr)/r. Uses explicit fma, so that
  // derivatives round alike with and without the virial. Forces therefore do not depend on whether
  // the virial is computed in this timestep.
  __device__ void add_gradient(Real dfunc, Real dx, Real dy, Real dz)
  {
    if constexpr (WANT != VALUE) {
      part[1] = fma(-dfunc, dx, part[1]);
      part[2] = fma(-dfunc, dy, part[2]);
      part[3] = fma(-dfunc, dz, part[3]);
    }
    if constexpr ((WANT & VIRIAL) != 0) {
      const Real fx = dfunc * dx, fy = dfunc * dy, fz = dfunc * dz;
      part[4] -= fx * dx;
      part[5] -= fy * dy;
      part[6] -= fz * dz;
      part[7] -= fx * dy;
      part[8] -= fx * dz;
      part[9] -= fy * dz;
    }
  }

  __device__ void flush()
  {
    if constexpr (IN_PARTS) {
#pragma unroll
      for (int k = 0; k < N; ++k) {
        total[k] += part[k];
        part[k] = 0;
      }
    }
  }

  // Call after the last partner. Multiplies the sums by the factor that the terms omit (scale) and
  // by the unit of dx, dy, dz.
  __device__ void finish(Real scale, Real unit = 1)
  {
    flush();
#pragma unroll
    for (int k = 1; k < N; ++k) sum(k) *= scale * (k < 4 ? unit : unit * unit);
  }

  // Adds the sums of the two halves of a warp. Lanes l and l +- 16 hold sums of the same two atoms.
  // Afterwards, the lower half has the sums of the first atom and the upper half those of the
  // second.
  __device__ void add_halves(AtomSums &second)
  {
    const bool upper = threadIdx.x % 32 >= 16;
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const Accumulator others = upper ? sum(k) : second.sum(k),
                        mine = upper ? second.sum(k) : sum(k);
      sum(k) = mine + __shfl_xor_sync(ALL_LANES, others, 16);
    }
  }

  // Adds the sums of another object with the same columns.
  template <class Other> __device__ void add_sums(const Other &other)
  {
#pragma unroll
    for (int k = 0; k < N; ++k) sum(k) += other.column(k);
  }

  // Adds the sums over groups of adjacent lanes of the warp. lanes: size of a group, a power of 2
  __device__ void add_lanes(int lanes = 32)
  {
    for (int distance = lanes / 2; distance > 0; distance /= 2)
#pragma unroll
      for (int k = 0; k < N; ++k) sum(k) += __shfl_xor_sync(ALL_LANES, sum(k), distance);
  }

  __device__ Accumulator column(int k) const
  {
    return const_cast<AtomSums *>(this)->sum(k);
  }

  // Stores the sums, times the weight, as row t of out.sums.
  __device__ void store(const SumsOut &out, std::size_t t)
  {
    if constexpr (COLUMNS == 1) {
      out.sums[t] = out.weight * sum(0);
      return;
    }
    double2 *const row = reinterpret_cast<double2 *>(out.sums + COLUMNS * t);
#pragma unroll
    for (int k = 0; k < COLUMNS / 2; ++k)
      row[k] = make_double2(out.weight * sum(2 * k), out.weight * sum(2 * k + 1));
  }

  // Adds value and virial over the lanes of the warp and stores them as element t of out.warp.
  // counts: this lane contributes. tested: number of distances that this lane computed
  __device__ void store_warp(const SumsOut &out, std::size_t t, bool counts, int tested = 0)
  {
    WarpSums sums = {};
    sums.tested = 32.0 * tested;
    sums.value = add_warp(counts ? out.weight * sum(0) : 0.0);
    if constexpr ((WANT & VIRIAL) != 0)
      for (int k = 0; k < 6; ++k) sums.virial[k] = add_warp(counts ? out.weight * sum(4 + k) : 0.0);
    if (threadIdx.x % 32 == 0) out.warp[t] = sums;
  }

 private:
  __device__ Accumulator &sum(int k)
  {
    if constexpr (IN_PARTS)
      return total[k];
    else
      return part[k];
  }

  Real part[N] = {};
  Accumulator total[IN_PARTS ? N : 1] = {};
};

}    // namespace gpucoord

#endif
