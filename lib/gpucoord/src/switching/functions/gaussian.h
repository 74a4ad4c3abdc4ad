// Part of GPUCOORD, GPL-2.0. gaussian: exp(-x^2/2).

#ifndef GPUCOORD_SWITCH_GAUSSIAN_H
#define GPUCOORD_SWITCH_GAUSSIAN_H

#include "../definition.h"
#include "../formula.h"

namespace gpucoord {

template <> struct Definition<SwitchKind::GAUSSIAN> : AnyFunction {
  static constexpr const char *NAME = "gaussian";
};

namespace shape {

  struct Gaussian : Shape {
    template <class Real>
    static GPUCOORD_HD void eval(const SwitchConstants<Real> &, Real x, Real &s, Real &ds)
    {
      s = exponential(Real(-0.5) * x * x);
      ds = -x * s;
    }
  };

}    // namespace shape

}    // namespace gpucoord

#endif
