// Part of GPUCOORD, GPL-2.0. Arguments of the kernels of environment similarity.
//
// Lengths are scaled by sqrt(log2(e))/(2 sigma), so that a Gaussian is 2^-|d - r|^2. Each atom has
// a row of the numbers k_e, or of their weights, padded to a multiple of 4.

#ifndef GPUCOORD_ENVIRONMENT_ARGUMENTS_CUDA_H
#define GPUCOORD_ENVIRONMENT_ARGUMENTS_CUDA_H

#include "../partners_in_range.h"

#include "../../pairs/pair_arguments_cuda.h"

#include <cuda_runtime.h>

namespace gpucoord {

constexpr int FCC_VECTORS = 12;

template <class Real> struct EnvironmentArguments : PartnersWithin<Real> {
  Real scale;    // scaled lengths per unit of the points
  int n;         // number of environments
  int stride;    // numbers per row
  // Components x, y, z, and the class (class_of()) of the partner; -1: any class. Vectors first[e]
  // to first[e + 1] - 1 belong to environment e.
  const Four<Real> *vectors;
  const int *first;           // [n + 1]
  const int *is_symmetric;    // [n] the environment has no types, and has -r for each r
  // Half the lattice constant h if the only environment is fcc, (+-h, +-h, 0) and permutations,
  // without types; otherwise 0.
  Real half_fcc;
  bool has_types;    // at least one vector has a class
  double lambda;
  Real *numbers;        // [atoms][stride] k_e
  double *value;        // [nlocal] v
  int *any_partners;    // set to 1 if a row of group a has partners
};

template <class Real> struct EnvironmentForceArguments {
  EnvironmentArguments<Real> environments;
  // [points][stride] dS/dk_e over n_e. Null (only in float, with one environment): the weight is
  // next to the position of the point, in place of the class.
  const Real *weights;
  RowArguments out;
  double gradient_scale, virial_scale;    // factors from the sums of the kernel to dS/dx and W
  bool has_two_groups;
  int columns;    // number of columns of out.sums
};

// Each function enqueues a kernel. Throws DeviceError.
//
// If half_fcc is set, sum_environments() also lists the partners in range. Otherwise the caller has
// already listed them.
void sum_environments(const EnvironmentArguments<float> &, cudaStream_t);
void sum_environments(const EnvironmentArguments<double> &, cudaStream_t);
// want: see want_of_forces() in resident_order.cuh
void sum_environment_forces(const EnvironmentForceArguments<float> &, unsigned want, cudaStream_t);
void sum_environment_forces(const EnvironmentForceArguments<double> &, unsigned want, cudaStream_t);

}    // namespace gpucoord

#endif
