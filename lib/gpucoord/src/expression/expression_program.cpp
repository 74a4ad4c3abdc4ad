// Part of GPUCOORD, GPL-2.0. Translates Lepton's expressions into instructions.

#include "expression_program.h"

#include "parsed_function.h"

#include "gpucoord/types.h"

#include <algorithm>
#include <stdexcept>

namespace gpucoord {

namespace {

  using Id = Lepton::Operation;

  double position_of(const std::string &name, const std::vector<std::string> &names)
  {
    return static_cast<double>(std::find(names.begin(), names.end(), name) - names.begin());
  }

  Instruction instruction_of(const Lepton::Operation &o, const std::vector<std::string> &names)
  {
    switch (o.getId()) {
      case Id::CONSTANT:
        return {Operation::CONSTANT,
                dynamic_cast<const Lepton::Operation::Constant &>(o).getValue()};
      case Id::VARIABLE:
        return {Operation::VARIABLE, position_of(o.getName(), names)};
      case Id::ADD:
        return {Operation::ADD, 0.0};
      case Id::SUBTRACT:
        return {Operation::SUBTRACT, 0.0};
      case Id::MULTIPLY:
        return {Operation::MULTIPLY, 0.0};
      case Id::DIVIDE:
        return {Operation::DIVIDE, 0.0};
      case Id::POWER:
        return {Operation::POWER, 0.0};
      case Id::NEGATE:
        return {Operation::NEGATE, 0.0};
      case Id::SQRT:
        return {Operation::SQRT, 0.0};
      case Id::EXP:
        return {Operation::EXP, 0.0};
      case Id::LOG:
        return {Operation::LOG, 0.0};
      case Id::SIN:
        return {Operation::SIN, 0.0};
      case Id::COS:
        return {Operation::COS, 0.0};
      case Id::SEC:
        return {Operation::SEC, 0.0};
      case Id::CSC:
        return {Operation::CSC, 0.0};
      case Id::TAN:
        return {Operation::TAN, 0.0};
      case Id::COT:
        return {Operation::COT, 0.0};
      case Id::ASIN:
        return {Operation::ASIN, 0.0};
      case Id::ACOS:
        return {Operation::ACOS, 0.0};
      case Id::ATAN:
        return {Operation::ATAN, 0.0};
      case Id::ATAN2:
        return {Operation::ATAN2, 0.0};
      case Id::SINH:
        return {Operation::SINH, 0.0};
      case Id::COSH:
        return {Operation::COSH, 0.0};
      case Id::TANH:
        return {Operation::TANH, 0.0};
      case Id::ERF:
        return {Operation::ERF, 0.0};
      case Id::ERFC:
        return {Operation::ERFC, 0.0};
      case Id::STEP:
        return {Operation::STEP, 0.0};
      case Id::DELTA:
        return {Operation::DELTA, 0.0};
      case Id::SQUARE:
        return {Operation::SQUARE, 0.0};
      case Id::CUBE:
        return {Operation::CUBE, 0.0};
      case Id::RECIPROCAL:
        return {Operation::RECIPROCAL, 0.0};
      case Id::ADD_CONSTANT:
        return {Operation::ADD_CONSTANT,
                dynamic_cast<const Lepton::Operation::AddConstant &>(o).getValue()};
      case Id::MULTIPLY_CONSTANT:
        return {Operation::MULTIPLY_CONSTANT,
                dynamic_cast<const Lepton::Operation::MultiplyConstant &>(o).getValue()};
      case Id::POWER_CONSTANT:
        return {Operation::POWER_CONSTANT,
                dynamic_cast<const Lepton::Operation::PowerConstant &>(o).getValue()};
      case Id::MIN:
        return {Operation::MIN, 0.0};
      case Id::MAX:
        return {Operation::MAX, 0.0};
      case Id::ABS:
        return {Operation::ABS, 0.0};
      case Id::FLOOR:
        return {Operation::FLOOR, 0.0};
      case Id::CEIL:
        return {Operation::CEIL, 0.0};
      case Id::SELECT:
        return {Operation::SELECT, 0.0};
      case Id::CUSTOM:
        break;    // we add no functions to Lepton
    }
    throw std::logic_error("gpucoord: a Lepton operation that the GPU does not support: " +
                           o.getName());
  }

}    // namespace

std::vector<Instruction> translate(const Lepton::ParsedExpression &parsed,
                                   const std::vector<std::string> &names)
{
  const auto program = parsed.createProgram();
  if (program.getStackSize() > MAX_STACK)
    throw std::length_error("or its derivative needs a stack of " +
                            std::to_string(program.getStackSize()) + " numbers, and the GPU has " +
                            std::to_string(MAX_STACK) + " - nest it less deeply");
  std::vector<Instruction> instructions;
  for (int k = 0; k < program.getNumOperations(); ++k)
    instructions.push_back(instruction_of(program.getOperation(k), names));
  return instructions;
}

CustomProgram compile_custom(const std::string &expression, const std::string &name)
{
  const ParsedFunction parsed(expression, name);
  try {
    return {translate(parsed.value, {name}), translate(parsed.derivative, {name})};
  } catch (const std::length_error &error) {
    throw DeviceError("the expression '" + expression + "' " + error.what());
  }
}

}    // namespace gpucoord
