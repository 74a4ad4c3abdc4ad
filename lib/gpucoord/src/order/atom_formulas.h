// Part of GPUCOORD, GPL-2.0. Functions of a per-atom value (atom_function.h), for the host and the
// GPU.

#ifndef GPUCOORD_ATOM_FORMULAS_H
#define GPUCOORD_ATOM_FORMULAS_H

#include "../core/config.h"

#include <math.h>

namespace gpucoord {

// MORE_THAN and LESS_THAN. sigma(s, value, derivative) sets sigma and its derivative. It is only
// called above d0.
template <class Sigma>
GPUCOORD_HD void threshold(bool is_more, double d0, double s, double &value, double &derivative,
                           const Sigma &sigma)
{
  value = 1.0;
  derivative = 0.0;
  if (s > d0) sigma(s, value, derivative);
  if (is_more) {
    value = 1.0 - value;
    derivative = -derivative;
  }
}

// BETWEEN: the fraction of a Gaussian around s that lies between a and b.
struct Interval {
  double a, b, scale;
  // smear: standard deviation of the Gaussian, in units of b - a
  Interval(double a_in, double b_in, double smear) :
      a(a_in), b(b_in), scale(1.0 / (sqrt(2.0) * smear * (b - a)))
  {
  }
  GPUCOORD_HD void evaluate(double s, double &value, double &derivative) const
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

}    // namespace gpucoord

#endif
