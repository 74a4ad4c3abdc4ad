// Part of GPUCOORD, GPL-2.0. tanh: 1 - tanh x.

#ifndef GPUCOORD_SWITCH_TANH_H
#define GPUCOORD_SWITCH_TANH_H

#include "../definition.h"
#include "../formula.h"

namespace gpucoord {

template <> struct Definition<SwitchKind::TANH> : AnyFunction {
  static constexpr const char *NAME = "tanh";
};

namespace shape {

  // 1 - tanh x = 2/(e^(2x) + 1). The second form loses no digits where tanh x is close to 1.
  struct Tanh : Shape {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &, Real x, Real &s, Real &ds)
    {
      s = Real(2) / (exponential(Real(2) * x) + Real(1));
      ds = -s * (Real(2) - s);
    }
  };

}    // namespace shape

}    // namespace gpucoord

#endif
