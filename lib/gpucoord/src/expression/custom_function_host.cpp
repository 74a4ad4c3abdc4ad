// Part of GPUCOORD, GPL-2.0. Functions of x. Lepton parses and differentiates the expression, as in
// PLUMED, Colvars and OpenMM.

#include "custom_function_host.h"

#include "parsed_function.h"

#include "gpucoord/expression.h"

#include <exception>
#include <stdexcept>

namespace gpucoord {

struct CustomFunction::Programs {
  Lepton::CompiledExpression value, derivative;
  double *x_of_value = nullptr, *x_of_derivative = nullptr;    // null if x does not occur

  void find_x()
  {
    if (value.getVariables().count("x")) x_of_value = &value.getVariableReference("x");
    if (derivative.getVariables().count("x"))
      x_of_derivative = &derivative.getVariableReference("x");
  }
};

CustomFunction::CustomFunction(const std::string &expression, const std::string &hint) :
    programs(std::make_unique<Programs>())
{
  const auto bad = [&](const std::string &why) {
    return ExpressionError(
        "", "the expression '" + expression + "' cannot be used: " + why + "; " + hint);
  };
  const std::string why = bad_number(expression);
  if (!why.empty()) throw ExpressionError("", "the expression '" + expression + "' has " + why);
  try {
    const ParsedFunction parsed(expression);
    programs->value = parsed.value.createCompiledExpression();
    programs->derivative = parsed.derivative.createCompiledExpression();
  } catch (const std::length_error &error) {
    throw ExpressionError(
        "", "the expression '" + shortened(expression) + "' is too long: " + error.what());
  } catch (const std::exception &error) {
    throw bad(error.what());
  }
  for (const auto &name : programs->value.getVariables())
    if (name != "x") throw bad("unknown variable '" + name + "'");
  programs->find_x();
}

CustomFunction::CustomFunction(const CustomFunction &other) :
    programs(std::make_unique<Programs>(*other.programs))
{
  programs->find_x();
}

CustomFunction::~CustomFunction() = default;

void CustomFunction::evaluate(double x, double &value, double &derivative)
{
  if (programs->x_of_value) *programs->x_of_value = x;
  if (programs->x_of_derivative) *programs->x_of_derivative = x;
  value = programs->value.evaluate();
  derivative = programs->derivative.evaluate();
}

}    // namespace gpucoord
