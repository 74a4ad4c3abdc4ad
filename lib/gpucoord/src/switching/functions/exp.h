// Part of GPUCOORD, GPL-2.0. exp: exp(-x).

#ifndef GPUCOORD_SWITCH_EXP_H
#define GPUCOORD_SWITCH_EXP_H

#include "../definition.h"
#include "../formula.h"

namespace gpucoord {

template <> struct Definition<SwitchKind::EXP> : AnyFunction {
  static constexpr const char *NAME = "exp";
};

namespace shape {

  struct Exponential : Shape {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &, Real x, Real &s, Real &ds)
    {
      s = exponential(-x);
      ds = -s;
    }
  };

}    // namespace shape

}    // namespace gpucoord

#endif
