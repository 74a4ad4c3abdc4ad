// Part of GPUCOORD, GPL-2.0. The switching functions, each written once.
//
// A shape gives the unstretched s'(x) and its derivative over FACTOR for x > 0. The wrappers
// PlainSwitch and SquaredSwitch turn a squared distance into x, apply the
// stretch and return s and dfunc = (ds/dr)/r, which is what forces need.
// eval_bare() leaves out a factor of dfunc that is the same for all pairs, scale():
// a kernel may apply it to sums.
//
// Names and defaults follow PLUMED's switchingfunction (Tribello et al.,
// Comput. Phys. Commun. 185, 604 (2014)). The forms differ where PLUMED's lose
// digits; each place says why.

#ifndef GPUCOORD_SWITCH_FORMULAS_H
#define GPUCOORD_SWITCH_FORMULAS_H

#include "../core/config.h"
#include "../core/reciprocal.h"
#include "../core/vector_math.h"

#include <math.h>

namespace gpucoord {

// Constants of one switching function, rounded to the precision of the kernel.
// Distances are in the caller's units.
template <class Real> struct SwitchConstants {
  Real inv_r0;       // 1/r0, 1/distance
  Real inv_r0_sq;    // 1/r0^2
  Real d0;           // s = 1 up to here, distance
  Real dmax_sq;      // s = 0 beyond, distance^2; always finite: r^2 that overflows is out of range
  Real stretch;      // s = s' stretch + shift
  Real shift;
  Real top;             // s for r <= d0
  Real dfunc_scale;     // (ds/dr)/r = ds'/dx dfunc_scale/r or, in squares, ds'/dy dfunc_scale
  Real n, m, q;         // exponents of rational as real numbers, and m - n
  Real a, b, k;         // smap: a, b and (2^(a/b) - 1)^(1/a)
  Real beta, center;    // q: beta, 1/distance, and lambda ref - d0, distance
  int in, im;           // integer exponents; halved for SquaredSwitch
  Real rise, inv_rise, fall,
      inv_fall;    // of window(): where it begins to rise and to fall, distance, and 1/width
};

// x^2 (3 - 2 x) from 0 to 1
template <class Real> GPUCOORD_HD Real smooth_step(Real x)
{
  const Real t = x < Real(0) ? Real(0) : x > Real(1) ? Real(1) : x;
  return t * t * (Real(3) - Real(2) * t);
}

// the share of a pair in one level of rRESPA (Plimpton, Pollock, Stevens, 8th SIAM Conf. Parallel
// Processing (1997))
template <class Real> GPUCOORD_HD Real window(const SwitchConstants<Real> &c, Real r_sq)
{
  const Real r = sqrt(r_sq);
  return smooth_step((r - c.rise) * c.inv_rise) *
      (Real(1) - smooth_step((r - c.fall) * c.inv_fall));
}

// x^n for n >= 0 by squaring. The trip count is fixed and the conditions do not
// depend on x, so a loop over pairs vectorizes; a square beyond the highest bit
// of n may overflow but is never used.
template <class Real> GPUCOORD_HD Real power(Real x, int n)
{
  Real result = 1, square = x;
  for (int bit = 0; bit < 7; ++bit) {
    result = (n >> bit) & 1 ? result * square : result;
    square *= square;
  }
  return result;
}
constexpr int MAX_INTEGER_EXPONENT = 127;    // what power() reaches

namespace shape {

  struct NoFactor {
    static constexpr int FACTOR = 1;
  };

  // rational 6/12 in r^2, the default of every program in the field: 1/(1+y^3)
  struct RationalCubeTwice {
    static constexpr int FACTOR = -3;
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &, Real y, Real &s, Real &ds)
    {
      const Real y2 = y * y;
      s = reciprocal(Real(1) + y2 * y);
      const Real ys = y * s;    // y^2 alone may overflow where s is 0
      ds = ys * ys;             // without the factor
    }
  };

  // rational with m = 2n: 1/(1+x^n), no singularity. For x > 1 in powers of
  // 1/x, which cannot overflow.
  struct RationalTwice : NoFactor {
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

