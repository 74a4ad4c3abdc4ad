// Part of GPUCOORD, GPL-2.0. Weights of a second pass on the host. Not for nvcc, whose host code
// has no OpenMP.

#ifndef GPUCOORD_WEIGHTS_HOST_H
#define GPUCOORD_WEIGHTS_HOST_H

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gpucoord {

// Returns a power of two near the largest weight, or 0 if all weights are 0. Weights divided by it
// fit a float.
inline double unit_of(const double *weights, std::int64_t n, int nthreads)
{
  double largest = 0.0;
#pragma omp parallel for schedule(static) num_threads(nthreads) reduction(max \
                                                                          : largest) if (n > 4096)
  for (std::int64_t k = 0; k < n; ++k) largest = std::max(largest, std::fabs(weights[k]));
  if (!(largest > 0.0)) return 0.0;
  int exponent;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0, exponent);
}

}    // namespace gpucoord

#endif
