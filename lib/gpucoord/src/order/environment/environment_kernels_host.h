// Part of GPUCOORD, GPL-2.0. The inner loops of environment similarity on the host.
//
// environment_kernels_host.cpp is compiled once per instruction set, like
// ../../pairs/pair_kernels_host.cpp.

#ifndef GPUCOORD_ENVIRONMENT_KERNELS_HOST_H
#define GPUCOORD_ENVIRONMENT_KERNELS_HOST_H

#include "../partner_vectors_host.h"

namespace gpucoord {

// The vectors of n environments, in units of 2 sigma. Vectors first[e] to first[e + 1] - 1 belong
// to environment e.
template <class Real> struct EnvironmentTable {
  int n;
  const int *first;            // [n + 1]
  const Real *x, *y, *z;       // [first[n]]
  const int *type;             // [first[n]] type of the partner; 0: any type; null: all are 0
  const char *is_symmetric;    // [n] the environment has no types, and has -r_k for each r_k
  Real scale;                  // 1/(2 sigma)
};

// Adds, for each environment, the sum of exp(-|d - r_k|^2/(4 sigma^2)) over partners and vectors to
// sums, [table.n]. types: [nall], needed if the table has types.
template <class Real>
using SumEnvironmentsFunction = void (*)(const EnvironmentTable<Real> &,
                                         const PartnerVectors<Real> &, const int *types,
                                         double *sums);

// Sums of the force pass. The first three are the vector H, the sum over partners of the gradient
// of sum_e [own_e phi_e(d) + partner_e phi_e(-d)] with respect to d. phi_e(d) is the sum over the
// vectors of e; phi_e(-d) uses the vectors for the type of the atom itself. The other six, H_a d_b,
// are xx yy zz xy xz yz.
constexpr int NENVIRONMENT_SUMS = 9;

// own: [table.n], own_e. row_weights: [nall][table.n], partner_e of all rows; null: 0.
template <class Real>
using SumEnvironmentForcesFunction = void (*)(const EnvironmentTable<Real> &,
                                              const PartnerVectors<Real> &, const int *types,
                                              int own_type, const Real *own,
                                              const Real *row_weights, double *sums);

template <class Real> struct EnvironmentKernels {
  SumEnvironmentsFunction<Real> sum;
  SumEnvironmentForcesFunction<Real> sum_forces;
};

}    // namespace gpucoord

#endif
