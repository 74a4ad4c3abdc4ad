// Part of GPUCOORD, GPL-2.0. cubic: (x-1)^2 (1+2x), r0 = dmax - d0.

#ifndef GPUCOORD_SWITCH_CUBIC_H
#define GPUCOORD_SWITCH_CUBIC_H

#include "../definition.h"
#include "../formula.h"

#include <cmath>

namespace gpucoord {

template <> struct Definition<SwitchKind::CUBIC> : AnyFunction {
  static constexpr const char *NAME = "cubic";
  static constexpr const char *WHY_NO_R0 = "its width is dmax - d0";

  static void set_width(SwitchOptions &o)
  {
    if (std::isnan(o.dmax) || std::isinf(o.dmax))
      throw SwitchError("dmax", "a finite dmax is required: s falls from 1 at d0 to 0 at dmax");
    o.r0 = o.dmax - o.d0;
  }
};

namespace shape {

  // cubic: (x-1)^2 (1+2x); value and derivative are continuous at both ends
  struct Cubic : Shape {
    static constexpr bool CHEAP = true;
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &, Real x, Real &s, Real &ds)
    {
      const Real t = x - Real(1);
      s = t * t * (Real(1) + Real(2) * x);
      ds = Real(6) * x * t;
    }
  };

}    // namespace shape

}    // namespace gpucoord

#endif
