// Part of GPUCOORD, GPL-2.0. The shape of a hill.

#ifndef GPUCOORD_GAUSSIAN_H
#define GPUCOORD_GAUSSIAN_H

#include "gpucoord/metadynamics.h"

#include <cmath>

namespace gpucoord {

constexpr double HILL_END = 6.25;                           // u_max
constexpr double HILL_END_VALUE = 0.0019304541362277093;    // exp(-u_max)
constexpr double HILL_STRETCH = 1.0 / (1.0 - HILL_END_VALUE);

// Returns value = h exp(-u)/(1 - exp(-u_max)), or 0 for u >= u_max. Sets z to (s - center)/sigma^2;
// the derivative is -value z. V of the hill is value - hill_offset().
// period: [n]
inline double stretched_exponential(const Hill &hill, int n, const Period *period, const double *s,
                                    double *z)
{
  double u = 0.0;
  for (int k = 0; k < n; ++k) {
    const double d = period[k].difference(s[k], hill.center[k]) / hill.sigma[k];
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
