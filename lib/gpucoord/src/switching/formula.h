// Part of GPUCOORD, GPL-2.0. Wrappers that make a switching function from a shape.
//
// A shape, in functions/, computes the unstretched phi(x) and its derivative divided by FACTOR, for
// x > 0. The wrappers PlainSwitch and SquaredSwitch convert a squared distance to x, apply the
// stretch and return s and dfunc = (ds/dr)/r, which forces need. eval_bare() omits a factor of
// dfunc that is the same for all pairs, scale(). A kernel may apply it to sums.
//
// Names and defaults are those of PLUMED's switchingfunction (Tribello et al., Comput. Phys.
// Commun. 185, 604 (2014)). Formulas differ from PLUMED's where those lose digits; a comment gives
// the reason in each case.

#ifndef GPUCOORD_FORMULA_H
#define GPUCOORD_FORMULA_H

#include "../core/config.h"
#include "../core/reciprocal.h"
#include "../core/vector_math.h"

#include "gpucoord/switching.h"

#include <math.h>

namespace gpucoord {

// Constants of one switching function, rounded to the precision of the kernel. Distances are in the
// caller's units.
template <class Real> struct SwitchConstants {
  Real inv_r0;       // 1/r0, 1/distance
  Real inv_r0_sq;    // 1/r0^2
  Real d0;           // s = 1 up to here, distance
  Real dmax_sq;    // s = 0 beyond, distance^2; always finite, so that infinite r^2 is out of range
  Real stretch;    // s = s' stretch + shift
  Real shift;
  Real top;            // s for r <= d0
  Real dfunc_scale;    // (ds/dr)/r = dphi/dx dfunc_scale/r or, in squares, dphi/dy dfunc_scale
  // Constants of the formula. set_constants() of a function sets those that its eval() reads. Any
  // function may use any of them.
  Real n, m, q;         // rational: exponents as real numbers, and m - n
  Real a, b, k;         // smap: a, b and (2^(a/b) - 1)^(1/a)
  Real beta, center;    // q: beta, 1/distance, and lambda ref - d0, distance
  int in, im;           // rational: integer exponents; halved for SquaredSwitch
  Real rise, inv_rise, fall,
      inv_fall;    // window(): distances where it begins to rise and to fall, and 1/width
};

// The constants that may differ between functions with the same formula and the same integer
// exponents.
template <class Real>
constexpr Real SwitchConstants<Real>::*CONSTANTS_PER_FUNCTION[] = {
    &SwitchConstants<Real>::inv_r0,  &SwitchConstants<Real>::inv_r0_sq,
    &SwitchConstants<Real>::d0,      &SwitchConstants<Real>::dmax_sq,
    &SwitchConstants<Real>::stretch, &SwitchConstants<Real>::shift,
    &SwitchConstants<Real>::top,     &SwitchConstants<Real>::dfunc_scale,
    &SwitchConstants<Real>::n,       &SwitchConstants<Real>::m,
    &SwitchConstants<Real>::q,       &SwitchConstants<Real>::a,
    &SwitchConstants<Real>::b,       &SwitchConstants<Real>::k,
    &SwitchConstants<Real>::beta,    &SwitchConstants<Real>::center};
constexpr int NCONSTANTS =
    sizeof(CONSTANTS_PER_FUNCTION<double>) / sizeof(double SwitchConstants<double>::*);
static_assert(sizeof(SwitchConstants<double>) ==
                  (NCONSTANTS + 4) * sizeof(double) + 2 * sizeof(int),
              "CONSTANTS_PER_FUNCTION has all constants but in, im and the four of window()");

// Returns x^2 (3 - 2 x), limited to 0 for x < 0 and 1 for x > 1.
template <class Real> GPUCOORD_HD Real smooth_step(Real x)
{
  const Real t = x < Real(0) ? Real(0) : x > Real(1) ? Real(1) : x;
  return t * t * (Real(3) - Real(2) * t);
}

// Returns the fraction of a pair that belongs to one level of rRESPA (Plimpton, Pollock, Stevens,
// 8th SIAM Conf. Parallel Processing (1997)).
template <class Real> GPUCOORD_HD Real window(const SwitchConstants<Real> &c, Real r_sq)
{
  const Real r = sqrt(r_sq);
  return smooth_step((r - c.rise) * c.inv_rise) *
      (Real(1) - smooth_step((r - c.fall) * c.inv_fall));
}

namespace shape {

  // Base of all shapes. Each shape has its own eval().
  struct Shape {
    static constexpr int FACTOR = 1;             // factor of ds that eval() omits
    static constexpr bool STARTS_AT_1 = true;    // s' is 1 just above d0
    // On a GPU: eval() is at most as expensive as finding the partners that need it.
    static constexpr bool CHEAP = false;
    // On a GPU, in float: SquaredSwitch uses lengths in units of r0, which saves a factor.
    static constexpr bool IN_R0 = false;
    // Returns whether this shape, as a function of x^power, represents the function of these
    // options.
    static GPUCOORD_HD bool fits(const SwitchOptions &, int /*power*/) { return true; }
  };

}    // namespace shape

// Computes s and dfunc = (ds/dr)/r from r^2, with x = (r - d0)/r0. Up to d0, including r = 0, s is
// 1 (less if the function is shifted) and dfunc is 0. The caller has tested r^2 <= dmax^2.
template <class Shape> struct PlainSwitch {
  static constexpr bool CHEAP = Shape::CHEAP, IN_R0 = false;
  static constexpr bool STARTS_AT_1 = Shape::STARTS_AT_1;
  static constexpr int POWER = 1;    // exponent of r/r0 in the argument of the shape
  static GPUCOORD_HD bool fits(const SwitchOptions &o) { return Shape::fits(o, 1); }
  static double dfunc_scale(double stretch, double r0) { return stretch / r0; }
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
    Real value, derivative;
    Shape::eval(c, x, value, derivative);
    s = inner ? c.top : value * c.stretch + c.shift;
    dfunc = inner ? Real(0) : derivative / r;
  }
  template <class Real>
  static GPUCOORD_HD void eval(const SwitchConstants<Real> &c, Real r_sq, Real &s, Real &dfunc)
  {
    eval_bare(c, r_sq, s, dfunc);
    dfunc *= scale(c);
  }
};

// Like PlainSwitch, for shapes that are functions of y = (r/r0)^2, with d0 = 0. Needs no square
// root.
template <class Shape> struct SquaredSwitch {
  static constexpr bool CHEAP = Shape::CHEAP, IN_R0 = Shape::IN_R0;
  static constexpr bool STARTS_AT_1 = Shape::STARTS_AT_1;
  static constexpr int POWER = 2;
  static GPUCOORD_HD bool fits(const SwitchOptions &o) { return Shape::fits(o, 2); }
  static double dfunc_scale(double stretch, double r0) { return 2.0 * stretch / (r0 * r0); }
  template <class Real> static GPUCOORD_HD Real scale(const SwitchConstants<Real> &c)
  {
    return Real(Shape::FACTOR) * c.dfunc_scale;
  }
  template <class Real>
  static GPUCOORD_HD void eval_bare(const SwitchConstants<Real> &c, Real r_sq, Real &s, Real &dfunc)
  {
    eval_in_r0(c, r_sq * c.inv_r0_sq, s, dfunc);
  }
  // Computes s and dfunc from (r/r0)^2.
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
