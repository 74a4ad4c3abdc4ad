// Part of GPUCOORD, GPL-2.0. Third-order invariants w_l of Steinhardt's order parameters.

#ifndef GPUCOORD_WIGNER_H
#define GPUCOORD_WIGNER_H

#include "gpucoord/orient_order.h"

#include <array>
#include <cmath>
#include <complex>
#include <vector>

namespace gpucoord {

// w_l = sum of (l l l; m1 m2 m3) q_m1 q_m2 q_m3 over all m1 + m2 + m3 = 0.
class Wigner {
 public:
  explicit Wigner(int l_in) : l(l_in)
  {
    for (int m1 = -l; m1 <= l; ++m1)
      for (int m2 = -l; m2 <= l; ++m2)
        if (std::abs(m1 + m2) <= l) terms.push_back({m1, m2, symbol(m1, m2)});
  }

  // Returns w_l/|q|^3, or 0 if |q| <= smallest. q: [2 l + 1] real harmonics (harmonics.h).
  double w_hat(const double *q, double smallest) const
  {
    // q_lm without the Condon-Shortley phase, whose signs cancel. q_-m = (-1)^m conj(q_m).
    std::array<std::complex<double>, 2 * MAX_L + 1> q_m;
    double norm_sq = q[0] * q[0];
    q_m[l] = q[0];
    for (int m = 1; m <= l; ++m) {
      const double re = q[2 * m - 1], im = q[2 * m];
      q_m[l + m] = std::complex<double>(re, im) * std::sqrt(0.5);
      q_m[l - m] = std::conj(q_m[l + m]) * (m % 2 ? -1.0 : 1.0);
      norm_sq += re * re + im * im;
    }
    if (!(norm_sq > smallest * smallest)) return 0.0;
    double w = 0.0;
    for (const Term &t : terms)
      w += t.symbol * (q_m[l + t.m1] * q_m[l + t.m2] * q_m[l - t.m1 - t.m2]).real();
    return w / (norm_sq * std::sqrt(norm_sq));
  }

 private:
  struct Term {
    int m1, m2;
    double symbol;
  };

  // Returns the 3j symbol (l l l; m1 m2 -m1-m2), by Racah's formula.
  double symbol(int m1, int m2) const
  {
    const int m3 = -m1 - m2;
    const auto factorial = [](int n) {
      return std::tgamma(n + 1.0);
    };
    double sum = 0.0;
    for (int k = 0; k <= l; ++k) {
      if (l - m1 - k < 0 || l + m2 - k < 0 || m1 + k < 0 || k - m2 < 0) continue;
      sum += (k % 2 ? -1.0 : 1.0) /
          (factorial(k) * factorial(l - k) * factorial(l - m1 - k) * factorial(l + m2 - k) *
           factorial(m1 + k) * factorial(k - m2));
    }
    const double triangle = factorial(l) * factorial(l) * factorial(l) / factorial(3 * l + 1);
    double product = triangle;
    for (const int m : {m1, m2, m3}) product *= factorial(l + m) * factorial(l - m);
    return (m3 % 2 ? -1.0 : 1.0) * std::sqrt(product) * sum;    // (-1)^(l - l - m3)
  }

  const int l;
  std::vector<Term> terms;
};

}    // namespace gpucoord

#endif
