// Part of GPUCOORD, GPL-2.0. cosinus: (cos(pi x) + 1)/2, 0 for x > 1.

#ifndef GPUCOORD_SWITCH_COSINUS_H
#define GPUCOORD_SWITCH_COSINUS_H

#include "../definition.h"
#include "../formula.h"

#include <cmath>

namespace gpucoord {

template <> struct Definition<SwitchKind::COSINUS> : AnyFunction {
  static constexpr const char *NAME = "cosinus";

  static void check(SwitchOptions &o)
  {
    if (std::isnan(o.dmax) || o.dmax > o.d0 + o.r0) o.dmax = o.d0 + o.r0;
  }
};

namespace shape {

  // (cos(pi x)+1)/2 = sin^2(pi (1-x)/2), 0 beyond x = 1. The second form loses no digits near x =
  // 1.
  struct Cosinus : Shape {
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

}    // namespace shape

}    // namespace gpucoord

#endif
