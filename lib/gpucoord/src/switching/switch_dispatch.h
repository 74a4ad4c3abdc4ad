// Part of GPUCOORD, GPL-2.0. Selects the formula that evaluates a Switch.

#ifndef GPUCOORD_SWITCH_DISPATCH_H
#define GPUCOORD_SWITCH_DISPATCH_H

#include "gpucoord_switch_functions.h"    // made by CMake: the headers in functions/

#include "gpucoord/switch_table.h"

#include <cmath>
#include <limits>
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

template <class Real> SwitchConstants<Real> make_constants(const Switch &function)
{
  const SwitchOptions &o = function.options();
  SwitchConstants<Real> c = {};
  c.inv_r0 = static_cast<Real>(1.0 / o.r0);
  c.inv_r0_sq = static_cast<Real>(1.0 / (o.r0 * o.r0));
  c.d0 = static_cast<Real>(o.d0);
  c.dmax_sq = static_cast<Real>(std::fmin(o.dmax * o.dmax, std::numeric_limits<Real>::max()));
  c.stretch = static_cast<Real>(function.stretch());
  c.shift = static_cast<Real>(function.shift());
  c.top = static_cast<Real>(function.top());
  c.dfunc_scale = static_cast<Real>(function.stretch() / o.r0);
  if (o.kind != SwitchKind::CUSTOM)
    visit_formula(function, [&](auto formula) {
      c.dfunc_scale = static_cast<Real>(formula.dfunc_scale(function.stretch(), o.r0));
    });
  visit_definition(o.kind, [&](auto definition) {
    definition.set_constants(o, c);
  });
  return c;
}

template <class Real> void set_window(const Window &window, SwitchConstants<Real> &c)
{
  const auto inverse = [](double begin, double end) {
    return static_cast<Real>(1.0 / std::fmax(end - begin, 1e-30));
  };
  c.rise = static_cast<Real>(window.rise_begin);
  c.inv_rise = inverse(window.rise_begin, window.rise_end);
  c.fall = static_cast<Real>(window.fall_begin);
  c.inv_fall = inverse(window.fall_begin, window.fall_end);
}

}    // namespace gpucoord

#endif
