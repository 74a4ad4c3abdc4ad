// Part of GPUCOORD, GPL-2.0. The switching functions as the kernels see them: those of
// functions/, by names that a build can pass to the compiler, and interpreted expressions.

#ifndef GPUCOORD_FORMULAS_CUH
#define GPUCOORD_FORMULAS_CUH

#include "formula_constants_cuda.h"
#include "gpucoord_switch_functions.h"    // made by CMake: the headers in functions/

#include <type_traits>

namespace gpucoord {

__device__ inline double integer_power(double base, int exponent)    // as Lepton does it
{
  if (exponent < 0) {
    exponent = -exponent;
    base = 1.0 / base;
  }
  double result = 1.0;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

// All threads of a warp run the same instruction: only the stack is their own.
__device__ inline double interpret(const Instruction *program, int n, double x)
{
  double stack[MAX_STACK];
  int top = MAX_STACK;    // the first argument is on top
  for (int k = 0; k < n; ++k) {
    const Instruction instruction = program[k];
    const double c = instruction.constant;
    double *const a = stack + top;
    switch (instruction.operation) {
      case Operation::CONSTANT:
        stack[--top] = c;
        break;
      case Operation::X:
        stack[--top] = x;
        break;
      case Operation::ADD:
        a[1] = a[0] + a[1];
        ++top;
        break;
      case Operation::SUBTRACT:
        a[1] = a[0] - a[1];
        ++top;
        break;
      case Operation::MULTIPLY:
        a[1] = a[0] * a[1];
        ++top;
        break;
      case Operation::DIVIDE:
        a[1] = a[0] / a[1];
        ++top;
        break;
      case Operation::POWER:
        a[1] = pow(a[0], a[1]);
        ++top;
        break;
      case Operation::NEGATE:
        a[0] = -a[0];
        break;
      case Operation::SQRT:
        a[0] = sqrt(a[0]);
        break;
      case Operation::EXP:
        a[0] = exp(a[0]);
        break;
      case Operation::LOG:
        a[0] = log(a[0]);
        break;
      case Operation::SIN:
        a[0] = sin(a[0]);
        break;
      case Operation::COS:
        a[0] = cos(a[0]);
        break;
      case Operation::SEC:
        a[0] = 1.0 / cos(a[0]);
        break;
      case Operation::CSC:
        a[0] = 1.0 / sin(a[0]);
        break;
      case Operation::TAN:
        a[0] = tan(a[0]);
        break;
      case Operation::COT:
        a[0] = 1.0 / tan(a[0]);
        break;
      case Operation::ASIN:
        a[0] = asin(a[0]);
        break;
      case Operation::ACOS:
        a[0] = acos(a[0]);
        break;
      case Operation::ATAN:
        a[0] = atan(a[0]);
        break;
      case Operation::ATAN2:
        a[1] = atan2(a[0], a[1]);
        ++top;
        break;
      case Operation::SINH:
        a[0] = sinh(a[0]);
        break;
      case Operation::COSH:
        a[0] = cosh(a[0]);
        break;
      case Operation::TANH:
        a[0] = tanh(a[0]);
        break;
      case Operation::ERF:
        a[0] = erf(a[0]);
        break;
      case Operation::ERFC:
        a[0] = erfc(a[0]);
        break;
      case Operation::STEP:
        a[0] = a[0] >= 0.0 ? 1.0 : 0.0;
        break;
      case Operation::DELTA:
        a[0] = a[0] == 0.0 ? 1.0 : 0.0;
        break;
      case Operation::SQUARE:
        a[0] = a[0] * a[0];
        break;
      case Operation::CUBE:
        a[0] = a[0] * a[0] * a[0];
        break;
      case Operation::RECIPROCAL:
        a[0] = 1.0 / a[0];
        break;
      case Operation::ADD_CONSTANT:
        a[0] = a[0] + c;
        break;
      case Operation::MULTIPLY_CONSTANT:
        a[0] = a[0] * c;
        break;
      case Operation::POWER_CONSTANT:
        a[0] = c == static_cast<int>(c) ? integer_power(a[0], static_cast<int>(c)) : pow(a[0], c);
        break;
      case Operation::MIN:
        a[1] = fmin(a[0], a[1]);
        ++top;
        break;
      case Operation::MAX:
        a[1] = fmax(a[0], a[1]);
        ++top;
        break;
      case Operation::ABS:
        a[0] = fabs(a[0]);
        break;
      case Operation::FLOOR:
        a[0] = floor(a[0]);
        break;
      case Operation::CEIL:
        a[0] = ceil(a[0]);
        break;
      case Operation::SELECT:
        a[2] = a[0] != 0.0 ? a[1] : a[2];
        top += 2;
        break;
    }
  }
  return stack[top];
}

// an expression in x, evaluated in double
struct InterpretedSwitch {
  static constexpr bool CHEAP = false, IN_R0 = false;
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
    s = static_cast<Real>(interpret(c.program, c.nvalue, x)) * c.stretch + c.shift;
    dfunc = static_cast<Real>(interpret(c.program + c.nvalue, c.nderivative, x)) / r;
  }
};

// One object file is compiled for each of these.
namespace formula {

#define GPUCOORD_FORM(KIND, FORM, FORMULA) using FORM = FORMULA;
#include "gpucoord/switch_functions.def"

}    // namespace formula

// Formulas that are as cheap as finding out for which partners they are needed.
template <class Formula> constexpr bool CHEAP = Formula::CHEAP;

// Those of r^2 can do without a factor where lengths are in units of r0; in double, dmax then is no
// longer exact.
template <class Formula, class Real>
constexpr bool IN_R0 = Formula::IN_R0 &&std::is_same<Real, float>::value;

}    // namespace gpucoord

#endif
