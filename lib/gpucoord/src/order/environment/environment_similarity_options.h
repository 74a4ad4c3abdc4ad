// Part of GPUCOORD, GPL-2.0. Formulas that the backends of environment similarity share.

#ifndef GPUCOORD_ENVIRONMENT_SIMILARITY_OPTIONS_H
#define GPUCOORD_ENVIRONMENT_SIMILARITY_OPTIONS_H

#include "../../core/config.h"

#include "gpucoord/environment_similarity.h"

#include <math.h>

namespace gpucoord {

// Returns whether an environment has -r_k for each r_k. Ignores types.
bool equals_its_inverse(const Environment &);

// Throws std::invalid_argument if the input lacks types that the environments need.
void check_types(const EnvironmentOptions &, const OrderInput &);

// Returns v = 1/lambda ln sum of exp(lambda k_e) over n environments. The largest exponent is
// factored out to avoid overflow.
template <class Real> GPUCOORD_HD double joined_similarity(double lambda, int n, const Real *k)
{
  if (n == 1) return k[0];
  double largest = k[0], sum = 0.0;
  for (int e = 1; e < n; ++e) largest = k[e] > largest ? k[e] : largest;
  for (int e = 0; e < n; ++e) sum += exp(lambda * (k[e] - largest));
  return largest + log(sum) / lambda;
}

// Returns dv/dk of one environment.
GPUCOORD_HD double environment_weight(double lambda, double k, double v)
{
  return exp(lambda * (k - v));
}

}    // namespace gpucoord

#endif
