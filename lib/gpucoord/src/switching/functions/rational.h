// Part of GPUCOORD, GPL-2.0. rational: (1 - x^n)/(1 - x^m), in six forms.

#ifndef GPUCOORD_SWITCH_RATIONAL_H
#define GPUCOORD_SWITCH_RATIONAL_H

#include "../definition.h"
#include "../formula.h"

#include <cmath>

namespace gpucoord {

// Returns x^n for n >= 0, by squaring. The number of iterations is fixed and the conditions do not
// depend on x, so that a loop over pairs vectorizes. A square beyond the highest bit of n may
// overflow, but is never used.
template <class Real> GPUCOORD_HD Real power(Real x, int n)
{
  Real result = 1, square = x;
  for (int bit = 0; bit < 7; ++bit) {
    result = (n >> bit) & 1 ? result * square : result;
    square *= square;
  }
  return result;
}
constexpr int MAX_INTEGER_EXPONENT = 127;    // limit of power()

// Returns how rational is evaluated. 2: in squares, with n/2 and m/2. 1: with integer n and m. 0:
// with logarithms. Integer powers and sums lose up to one digit per factor of ten in the exponent.
// Above these limits, logarithms are as accurate and faster.
GPUCOORD_HD int exponent_divisor(const SwitchOptions &o)
{
  for (int divisor = o.d0 == 0.0 ? 2 : 1; divisor > 0; --divisor) {
    const double n = o.n / divisor, m = o.m / divisor;
    if (n != std::floor(n) || m != std::floor(m)) continue;
    if (m == 2 * n ? n <= MAX_INTEGER_EXPONENT : m <= 128) return divisor;
  }
  return 0;
}

template <> struct Definition<SwitchKind::RATIONAL> : AnyFunction {
  static constexpr const char *NAME = "rational";
  static std::vector<SwitchParameter> parameters() { return {parameter::NN, parameter::MM}; }

  static void check(SwitchOptions &o)
  {
    require_positive<SwitchError>("n", "nn", o.n);
    if (std::isnan(o.m)) o.m = 2 * o.n;
    require_positive<SwitchError>("m", "mm", o.m);
    if (o.m == o.n)
      throw SwitchError(
          "m", "mm equals nn = " + short_text(o.n) + ", so s would be 1 everywhere: give mm > nn");
    if (o.m < o.n)
      throw SwitchError("m",
                        "mm is " + short_text(o.m) + " but must be larger than nn = " +
                            short_text(o.n) + ", or s would grow with distance");
    if (std::isnan(o.dmax)) o.dmax = o.d0 + o.r0 * std::pow(1e-5, 1.0 / (o.n - o.m));
  }

  template <class Real> static void set_constants(const SwitchOptions &o, SwitchConstants<Real> &c)
  {
    c.n = static_cast<Real>(o.n);
    c.m = static_cast<Real>(o.m);
    c.q = static_cast<Real>(o.m - o.n);
    if (const int divisor = exponent_divisor(o)) {
      c.in = static_cast<int>(o.n) / divisor;
      c.im = static_cast<int>(o.m) / divisor;
    }
  }
};

namespace shape {

  // rational with integer exponents, n < m: the ratio of the geometric sums P_k = 1 + x + ... +
  // x^(k-1),
  //   phi = P_n / P_m,   dphi/dx = -x^(n-1) G / P_m^2,
  // where (1-x)^2 G = n - m x^q + q x^m, q = m - n. P and G have only positive coefficients, so
  // that no digits are lost, including x = 1. For x > 1, the same sums are evaluated in powers of
  // 1/x, which cannot overflow.
  struct RationalInteger : Shape {
    static GPUCOORD_HD bool fits(const SwitchOptions &o, int power)
    {
      return exponent_divisor(o) == power;
    }
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &c, Real x, Real &s, Real &ds)
    {
      const int n = c.in, m = c.im, q = m - n;
      const bool inside = x <= Real(1);
      const Real y = inside ? x : Real(1) / x;
      Real pn = 1, pm = 1, yn1 = 1, yq = 1;
      for (int k = 1; k < m; ++k) {
        pm = pm * y + Real(1);
        if (k < n) {
          pn = pn * y + Real(1);
          yn1 *= y;
        }
        if (k <= q) yq *= y;
      }
      Real g = 0;
      for (int t = 0; t <= m - 2; ++t) {
        const int k = inside ? m - 2 - t : t;
        const int coefficient = n * (k + 1) - (k >= q ? m * (k - q + 1) : 0);
        g = g * y + Real(coefficient);
      }
      const Real inv_pm = Real(1) / pm;
      s = (inside ? Real(1) : yq) * pn * inv_pm;
      ds = -(inside ? yn1 : yq * y) * g * inv_pm * inv_pm;
    }
  };

