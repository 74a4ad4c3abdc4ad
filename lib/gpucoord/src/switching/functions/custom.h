// Part of GPUCOORD, GPL-2.0. custom: an expression in x, parsed by Lepton.

#ifndef GPUCOORD_SWITCH_CUSTOM_H
#define GPUCOORD_SWITCH_CUSTOM_H

#include "../../expression/custom_function_host.h"
#include "../definition.h"

#include "gpucoord/expression.h"

#include <cmath>
#include <memory>

namespace gpucoord {

// Throws SwitchError.
inline std::shared_ptr<CustomFunction> parse_custom(const std::string &expression)
{
  if (expression.empty())
    throw SwitchError("expression",
                      "an expression in x is required, for example func \"1/(1+x^6)\"");
  try {
    return std::make_shared<CustomFunction>(expression,
                                            "write it in x = (r - d0)/r0, for example 1/(1+x^6)");
  } catch (const ExpressionError &e) {
    throw SwitchError("expression", e.what());
  }
}

template <> struct Definition<SwitchKind::CUSTOM> : AnyFunction {
  static constexpr const char *NAME = "custom";
  static std::vector<SwitchParameter> parameters() { return {parameter::FUNC}; }

  static double at_zero(const SwitchOptions &o)
  {
    double value, derivative;
    parse_custom(o.expression)->evaluate(0.0, value, derivative);
    return value;
  }

  static void check_ends(const SwitchOptions &o, double at_zero, double at_dmax)
  {
    if (!std::isfinite(at_zero))
      throw SwitchError("expression",
                        "the expression '" + o.expression +
                            "' is not a finite number at x = 0, so it cannot be stretched to "
                            "1 there; use one that is, or nostretch");
    if (!std::isfinite(at_dmax))
      throw SwitchError(
          "expression",
          "the expression '" + o.expression +
              "' is not a finite number at dmax, so it cannot be stretched to 0 there; "
              "use one that is, or a smaller dmax");
  }

  static std::string stretch_warning(const Switch &function)
  {
    const SwitchOptions &o = function.options();
    return "the expression '" + o.expression + "' is " +
        short_text(function.top_before_stretch(), 6) +
        " at x = 0, and the stretch for dmax = " + short_text(o.dmax) + " makes that 1: s is " +
        short_text(function.stretch(), 6) + " times the expression " +
        (function.shift() < 0.0 ? "minus " : "plus ") + short_text(std::fabs(function.shift()), 6) +
        " - use nostretch to keep its values, or an expression that is 1 at x = 0";
  }

  static std::string description(const SwitchOptions &o)
  {
    return " \"" + o.expression + "\" r0 " + short_text(o.r0);
  }
};

}    // namespace gpucoord

#endif
