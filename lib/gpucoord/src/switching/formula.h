// Part of GPUCOORD, GPL-2.0. From a shape to a switching function.
//
// A shape, in functions/, gives the unstretched s'(x) and its derivative over FACTOR for x > 0. The
// wrappers PlainSwitch and SquaredSwitch turn a squared distance into x, apply the
// stretch and return s and dfunc = (ds/dr)/r, which is what forces need.
// eval_bare() leaves out a factor of dfunc that is the same for all pairs, scale():
// a kernel may apply it to sums.
//
// Names and defaults follow PLUMED's switchingfunction (Tribello et al.,
// Comput. Phys. Commun. 185, 604 (2014)). The forms differ where PLUMED's lose
// digits; each place says why.

#ifndef GPUCOORD_FORMULA_H
#define GPUCOORD_FORMULA_H

#include "../core/config.h"
#include "../core/reciprocal.h"
#include "../core/vector_math.h"

#include "gpucoord/switching.h"

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
  Real top;            // s for r <= d0
  Real dfunc_scale;    // (ds/dr)/r = ds'/dx dfunc_scale/r or, in squares, ds'/dy dfunc_scale
  // Constants of the formula. set_constants() of the function sets those that its eval() reads;
  // any function may use any of them.
  Real n, m, q;         // rational: exponents as real numbers, and m - n
  Real a, b, k;         // smap: a, b and (2^(a/b) - 1)^(1/a)
  Real beta, center;    // q: beta, 1/distance, and lambda ref - d0, distance
  int in, im;           // rational: integer exponents; halved for SquaredSwitch
  Real rise, inv_rise, fall,
      inv_fall;    // of window(): where it begins to rise and to fall, distance, and 1/width
};

// The constants in which functions of one formula with the same integer exponents may differ.
template <class Real>
constexpr Real SwitchConstants<Real>::*CONSTANTS_OF_A_FUNCTION[] = {
    &SwitchConstants<Real>::inv_r0,  &SwitchConstants<Real>::inv_r0_sq,
    &SwitchConstants<Real>::d0,      &SwitchConstants<Real>::dmax_sq,
    &SwitchConstants<Real>::stretch, &SwitchConstants<Real>::shift,
    &SwitchConstants<Real>::top,     &SwitchConstants<Real>::dfunc_scale,
    &SwitchConstants<Real>::n,       &SwitchConstants<Real>::m,
    &SwitchConstants<Real>::q,       &SwitchConstants<Real>::a,
    &SwitchConstants<Real>::b,       &SwitchConstants<Real>::k,
    &SwitchConstants<Real>::beta,    &SwitchConstants<Real>::center};
constexpr int NCONSTANTS =
    sizeof(CONSTANTS_OF_A_FUNCTION<double>) / sizeof(double SwitchConstants<double>::*);
static_assert(sizeof(SwitchConstants<double>) ==
                  (NCONSTANTS + 4) * sizeof(double) + 2 * sizeof(int),
              "CONSTANTS_OF_A_FUNCTION has all constants but in, im and the four of window()");

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

namespace shape {

  // Each shape begins with these; eval() is its own.
  struct Shape {
    static constexpr int FACTOR = 1;             // left out of ds by eval()
    static constexpr bool STARTS_AT_1 = true;    // s' just above d0
    // On a GPU: eval() costs no more than finding out which partners need it.
    static constexpr bool CHEAP = false;
    // On a GPU, in float: in squares, lengths are in units of r0, which saves a factor.
    static constexpr bool IN_R0 = false;
    // True if this shape, in x^power, gives the function of these options.
    static GPUCOORD_HD bool fits(const SwitchOptions &, int /*power*/) { return true; }
  };

}    // namespace shape

// s and dfunc = (ds/dr)/r from r^2, x = (r - d0)/r0. Up to d0, r = 0 included,
// s is 1 (less where the function is shifted) and dfunc 0. The caller has tested r^2 <= dmax^2.
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

// The same for shapes that are functions of y = (r/r0)^2, d0 = 0: no square root.
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
