// Part of GPUCOORD, GPL-2.0. custom: f is an expression in s, parsed by Lepton.

#ifndef GPUCOORD_ATOM_FUNCTION_CUSTOM_H
#define GPUCOORD_ATOM_FUNCTION_CUSTOM_H

#include "../definition.h"

namespace gpucoord {

template <> struct AtomFunctionDefinition<AtomFunctionKind::CUSTOM> : SumOverAtoms {
  static constexpr const char *NAME = "custom";
  static constexpr bool HAS_EXPRESSION = true;
  static std::vector<AtomFunctionParameter> parameters() { return {atom_parameter::EXPRESSION}; }

  static std::string description(const AtomFunctionOptions &o) { return " " + o.expression; }

  template <class Parts, class Use>
  static void with_formula(const AtomFunctionOptions &, const Parts &parts, const Use &use)
  {
    parts.with_expression(use);
  }
};

}    // namespace gpucoord

#endif
