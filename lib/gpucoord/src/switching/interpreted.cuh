// Part of GPUCOORD, GPL-2.0. The formula of custom functions on a GPU: it interprets instructions.

#ifndef GPUCOORD_INTERPRETED_CUH
#define GPUCOORD_INTERPRETED_CUH

#include "formula_constants_cuda.h"

#include "../expression/interpreter.cuh"

namespace gpucoord {

// An expression in x, evaluated in double.
struct InterpretedSwitch {
  static constexpr bool CHEAP = false, IN_R0 = false, STARTS_AT_1 = false;
  static constexpr int POWER = 1;
  template <class Real> static __device__ Real scale(const FormulaConstants<Real> &c)
  {
    return c.dfunc_scale;
  }
  template <class Real>
  static __device__ void eval_bare(const FormulaConstants<Real> &c, Real r_sq, Real &s, Real &dfunc)
  {
    const Real r = sqrt(r_sq);
    s = c.top;
    dfunc = 0;
    if (r <= c.d0) return;
    const double x = (r - c.d0) * c.inv_r0;
    s = static_cast<Real>(interpret_in_x(c.program, c.nvalue, x)) * c.stretch + c.shift;
    dfunc = static_cast<Real>(interpret_in_x(c.program + c.nvalue, c.nderivative, x)) / r;
  }
};

namespace formula {

  using Interpreted = InterpretedSwitch;

}    // namespace formula

}    // namespace gpucoord

#endif
