// Part of GPUCOORD, GPL-2.0. A polynomial in r^2 for erf(alpha r)/r within a cutoff. The function
// is analytic in r^2.
//
// The polynomial in u = 2 (r/cutoff)^2 - 1 interpolates the function at the Chebyshev points of
// [-1, 1]. Its error is hardly larger than that of the best polynomial. The error of the function,
// in units of 1/cutoff, is 1e-11 at alpha cutoff = 3 and 8e-10 at 3.5. The error of the derivative
// with respect to r, in units of 1/cutoff^2, is 5e-7 at the cutoff for alpha cutoff = 3.5, and
// twenty times larger for 4.

#ifndef GPUCOORD_ERF_SERIES_H
#define GPUCOORD_ERF_SERIES_H

#include <cmath>

namespace gpucoord {

struct ErfSeries {
  static constexpr int TERMS = 17;
  // Largest alpha cutoff whose errors do not exceed those of float.
  static constexpr double LARGEST = 3.5;

  double coefficient[TERMS] = {};    // coefficients of u^0, u^1, ..., 1/distance

  // Makes the series. alpha (1/distance) and cutoff (distance) must be positive.
  static ErfSeries make(double alpha, double cutoff)
  {
    constexpr double PI = 3.14159265358979323846;
    double chebyshev[TERMS] = {};
    for (int j = 0; j < TERMS; ++j) {
      const double angle = PI * (j + 0.5) / TERMS,
                   r = cutoff * std::sqrt(0.5 * (std::cos(angle) + 1.0));
      const double value = std::erf(alpha * r) / r;
      for (int k = 0; k < TERMS; ++k)
        chebyshev[k] += (k == 0 ? 1.0 : 2.0) / TERMS * value * std::cos(k * angle);
    }
    // Chebyshev recursion: T_0 = 1, T_1 = u, T_{k+1} = 2u T_k - T_{k-1}.
    ErfSeries series;
    double before[TERMS + 1] = {}, polynomial[TERMS + 1] = {1.0};
    for (int k = 0; k < TERMS; ++k) {
      double next[TERMS + 1];
      for (int i = 0; i < TERMS; ++i) series.coefficient[i] += chebyshev[k] * polynomial[i];
      for (int i = 0; i <= TERMS; ++i)
        next[i] = (i > 0 ? (k == 0 ? 1.0 : 2.0) * polynomial[i - 1] : 0.0) - before[i];
      for (int i = 0; i <= TERMS; ++i) {
        before[i] = polynomial[i];
        polynomial[i] = next[i];
      }
    }
    return series;
  }
};

}    // namespace gpucoord

#endif