  // rational with integer exponents, n < m: the ratio of the geometric sums
  // P_k = 1 + x + ... + x^(k-1),
  //   s' = P_n / P_m,   ds'/dx = -x^(n-1) G / P_m^2,
  // where (1-x)^2 G = n - m x^q + q x^m, q = m - n. P and G have positive
  // coefficients only, so nothing cancels at x = 1 or anywhere else. For x > 1
  // the same sums run in powers of 1/x, which cannot overflow.
  struct RationalInteger : NoFactor {
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

  // rational with any exponents 0 < n < m. With u = |ln x|, E_k = 1 - e^(-k u), q = m - n:
  //   x > 1:  s' = e^(-q u) E_n/E_m,  d ln s'/d ln x = (n e^(-n u) E_q - q E_n)/(E_n E_m)
  //   x < 1:  s' = E_n/E_m,           d ln s'/d ln x = (q e^(-m u) E_n - n e^(-n u) E_q)/(E_n E_m)
  // which neither overflow nor lose digits where n is near m. Near x = 1 the two terms of the
  // slope cancel, so for m u < 1/2 it is taken from the series of t/(1-e^(-t)) (Bernoulli numbers).
  struct RationalReal : NoFactor {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &c, Real x, Real &s, Real &ds)
    {
      const Real n = c.n, m = c.m, q = c.q;
      const Real l = logarithm(x), u = fabs(l);
      const Real en = -exponential_minus_1(-n * u), em = -exponential_minus_1(-m * u),
                 eq = -exponential_minus_1(-q * u);
      const bool outside = l > Real(0);
      s = l == Real(0) ? n / m : (outside ? exponential(-q * u) : Real(1)) * en / em;
      Real slope;
      if (m * u < Real(0.5)) {
        const Real coefficient[7] = {Real(1.0 / 12.0),         Real(-1.0 / 720.0),
                                     Real(1.0 / 30240.0),      Real(-1.0 / 1209600.0),
                                     Real(1.0 / 47900160.0),   Real(-691.0 / 1307674368000.0),
                                     Real(1.0 / 74724249600.0)};
        const Real n2 = n * n, m2 = m * m, l2 = l * l;
        const Real first = -q * (n + m);                       // n^2 - m^2
        Real difference = first, m_power = m2, l_power = l;    // n^2k - m^2k, m^2k, l^(2k-1)
        slope = Real(-0.5) * q;
        for (int k = 0; k < 7; ++k) {
          slope += coefficient[k] * difference * l_power;
          difference = n2 * difference + m_power * first;
          m_power *= m2;
          l_power *= l2;
        }
      } else if (outside) {
        slope = (n * exponential(-n * u) * eq - q * en) / (en * em);
      } else {
        slope = (q * exponential(-m * u) * en - n * exponential(-n * u) * eq) / (en * em);
      }
      ds = s * slope / x;
    }
  };

  struct Exponential : NoFactor {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &, Real x, Real &s, Real &ds)
    {
      s = exponential(-x);
      ds = -s;
    }
  };

