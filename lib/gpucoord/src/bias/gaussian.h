// Part of GPUCOORD, GPL-2.0. The shape of a hill.

#ifndef GPUCOORD_GAUSSIAN_H
#define GPUCOORD_GAUSSIAN_H

#include "gpucoord/metadynamics.h"

#include <cmath>

namespace gpucoord {

constexpr double HILL_END = 6.25;                           // u_max
constexpr double HILL_END_VALUE = 0.0019304541362277093;    // exp(-u_max)
constexpr double HILL_STRETCH = 1.0 / (1.0 - HILL_END_VALUE);

// exp(-u) of a hill at s, stretched and with its height, or 0 where the hill has ended. The hill's
// value is that less its offset; z: (s - center)/sigma^2, by which a derivative is minus that times
// z.
inline double stretched_exponential(const Hill &hill, int n, const double *s, double *z)
{
  double u = 0.0;
  for (int k = 0; k < n; ++k) {
    const double d = (s[k] - hill.center[k]) / hill.sigma[k];
    u += 0.5 * d * d;
    if (!(u < HILL_END)) return 0.0;
    z[k] = d / hill.sigma[k];
  }
  return hill.height * HILL_STRETCH * std::exp(-u);
}

inline double hill_offset(const Hill &hill)
{
  return hill.height * HILL_STRETCH * HILL_END_VALUE;
}

}    // namespace gpucoord

#endif
