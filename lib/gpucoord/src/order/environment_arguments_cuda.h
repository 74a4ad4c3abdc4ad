// Part of GPUCOORD, GPL-2.0. Arguments of the kernels of environment similarity.
//
// Lengths are scaled such that a Gaussian is 2^-|d - r|^2: distance times sqrt(log2(e))/(2 sigma).
// An atom has a row of the numbers k_e, or of their weights, padded to a multiple of 4.

#ifndef GPUCOORD_ENVIRONMENT_ARGUMENTS_CUDA_H
#define GPUCOORD_ENVIRONMENT_ARGUMENTS_CUDA_H

#include "partner_rows_cuda.h"

#include "../pairs/pair_arguments_cuda.h"

#include <cuda_runtime.h>

namespace gpucoord {

constexpr int FCC_VECTORS = 12;

template <class Real> struct EnvironmentArguments : PartnersWithin<Real> {
  Real scale;    // from differences of points to scaled lengths
  int n;         // number of environments
  int stride;    // numbers of a row
  // x, y, z and the class (class_of()) of the partner, -1: any. Environment e has those from
  // first[e] to first[e + 1] - 1.
  const Four<Real> *vectors;
  const int *first;           // [n + 1]
  const int *is_symmetric;    // [n] the environment has -r for each r, and no types
  // Half the lattice constant h, if there is one environment, that of fcc, (+-h, +-h, 0) and so on,
  // without types; 0 otherwise
  Real half_fcc;
  bool has_types;    // a vector has a class
  double lambda;
  Real *numbers;        // [atoms][stride] k_e
  double *value;        // [nlocal] v
  int *any_partners;    // set to 1 if a row of a has partners
};

template <class Real> struct EnvironmentForceArguments {
  EnvironmentArguments<Real> environments;
  // [points][stride] dS/dk_e over n_e. Null: those of one environment are next to the positions, in
  // place of the class. Only in float.
  const Real *weights;
  PartnerArguments out;
  double slope_scale, virial_scale;    // from the sums of the kernel to dS/dx and W
  bool has_two_groups;
  int columns;    // number of columns of out.sums
};

// Each function enqueues a kernel. Throws DeviceError.
//
// With half_fcc, the first one also lists the partners in range. Otherwise they are listed before.
void sum_environments(const EnvironmentArguments<float> &, cudaStream_t);
void sum_environments(const EnvironmentArguments<double> &, cudaStream_t);
// want: as want_of_forces() (resident_order.cuh)
void sum_environment_forces(const EnvironmentForceArguments<float> &, unsigned want, cudaStream_t);
void sum_environment_forces(const EnvironmentForceArguments<double> &, unsigned want, cudaStream_t);

}    // namespace gpucoord

#endif
