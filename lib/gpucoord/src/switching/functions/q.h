// Part of GPUCOORD, GPL-2.0. q: 1/(1 + exp(beta (r - lambda ref))) for r > d0.

#ifndef GPUCOORD_SWITCH_Q_H
#define GPUCOORD_SWITCH_Q_H

#include "../definition.h"
#include "../formula.h"

#include <cmath>

namespace gpucoord {

template <> struct Definition<SwitchKind::Q> : AnyFunction {
  static constexpr const char *NAME = "q";
  static constexpr const char *WHY_NO_R0 = "its distance is ref";
  static constexpr double SwitchOptions::*SIZE = &SwitchOptions::ref;
  static std::vector<SwitchParameter> parameters()
  {
    return {parameter::REF, parameter::BETA, parameter::LAMBDA};
  }

  static void set_width(SwitchOptions &o)
  {
    require_positive<SwitchError>("beta", "beta (1/distance)", o.beta);
    require_positive<SwitchError>("lambda", "lambda", o.lambda);
    require_positive<SwitchError>("ref", "ref (distance)", o.ref);
    o.r0 = 1.0;
  }

  // Returns s' just above d0, which is not 1 for this formula.
  static double at_zero(const SwitchOptions &o)
  {
    return 1.0 / (1.0 + std::exp(o.beta * (o.d0 - o.lambda * o.ref)));
  }

  static std::string stretch_warning(const Switch &function)
  {
    const SwitchOptions &o = function.options();
    if (!(function.top_before_stretch() < 0.5)) return "";
    return "the function is " + short_text(function.top_before_stretch(), 6) +
        " at r = d0, and the stretch for dmax = " + short_text(o.dmax) +
        " makes that 1 - use a d0 below lambda ref = " + short_text(o.lambda * o.ref) +
        ", where it is 1/2, or nostretch; d0 does not shift q";
  }

  static std::string description(const SwitchOptions &o)
  {
    return " beta " + short_text(o.beta) + " lambda " + short_text(o.lambda) + " ref " +
        short_text(o.ref);
  }
  static std::string lengths(const SwitchOptions &o)
  {
    return "ref = " + short_text(o.ref) + " and beta = " + short_text(o.beta);
  }
  static constexpr const char *LENGTHS = "ref, beta";

  template <class Real> static void set_constants(const SwitchOptions &o, SwitchConstants<Real> &c)
  {
    c.beta = static_cast<Real>(o.beta);
    c.center = static_cast<Real>(o.lambda * o.ref - o.d0);
  }
};

namespace shape {

  // q: 1/(1 + exp(beta (r - lambda ref))), with r0 = 1, so that x = r - d0. Fraction of native
  // contacts: Best, Hummer, Eaton, PNAS 110, 17874 (2013).
  struct NativeContacts : Shape {
    static constexpr bool STARTS_AT_1 = false;
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

}    // namespace gpucoord

#endif
