// Part of GPUCOORD, GPL-2.0. The host side of a switching function: name, parameters, checks,
// texts, constants.

#ifndef GPUCOORD_SWITCH_DEFINITION_H
#define GPUCOORD_SWITCH_DEFINITION_H

#include "formula.h"

#include "gpucoord/switching.h"

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace gpucoord {

// The parameters that functions take. SwitchOptions holds their values and defaults.
namespace parameter {

  constexpr SwitchParameter R0 = {"r0", "r0", &SwitchOptions::r0, nullptr, nullptr, 1};
  constexpr SwitchParameter NN = {"nn", "n", &SwitchOptions::n};
  constexpr SwitchParameter MM = {"mm", "m", &SwitchOptions::m};
  constexpr SwitchParameter A = {"a", "a", &SwitchOptions::a};
  constexpr SwitchParameter B = {"b", "b", &SwitchOptions::b};
  constexpr SwitchParameter REF = {"ref", "ref", &SwitchOptions::ref, nullptr, nullptr, 1};
  constexpr SwitchParameter BETA = {"beta", "beta", &SwitchOptions::beta, nullptr, nullptr, -1};
  constexpr SwitchParameter LAMBDA = {"lambda", "lambda", &SwitchOptions::lambda};
  constexpr SwitchParameter FUNC = {"func", "expression", nullptr, &SwitchOptions::expression};
  // Every function takes these.
  constexpr SwitchParameter D0 = {"d0", "d0", &SwitchOptions::d0, nullptr, nullptr, 1};
  constexpr SwitchParameter DMAX = {"dmax", "dmax", &SwitchOptions::dmax, nullptr, nullptr, 1};
  constexpr SwitchParameter NOSTRETCH = {"nostretch", "stretch", nullptr, nullptr,
                                         &SwitchOptions::stretch};

}    // namespace parameter

inline std::string text_of(double value, int digits = 10)
{
  char text[32];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

// field: the member of SwitchOptions; name: how messages call it
inline void need_positive(const char *field, const char *name, double value)
{
  if (std::isnan(value))
    throw SwitchError(field, std::string(name) + " is required: give a number > 0");
  if (!(value > 0.0) || std::isinf(value))
    throw SwitchError(field,
                      std::string(name) + " is " + text_of(value) + " but must be > 0 and finite");
}

// functions/NAME.h specializes this, derived from AnyFunction, with a NAME.
template <SwitchKind KIND> struct Definition;

struct AnyFunction {
  // The reason why no r0 follows the name; null if it does.
  static constexpr const char *WHY_NO_R0 = nullptr;
  // The length that pair_modify mix takes for sigma.
  static constexpr double SwitchOptions::*SIZE = &SwitchOptions::r0;
  // The keywords that only this function takes, in the order of messages.
  static std::vector<SwitchParameter> parameters() { return {}; }

  // Checks and sets r0. d0 is valid and dmax is larger, or not given.
  static void set_width(SwitchOptions &o) { need_positive("r0", "r0", o.r0); }
  // Checks its own parameters and sets defaults. A dmax that is not given then becomes infinite.
  static void check(SwitchOptions &) {}
  // s'(x) just above x = 0
  static double at_zero(const SwitchOptions &) { return 1.0; }
  // Checks s'(0) and s'(dmax), which a stretch takes to 1 and 0.
  static void check_ends(const SwitchOptions &, double /*at_zero*/, double /*at_dmax*/) {}
  // Tells the user about a stretch that changes s'(0), which is not 1.
  static std::string stretch_warning(const Switch &) { return ""; }

  // Its numbers between name and d0 in the line at setup; empty: its parameters and r0.
  static std::string description(const SwitchOptions &) { return ""; }
  // Its lengths in errors about the stretch, with and without their numbers
  static std::string lengths(const SwitchOptions &o) { return "r0 = " + text_of(o.r0); }
  static constexpr const char *LENGTHS = "r0";

  // Sets those of c that eval() reads, apart from the ones that all functions have.
  template <class Real> static void set_constants(const SwitchOptions &, SwitchConstants<Real> &) {}
};

}    // namespace gpucoord

#endif