  struct Gaussian : NoFactor {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &, Real x, Real &s, Real &ds)
    {
      s = exponential(Real(-0.5) * x * x);
      ds = -x * s;
    }
  };

  // smap: (1 + y^a)^(-b/a), y = (2^(a/b) - 1)^(1/a) x (Ceriotti, Tribello, Parrinello, PNAS 2011)
  struct Smap : NoFactor {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &c, Real x, Real &s, Real &ds)
    {
      const Real y = c.k * x;
      const Real ya = real_power(y, c.a);
      const Real base = Real(1) + ya;
      // far out y^a overflows before s is 0; there s = y^(-b)
      s = ya > Real(1e30) ? real_power(y, -c.b) : real_power(base, -c.b / c.a);
      const Real ratio = ya < Real(1) ? ya / base : Real(1) - Real(1) / base;    // y^a/(1 + y^a)
      ds = -c.b * ratio * s / x;
    }
  };

  // cubic: (x-1)^2 (1+2x), C1 at both ends
  struct Cubic : NoFactor {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &, Real x, Real &s, Real &ds)
    {
      const Real t = x - Real(1);
      s = t * t * (Real(1) + Real(2) * x);
      ds = Real(6) * x * t;
    }
  };

  // 1 - tanh x = 2/(e^(2x) + 1), which keeps its digits where tanh x is near 1
  struct Tanh : NoFactor {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &, Real x, Real &s, Real &ds)
    {
      s = Real(2) / (exponential(Real(2) * x) + Real(1));
      ds = -s * (Real(2) - s);
    }
  };

  // (cos(pi x)+1)/2 = sin^2(pi (1-x)/2), 0 beyond x = 1, which keeps its digits near there
  struct Cosinus : NoFactor {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &, Real x, Real &s, Real &ds)
    {
      const Real half_pi = Real(1.57079632679489661923);
      const Real y = x < Real(1) ? x : Real(1);
      const Real sine = sine_of_quarter(half_pi * (Real(1) - y)),
                 cosine = sine_of_quarter(half_pi * y);
      s = sine * sine;
      ds = Real(-2) * half_pi * sine * cosine;
    }
  };

  // q: 1/(1 + exp(beta (r - lambda ref))), with r0 = 1 and so x = r - d0;
  // fraction of native contacts, Best, Hummer, Eaton, PNAS 110, 17874 (2013)
  struct NativeContacts : NoFactor {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &c, Real x, Real &s, Real &ds)
    {
      const Real t = c.beta * (x - c.center);
      const Real e = exponential(-fabs(t));
      const Real f = Real(1) / (Real(1) + e);
      s = t > Real(0) ? e * f : f;
      ds = -c.beta * e * f * f;
    }
  };

}    // namespace shape

// s and dfunc = (ds/dr)/r from r^2, x = (r - d0)/r0. Up to d0, r = 0 included,
// s is 1 (less where the function is shifted) and dfunc 0. The caller has tested r^2 <= dmax^2.
template <class Shape> struct PlainSwitch {
  template <class Real> static GPUCOORD_HD Real scale(const SwitchConstants<Real> &c)
  {
    return Real(Shape::FACTOR) * c.dfunc_scale;
  }
  template <class Real>
  static GPUCOORD_HD void eval_bare(const SwitchConstants<Real> &c, Real r_sq, Real &s, Real &dfunc)
  {
    const Real r = sqrt(r_sq);
    const bool inner = r <= c.d0;
    const Real x = inner ? Real(1) : (r - c.d0) * c.inv_r0;
    Real value, slope;
    Shape::eval(c, x, value, slope);
    s = inner ? c.top : value * c.stretch + c.shift;
    dfunc = inner ? Real(0) : slope / r;
  }
  template <class Real>
  static GPUCOORD_HD void eval(const SwitchConstants<Real> &c, Real r_sq, Real &s, Real &dfunc)
  {
    eval_bare(c, r_sq, s, dfunc);
    dfunc *= scale(c);
  }
};

// The same for shapes that are functions of y = (r/r0)^2, d0 = 0: no square root.
template <class Shape> struct SquaredSwitch {
  template <class Real> static GPUCOORD_HD Real scale(const SwitchConstants<Real> &c)
  {
    return Real(Shape::FACTOR) * c.dfunc_scale;
  }
  template <class Real>
  static GPUCOORD_HD void eval_bare(const SwitchConstants<Real> &c, Real r_sq, Real &s, Real &dfunc)
  {
    eval_in_r0(c, r_sq * c.inv_r0_sq, s, dfunc);
  }
  // from (r/r0)^2
  template <class Real>
  static GPUCOORD_HD void eval_in_r0(const SwitchConstants<Real> &c, Real y, Real &s, Real &dfunc)
  {
    Real value;
    Shape::eval(c, y, value, dfunc);
    s = value * c.stretch + c.shift;
  }
  template <class Real>
  static GPUCOORD_HD void eval(const SwitchConstants<Real> &c, Real r_sq, Real &s, Real &dfunc)
  {
    eval_bare(c, r_sq, s, dfunc);
    dfunc *= scale(c);
  }
};

}    // namespace gpucoord

#endif