  // rational with m = 2n: 1/(1+x^n), without a singularity. For x > 1, it is evaluated in powers of
  // 1/x, which cannot overflow.
  struct RationalTwice : Shape {
    static GPUCOORD_HD bool fits(const SwitchOptions &o, int power)
    {
      return RationalInteger::fits(o, power) && o.m == 2 * o.n;
    }
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &c, Real x, Real &s, Real &ds)
    {
      const bool inside = x <= Real(1);
      const Real y = inside ? x : Real(1) / x;
      const Real yn1 = power(y, c.in - 1);
      const Real yn = yn1 * y;
      const Real f = Real(1) / (Real(1) + yn);
      s = inside ? f : yn * f;
      ds = -Real(c.in) * (inside ? yn1 : yn * y) * f * f;
    }
  };

  // rational 6/12 in r^2, the most common default: 1/(1+y^3)
  struct RationalCubeTwice : Shape {
    static constexpr int FACTOR = -3;
    static constexpr bool CHEAP = true, IN_R0 = true;
    static GPUCOORD_HD bool fits(const SwitchOptions &o, int power)
    {
      return RationalTwice::fits(o, power) && o.n == 6;
    }
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &, Real y, Real &s, Real &ds)
    {
      const Real y2 = y * y;
      s = reciprocal(Real(1) + y2 * y);
      const Real ys = y * s;    // y^2 alone may overflow where s is 0
      ds = ys * ys;             // FACTOR is omitted
    }
  };

  // rational with any exponents 0 < n < m. With u = |ln x|, E_k = 1 - e^(-k u), q = m - n:
  //   x > 1:  phi = e^(-q u) E_n/E_m, d ln phi/d ln x = (n e^(-n u) E_q - q E_n)/(E_n E_m)
  //   x < 1:  phi = E_n/E_m,          d ln phi/d ln x = (q e^(-m u) E_n - n e^(-n u) E_q)/(E_n E_m)
  // These do not overflow, and they lose no digits if n is close to m. Near x = 1, the two terms of
  // the derivative cancel. For m u < 1/2, the derivative is therefore computed from the series of
  // t/(1-e^(-t)) (Bernoulli numbers).
  struct RationalReal : Shape {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &c, Real x, Real &s, Real &ds)
    {
      const Real n = c.n, m = c.m, q = c.q;
      const Real l = logarithm(x), u = fabs(l);
      const Real en = -exponential_minus_1(-n * u), em = -exponential_minus_1(-m * u),
                 eq = -exponential_minus_1(-q * u);
      const bool outside = l > Real(0);
      s = l == Real(0) ? n / m : (outside ? exponential(-q * u) : Real(1)) * en / em;
      Real derivative;
      if (m * u < Real(0.5)) {
        const Real coefficient[7] = {Real(1.0 / 12.0),         Real(-1.0 / 720.0),
                                     Real(1.0 / 30240.0),      Real(-1.0 / 1209600.0),
                                     Real(1.0 / 47900160.0),   Real(-691.0 / 1307674368000.0),
                                     Real(1.0 / 74724249600.0)};
        const Real n2 = n * n, m2 = m * m, l2 = l * l;
        const Real first = -q * (n + m);                       // n^2 - m^2
        Real difference = first, m_power = m2, l_power = l;    // n^2k - m^2k, m^2k, l^(2k-1)
        derivative = Real(-0.5) * q;
        for (int k = 0; k < 7; ++k) {
          derivative += coefficient[k] * difference * l_power;
          difference = n2 * difference + m_power * first;
          m_power *= m2;
          l_power *= l2;
        }
      } else if (outside) {
        derivative = (n * exponential(-n * u) * eq - q * en) / (en * em);
      } else {
        derivative = (q * exponential(-m * u) * en - n * exponential(-n * u) * eq) / (en * em);
      }
      ds = s * derivative / x;
    }
  };

}    // namespace shape

}    // namespace gpucoord

#endif
