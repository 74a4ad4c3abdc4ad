// Part of GPUCOORD, GPL-2.0. The switching functions in kernels: those of functions/, by names that
// the build passes to the compiler, and interpreted expressions.

#ifndef GPUCOORD_FORMULAS_CUH
#define GPUCOORD_FORMULAS_CUH

#include "formula_constants_cuda.h"
#include "gpucoord_switch_functions.h"    // made by CMake: the headers in functions/

#include "../gpu/interpreter.cuh"

#include <type_traits>

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
    const auto variable = [x](double) {
      return x;
    };    // x is the only variable
    s = static_cast<Real>(interpret(c.program, c.nvalue, variable)) * c.stretch + c.shift;
    dfunc = static_cast<Real>(interpret(c.program + c.nvalue, c.nderivative, variable)) / r;
  }
};

// The build compiles one object file for each of these formulas.
namespace formula {

#define GPUCOORD_FORM(KIND, FORM, FORMULA) using FORM = FORMULA;
#include "gpucoord/switch_functions.def"

}    // namespace formula

// True if a formula is as cheap as finding the partners that need it.
template <class Formula> constexpr bool CHEAP = Formula::CHEAP;

// True if a formula of r^2 uses lengths in units of r0, which saves a factor. Not in double,
// because dmax would not be exact.
template <class Formula, class Real>
constexpr bool IN_R0 = Formula::IN_R0 &&std::is_same<Real, float>::value;

}    // namespace gpucoord

#endif
