// Part of GPUCOORD, GPL-2.0. Custom switching functions. Lepton parses and differentiates the
// expression, as in PLUMED, Colvars and OpenMM.

#include "custom_function_host.h"

#include "../core/parsed_function.h"

#include "gpucoord/switching.h"

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

CustomFunction::CustomFunction(const std::string &expression) :
    programs(std::make_unique<Programs>())
{
  if (expression.empty())
    throw SwitchError("expression",
                      "an expression in x is required, for example func \"1/(1+x^6)\"");
  const auto bad = [&expression](const std::string &why) {
    return SwitchError("expression",
                       "the expression '" + expression + "' cannot be used: " + why +
                           "; write it in x = (r - d0)/r0, for example 1/(1+x^6)");
  };
  const std::string why = bad_number(expression);
  if (!why.empty())
    throw SwitchError("expression", "the expression '" + expression + "' has " + why);
  try {
    const ParsedFunction parsed(expression);
    programs->value = parsed.value.createCompiledExpression();
    programs->derivative = parsed.derivative.createCompiledExpression();
  } catch (const std::length_error &error) {
    throw SwitchError("expression",
                      "the expression '" + shortened(expression) +
                          "' is too long: " + error.what());
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
