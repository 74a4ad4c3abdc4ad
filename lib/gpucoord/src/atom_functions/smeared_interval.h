// Part of GPUCOORD, GPL-2.0. The fraction of a Gaussian that lies in an interval, for the host and
// the GPU.

#ifndef GPUCOORD_SMEARED_INTERVAL_H
#define GPUCOORD_SMEARED_INTERVAL_H

#include "definition.h"

#include <math.h>

#include <cmath>

namespace gpucoord {

// A formula (definition.h): the fraction of a Gaussian around s that lies between a and b.
struct SmearedInterval {
  double a, b, scale;
  // sigma: standard deviation of the Gaussian
  GPUCOORD_HD SmearedInterval(double a_in, double b_in, double sigma) :
      a(a_in), b(b_in), scale(1.0 / (sqrt(2.0) * sigma))
  {
  }
  GPUCOORD_HD void operator()(double s, double &value, double &derivative) const
  {
    constexpr double INV_SQRT_PI = 0.564189583547756286948;
    const double ya = (a - s) * scale, yb = (b - s) * scale;
    // Use erfc where both erf are near 1 or near -1, to avoid cancellation.
    value = ya > 0.0 ? 0.5 * (erfc(ya) - erfc(yb))
        : yb < 0.0   ? 0.5 * (erfc(-yb) - erfc(-ya))
                     : 0.5 * (erf(yb) - erf(ya));
    derivative = scale * INV_SQRT_PI * (exp(-ya * ya) - exp(-yb * yb));
  }
};

// Throws AtomFunctionError.
inline void check_interval(const AtomFunctionOptions &o)
{
  for (const double bound : {o.a, o.b})
    if (!std::isfinite(bound))
      throw AtomFunctionError(std::isfinite(o.a) ? "b" : "a",
                              "a bound is " + short_text(bound) + " but must be a finite number");
  if (!(o.a < o.b))
    throw AtomFunctionError("b",
                            "the upper bound is " + short_text(o.b) +
                                " but must be above the lower bound " + short_text(o.a));
  check_positive<AtomFunctionError>("smear", "smear", o.smear);
}

}    // namespace gpucoord

#endif
