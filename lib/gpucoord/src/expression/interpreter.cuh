// Part of GPUCOORD, GPL-2.0. Runs the instructions of an expression.

#ifndef GPUCOORD_INTERPRETER_CUH
#define GPUCOORD_INTERPRETER_CUH

#include "expression_program.h"

#include "../gpu/cuda_error.h"

namespace gpucoord {

__device__ inline double integer_power(double base, int exponent)    // same algorithm as Lepton's
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

// Runs n instructions. variable(index) returns the value of a variable. If all threads of a warp
// run the same program, only their stacks differ.
template <class Variable>
__device__ double interpret(const Instruction *program, int n, const Variable &variable)
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
      case Operation::VARIABLE:
        stack[--top] = variable(c);
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

// Runs the n instructions of an expression in x. This is a call, because the interpreter in each
// pair kernel would take minutes to compile.
inline __device__ __noinline__ double interpret_in_x(const Instruction *program, int n, double x)
{
  return interpret(program, n, [x](double) {
    return x;
  });
}

}    // namespace gpucoord

#endif
