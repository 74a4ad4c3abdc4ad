// Part of GPUCOORD, GPL-2.0. The inner loops of order parameters on the host.
//
// order_kernels_host.cpp is compiled once per instruction set, like
// ../../pairs/pair_kernels_host.cpp.

#ifndef GPUCOORD_ORDER_KERNELS_HOST_H
#define GPUCOORD_ORDER_KERNELS_HOST_H

#include "../partner_vectors_host.h"
#include "harmonics.h"

namespace gpucoord {

// Adds the sum of s R_k(d) over the partners to q, [2 l + 1].
template <class Real>
using SumHarmonicsFunction = void (*)(const HarmonicTable<Real> &, const Partners<Real> &,
                                      double *q);

// Sums of a force pass. The first three are the vector H, the sum over partners of the gradient of
// sum_k a_k s R_k(d) - c s with respect to d. a_k = own_k + (-1)^l partner_k, and c is the sum of c
// of both atoms. The other six are the symmetrized d (x) H as xx yy zz xy xz yz.
constexpr int NFORCE_SUMS = 9;

// own: [2 l + 2], own_k, then c. row_numbers: [nall][2 l + 2], the same numbers of all rows; null:
// 0.
template <class Real>
using SumForcesFunction = void (*)(const HarmonicTable<Real> &, const Partners<Real> &,
                                   const Real *own, const Real *row_numbers, double *sums);

template <class Real> struct OrderKernels {
  SumHarmonicsFunction<Real> sum_harmonics;
  SumForcesFunction<Real> sum_forces;
};

}    // namespace gpucoord

#endif
