// Part of GPUCOORD, GPL-2.0. The inner loops of environment similarity on the host.
//
// environment_kernels_host.cpp is compiled once for each instruction set, as
// ../pairs/pair_kernels_host.cpp.

#ifndef GPUCOORD_ENVIRONMENT_KERNELS_HOST_H
#define GPUCOORD_ENVIRONMENT_KERNELS_HOST_H

namespace gpucoord {

// The vectors of n environments over 2 sigma. Environment e has those from first[e] to
// first[e + 1] - 1.
template <class Real> struct EnvironmentTable {
  int n;
  const int *first;            // [n + 1]
  const Real *x, *y, *z;       // [first[n]]
  const int *type;             // [first[n]] of the partner, 0: any; null: all are 0
  const char *is_symmetric;    // [n] the environment has -r_k for each r_k, and no types
  Real scale;                  // 1/(2 sigma)
};

// The partners of an atom.
template <class Real> struct PartnerVectors {
  int n;
  const Real *x, *y, *z;    // [n] from the atom to the partner, distance
  const int *row;           // [n] row of the partner
};

// Adds the sums of exp(-|d - r_k|^2/(4 sigma^2)) over partners and vectors of each environment to
// sums, [table.n]. types: [nall], if the table has types.
template <class Real>
using SumEnvironmentsFunction = void (*)(const EnvironmentTable<Real> &,
                                         const PartnerVectors<Real> &, const int *types,
                                         double *sums);

// Sums of the pass for forces: H = sum of the gradients of
// sum_e [own_e phi_e(d) + partner_e phi_e(-d)] with respect to d, where phi_e is the sum over the
// vectors of e; then H_a d_b as xx yy zz xy xz yz. phi_e(-d) uses the vectors for the
// type of the atom itself.
constexpr int NENVIRONMENT_SUMS = 9;

// own: [table.n]. of_rows: the same of all rows, [nall][table.n]; null: 0.
template <class Real>
using SumEnvironmentForcesFunction = void (*)(const EnvironmentTable<Real> &,
                                              const PartnerVectors<Real> &, const int *types,
                                              int own_type, const Real *own, const Real *of_rows,
                                              double *sums);

template <class Real> struct EnvironmentKernels {
  SumEnvironmentsFunction<Real> sum;
  SumEnvironmentForcesFunction<Real> sum_forces;
};

// Real is float for SINGLE and MIXED, and double for DOUBLE.
template <class Real> EnvironmentKernels<Real> select_environment_kernels();

}    // namespace gpucoord

#endif
