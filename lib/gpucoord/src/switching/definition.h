// Part of GPUCOORD, GPL-2.0. The host side of a switching function: name, parameters, checks,
// messages, constants.

#ifndef GPUCOORD_SWITCH_DEFINITION_H
#define GPUCOORD_SWITCH_DEFINITION_H

#include "../core/checks.h"
#include "formula.h"

#include "gpucoord/switching.h"

#include <cmath>
#include <string>
#include <vector>

namespace gpucoord {

// The parameters of all functions. SwitchOptions has their values and defaults.
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
  // Parameters that every function has.
  constexpr SwitchParameter D0 = {"d0", "d0", &SwitchOptions::d0, nullptr, nullptr, 1};
  constexpr SwitchParameter DMAX = {"dmax", "dmax", &SwitchOptions::dmax, nullptr, nullptr, 1};
  constexpr SwitchParameter NOSTRETCH = {"nostretch", "stretch", nullptr, nullptr,
                                         &SwitchOptions::stretch};

}    // namespace parameter

// functions/NAME.h specializes this struct. A specialization derives from AnyFunction and has a
// NAME.
template <SwitchKind KIND> struct Definition;

struct AnyFunction {
  // Reason why no r0 follows the name; null: r0 follows.
  static constexpr const char *WHY_NO_R0 = nullptr;
  // The length that pair_modify mix uses as sigma.
  static constexpr double SwitchOptions::*SIZE = &SwitchOptions::r0;
  // The keywords that only this function has, in the order of messages.
  static std::vector<SwitchParameter> parameters() { return {}; }

  // Checks and sets r0. d0 is valid, and dmax is greater than d0 or not given.
  static void set_width(SwitchOptions &o) { require_positive<SwitchError>("r0", "r0", o.r0); }
  // Checks the parameters of this function and sets defaults. If dmax is still not given
  // afterwards, it becomes infinite.
  static void check(SwitchOptions &) {}
  // Returns phi(x) just above x = 0.
  static double at_zero(const SwitchOptions &) { return 1.0; }
  // Checks phi(0) and phi(dmax), which a stretch changes to 1 and 0.
  static void check_ends(const SwitchOptions &, double /*at_zero*/, double /*at_dmax*/) {}
  // Returns a warning about a stretch that changes phi(0), if phi(0) is not 1.
  static std::string stretch_warning(const Switch &) { return ""; }

  // Returns the parameters between name and d0 in the line at setup; empty: r0 and the function's
  // own parameters.
  static std::string description(const SwitchOptions &) { return ""; }
  // Return the lengths in errors about the stretch, with and without their values.
  static std::string lengths(const SwitchOptions &o) { return "r0 = " + short_text(o.r0); }
  static constexpr const char *LENGTHS = "r0";

  // Sets the constants that eval() of this function reads, except those that all functions have.
  template <class Real> static void set_constants(const SwitchOptions &, SwitchConstants<Real> &) {}
};

}    // namespace gpucoord

#endif
