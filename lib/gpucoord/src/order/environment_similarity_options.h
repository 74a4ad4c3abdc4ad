// Part of GPUCOORD, GPL-2.0. Formulas and exchanges that the backends of environment similarity
// share.

#ifndef GPUCOORD_ENVIRONMENT_SIMILARITY_OPTIONS_H
#define GPUCOORD_ENVIRONMENT_SIMILARITY_OPTIONS_H

#include "gpucoord/environment_similarity.h"

#include <cmath>

namespace gpucoord {

bool has_types(const EnvironmentOptions &);

// Throws std::invalid_argument if the input lacks types that the environments need.
void check_input(const EnvironmentOptions &, const OrderInput &);

// Returns v = 1/lambda ln sum of exp(lambda k_e) over n environments. The largest exponent is taken
// out.
inline double joined_similarity(double lambda, int n, const double *k)
{
  if (n == 1) return k[0];
  double largest = k[0], sum = 0.0;
  for (int e = 1; e < n; ++e) largest = k[e] > largest ? k[e] : largest;
  for (int e = 0; e < n; ++e) sum += std::exp(lambda * (k[e] - largest));
  return largest + std::log(sum) / lambda;
}

// Returns dv/dk of one environment.
inline double share_of_environment(double lambda, double k, double v)
{
  return std::exp(lambda * (k - v));
}

// Makes the exchanges of an evaluation after the first nmade ones, with zeros.
void make_missing_exchanges(int nmade, const EnvironmentOptions &, AtomFunction &,
                            const OrderInput &, unsigned want);

}    // namespace gpucoord

#endif
