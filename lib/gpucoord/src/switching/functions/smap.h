// Part of GPUCOORD, GPL-2.0. smap: (1 + (2^(a/b) - 1) x^a)^(-b/a).

#ifndef GPUCOORD_SWITCH_SMAP_H
#define GPUCOORD_SWITCH_SMAP_H

#include "../definition.h"
#include "../formula.h"

#include <cmath>

namespace gpucoord {

template <> struct Definition<SwitchKind::SMAP> : AnyFunction {
  static constexpr const char *NAME = "smap";
  static std::vector<SwitchParameter> parameters() { return {parameter::A, parameter::B}; }

  static void check(SwitchOptions &o)
  {
    require_positive<SwitchError>("a", "a", o.a);
    require_positive<SwitchError>("b", "b", o.b);
  }

  template <class Real> static void set_constants(const SwitchOptions &o, SwitchConstants<Real> &c)
  {
    c.a = static_cast<Real>(o.a);
    c.b = static_cast<Real>(o.b);
    // k = (2^(a/b) - 1)^(1/a). Use expm1 and log, because 2^(a/b) may overflow.
    const double exponent = std::log(2.0) * o.a / o.b;
    c.k = static_cast<Real>(
        std::exp((exponent < 40.0 ? std::log(std::expm1(exponent)) : exponent) / o.a));
  }
};

namespace shape {

  // smap: (1 + y^a)^(-b/a), y = (2^(a/b) - 1)^(1/a) x (Ceriotti, Tribello, Parrinello, PNAS 2011)
  struct Smap : Shape {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &c, Real x, Real &s, Real &ds)
    {
      const Real y = c.k * x;
      const Real ya = real_power(y, c.a);
      const Real base = Real(1) + ya;
      // At large distances, y^a overflows before s is 0. There, s = y^(-b).
      s = ya > Real(1e30) ? real_power(y, -c.b) : real_power(base, -c.b / c.a);
      const Real ratio = ya < Real(1) ? ya / base : Real(1) - Real(1) / base;    // y^a/(1 + y^a)
      ds = -c.b * ratio * s / x;
    }
  };

}    // namespace shape

}    // namespace gpucoord

#endif
