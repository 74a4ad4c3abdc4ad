// Part of GPUCOORD, GPL-2.0. Selects the formula that evaluates a Switch. This header includes all
// formulas; sources on the list GPUCOORD_ALL_FORMULAS of CMakeLists.txt may include it.

#ifndef GPUCOORD_SWITCH_DISPATCH_H
#define GPUCOORD_SWITCH_DISPATCH_H

#include "gpucoord_switch_functions.h"    // made by CMake: the headers in functions/

#include "gpucoord/switching.h"

#include <stdexcept>

namespace gpucoord {

// Calls visitor(Definition<KIND>{}) and returns its result.
template <class Visitor> auto visit_definition(SwitchKind kind, Visitor &&visitor)
{
  switch (kind) {
#define GPUCOORD_FUNCTION(KIND, FORM, FORMULA) \
  case SwitchKind::KIND:                       \
    return visitor(Definition<SwitchKind::KIND>{});
#include "gpucoord/switch_functions.def"
  }
  throw std::logic_error("gpucoord: no such switching function");
}

// Calls visitor(Formula{}) with the type PlainSwitch<...> or SquaredSwitch<...> that evaluates this
// function. The function must not be CUSTOM, which has no formula.
template <class Visitor> void visit_formula(const Switch &function, Visitor &&visitor)
{
  const SwitchOptions &o = function.options();
#define GPUCOORD_FORM(KIND, FORM, FORMULA) \
  if (o.kind == SwitchKind::KIND && FORMULA::fits(o)) return visitor(FORMULA{});
#define GPUCOORD_EXPRESSION(KIND, FORM, FORMULA)
#include "gpucoord/switch_functions.def"
  throw std::logic_error("gpucoord: a custom switching function has no compiled formula");
}

}    // namespace gpucoord

#endif
