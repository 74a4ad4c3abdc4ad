// Part of GPUCOORD, GPL-2.0. An expression as instructions for a stack machine, which the GPU
// interprets (interpreter.cuh). Exact up to rounding, and needs no compiler at run time.

#ifndef GPUCOORD_EXPRESSION_PROGRAM_H
#define GPUCOORD_EXPRESSION_PROGRAM_H

#include <string>
#include <vector>

namespace Lepton {
class ParsedExpression;
}

namespace gpucoord {

// The operations of Lepton. Each takes its arguments from the stack and puts its result there.
enum class Operation : int {
  CONSTANT,
  VARIABLE,
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
  double constant;    // VARIABLE: index among the names
};

constexpr int MAX_STACK = 32;    // stack size of one thread, numbers

// Translates an expression of these names. Throws std::length_error with the limit if it needs a
// stack of more than MAX_STACK numbers.
std::vector<Instruction> translate(const Lepton::ParsedExpression &,
                                   const std::vector<std::string> &names);

// A function f(x) and its derivative.
struct CustomProgram {
  std::vector<Instruction> value, derivative;
};

// name: name of x in the expression, which has been checked. Throws DeviceError if it is too deep
// for the stack.
CustomProgram compile_custom(const std::string &expression, const std::string &name = "x");

}    // namespace gpucoord

#endif
