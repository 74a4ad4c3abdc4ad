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

// An environment with reflections: it has all vectors that differ from r by signs of x, y and z, as
// often as r, and no types, and components of vectors are 0 or +-h, with one h for each axis. Its
// sum of Gaussians is the sum of c[4 i + 2 j + k] X_i Y_j Z_k, where X_0 = 2^-x^2 and
// X_1 = 2^-(x - h)^2 + 2^-(x + h)^2. This takes 9 exponential functions for any number of vectors.
template <class Real> struct ReflectedEnvironment {
  Real h[3];    // by axis; 0: all components are 0
  Real c[8];    // how often vectors have 0 (i = 0) or +-h (i = 1) along x, and so on
};

template <class Real> struct EnvironmentArguments : PartnersWithin<Real> {
  Real scale;    // from differences of points to scaled lengths
  int n;         // number of environments
  int stride;    // numbers of a row
  // x, y, z and the class (class_of()) of the partner, -1: any. Environment e has those from
  // first[e] to first[e + 1] - 1.
  const Four<Real> *vectors;
  const int *first;           // [n + 1]
  const int *is_symmetric;    // [n] the environment has -r for each r, and no types
  // [n] all environments have reflections; null: not all of them
  const ReflectedEnvironment<Real> *reflected;
  bool has_types;    // a vector has a class
  double lambda;
  Real *numbers;        // [atoms][stride] k_e
  double *value;        // [nlocal] v
  int *any_partners;    // set to 1 if a row of a has partners
};

template <class Real> struct EnvironmentForceArguments {
  EnvironmentArguments<Real> environments;
  const Real *weights;    // [points][stride] dS/dk_e over n_e
  PartnerArguments out;
  double slope_scale, virial_scale;    // from the sums of the kernel to dS/dx and W
  bool has_two_groups;
  int columns;    // number of columns of out.sums
};

// Each function enqueues a kernel. Throws DeviceError.
void sum_environments(const EnvironmentArguments<float> &, cudaStream_t);
void sum_environments(const EnvironmentArguments<double> &, cudaStream_t);
// want: as want_of_forces() (resident_order.cuh)
void sum_environment_forces(const EnvironmentForceArguments<float> &, unsigned want, cudaStream_t);
void sum_environment_forces(const EnvironmentForceArguments<double> &, unsigned want, cudaStream_t);

}    // namespace gpucoord

#endif
