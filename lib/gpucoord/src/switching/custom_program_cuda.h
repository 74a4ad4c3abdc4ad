// Part of GPUCOORD, GPL-2.0. An expression as instructions for a stack machine, which the
// device interprets: exact to rounding, without a compiler at run time.

#ifndef GPUCOORD_CUSTOM_PROGRAM_CUDA_H
#define GPUCOORD_CUSTOM_PROGRAM_CUDA_H

#include <string>
#include <vector>

namespace gpucoord {

// The operations of Lepton. Arguments are taken from the stack, the result is put there.
enum class Operation : int {
  CONSTANT,
  X,
  ADD,
  SUBTRACT,
  MULTIPLY,
  DIVIDE,
  POWER,
  NEGATE,
  SQRT,
  EXP,
  LOG,
  SIN,
  COS,
  SEC,
  CSC,
  TAN,
  COT,
  ASIN,
  ACOS,
  ATAN,
  ATAN2,
  SINH,
  COSH,
  TANH,
  ERF,
  ERFC,
  STEP,
  DELTA,
  SQUARE,
  CUBE,
  RECIPROCAL,
  ADD_CONSTANT,
  MULTIPLY_CONSTANT,
  POWER_CONSTANT,
  MIN,
  MAX,
  ABS,
  FLOOR,
  CEIL,
  SELECT
};

struct Instruction {
  Operation operation;
  double constant;
};

constexpr int MAX_STACK = 32;    // numbers on the stack of one thread

struct CustomProgram {
  std::vector<Instruction> value, derivative;    // f(x), df/dx
};

// Throws DeviceError where the expression is too deep for the stack.
CustomProgram compile_custom(const std::string &expression);

}    // namespace gpucoord

#endif
