// Part of GPUCOORD, GPL-2.0. Vectors of partners that the kernels of order parameters evaluate
// together. Include this header only in sources that are compiled once per instruction set.
// Everything in it has internal linkage, so that the linker never picks a copy for a newer
// processor.

#ifndef GPUCOORD_LANES_HOST_H
#define GPUCOORD_LANES_HOST_H

#include <algorithm>

namespace gpucoord {

namespace {

  template <class Real> constexpr int LANES = 64 / static_cast<int>(sizeof(Real));

  template <class Real> struct alignas(64) Lanes {
    Real v[LANES<Real>];
  };

  // A loop over the lanes. Its body follows in braces.
#define FOR_EACH_LANE(W) _Pragma("omp simd") for (int W = 0; W < LANES<Real>; ++W)

  // Returns how many of the partners from 'first' on fit into the lanes.
  template <class Real> int lanes_of(int npartners, int first)
  {
    return std::min(LANES<Real>, npartners - first);
  }

  // Loads n lanes and sets the others to 0.
  template <class Real> void load(int n, const Real *from, Lanes<Real> &to)
  {
    for (int w = 0; w < LANES<Real>; ++w) to.v[w] = w < n ? from[w] : Real(0);
  }

  template <class Real> double sum_of(const Lanes<Real> &lanes)
  {
    Real sum = 0;
    for (int w = 0; w < LANES<Real>; ++w) sum += lanes.v[w];
    return sum;
  }

}    // namespace

}    // namespace gpucoord

#endif
