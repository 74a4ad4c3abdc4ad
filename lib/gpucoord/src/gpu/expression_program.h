// Part of GPUCOORD, GPL-2.0. An expression as instructions for a stack machine, which the GPU
// interprets (interpreter.cuh): exact to rounding, without a compiler at run time.

#ifndef GPUCOORD_EXPRESSION_PROGRAM_H
#define GPUCOORD_EXPRESSION_PROGRAM_H

#include <string>
#include <vector>

namespace Lepton {
class ParsedExpression;
}

namespace gpucoord {

// The operations of Lepton. Arguments are taken from the stack, the result is put there.
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
  double constant;    // VARIABLE: position among the names
};

constexpr int MAX_STACK = 32;    // numbers on the stack of one thread

// Translates an expression of these names. Throws std::length_error, with the limit, where it needs
// more than MAX_STACK numbers.
std::vector<Instruction> translate(const Lepton::ParsedExpression &,
                                   const std::vector<std::string> &names);

}    // namespace gpucoord

#endif
