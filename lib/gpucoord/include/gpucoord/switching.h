// Part of GPUCOORD, GPL-2.0. Switching functions s(r): options, checks and evaluation.

#ifndef GPUCOORD_SWITCHING_H
#define GPUCOORD_SWITCHING_H

#include "gpucoord/export.h"
#include "gpucoord/types.h"

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpucoord {

// Functions of x = (r - d0)/r0; s = 1 for r <= d0. Each function has a header in
// src/switching/functions/.
enum class SwitchKind {
#define GPUCOORD_FUNCTION(KIND, FORM, FORMULA) KIND,
#include "gpucoord/switch_functions.def"
};

// A window that multiplies the derivatives, as rRESPA splits them. It rises from 0 to 1 between two
// distances and falls back to 0 between two others, by x^2 (3 - 2 x).
struct Window {
  double rise_begin = -2.0, rise_end = -1.0;    // distance; default: 1 from r = 0 on
  double fall_begin = 1e30, fall_end = 2e30;    // distance; default: does not fall
};

// Options as a user writes them. Distances are in the caller's units. NaN means 'not given'.
struct SwitchOptions {
  static constexpr double NOT_GIVEN = std::numeric_limits<double>::quiet_NaN();
  SwitchKind kind = SwitchKind::RATIONAL;
  double r0 = NOT_GIVEN;      // > 0; required by functions that use it
  double d0 = 0.0;            // >= 0
  double dmax = NOT_GIVEN;    // > d0, or infinity for an infinite range
  double n = 6.0;             // RATIONAL, > 0
  double m = NOT_GIVEN;       // RATIONAL, > n; default 2 n
  double a = NOT_GIVEN;       // SMAP, > 0
  double b = NOT_GIVEN;       // SMAP, > 0
  double beta = NOT_GIVEN;    // Q, > 0, 1/distance
  double lambda = 1.8;        // Q, > 0
  double ref = NOT_GIVEN;     // Q, > 0, distance
  std::string expression;     // CUSTOM, in x
  bool stretch = true;        // finite dmax: scale and shift s to s(0) = 1 and s(dmax) = 0
  bool shifted = false;       // without stretch: phi(x) - phi(dmax), ds/dr unchanged
};

// A keyword that may follow the name of a function, and the option that it sets.
struct SwitchParameter {
  const char *keyword;
  const char *field;                             // name of the option in SwitchError
  double SwitchOptions::*value;                  // a number follows
  std::string SwitchOptions::*text = nullptr;    // a word follows
  bool SwitchOptions::*off = nullptr;            // no value follows: sets false
  int length_power = 0;                          // unit of the number: distance^length_power
};

// The keywords of a function in an input script, and its mixing rule.
struct SwitchInfo {
  SwitchKind kind;
  const char *name;
  const char *why_no_r0;                      // reason for having no r0; null: r0 follows the name
  std::vector<SwitchParameter> parameters;    // in the order of messages, without r0
  double SwitchOptions::*size;                // the length that mixing rules use as the range

  GPUCOORD_API static const std::vector<SwitchInfo> &all();    // in the order of SwitchKind
  static const SwitchInfo &get(SwitchKind kind) { return all()[static_cast<int>(kind)]; }
};

// A bad option. field: the member of SwitchOptions. what() names the value, the limit and the way
// out.
class GPUCOORD_API SwitchError : public std::invalid_argument {
 public:
  SwitchError(std::string field_in, const std::string &message) :
      std::invalid_argument(message), field(std::move(field_in))
  {
  }
  const std::string field;
};

// Evaluates an expression in x and its derivative. One object serves one thread.
class CustomFunction;

// A checked switching function, immutable and cheap to copy.
class GPUCOORD_API Switch {
 public:
  // Throws SwitchError.
  explicit Switch(const SwitchOptions &);

  // Returns s(r), and sets the derivative ds/dr unless the pointer is null. r: distance, >= 0.
  // Computed in the precision of the pair terms (SINGLE and MIXED: float) by the same formulas as
  // the kernels.
  double evaluate(double r, double *derivative = nullptr, Precision = Precision::DOUBLE) const;

  // Return s and ds/dr just inside dmax, to inform the user. Both are 0 if dmax is infinite.
  double value_at_dmax() const;
  double derivative_at_dmax() const;

  // Returns one line with the formula and its numbers: 'rational r0 1.5 n 6 m 12 ...'.
  std::string description() const;

  const SwitchOptions &options() const { return opt; }    // with defaults filled in
  double dmax() const { return opt.dmax; }                // may be infinite
  bool has_end() const { return opt.dmax < std::numeric_limits<double>::infinity(); }
  double stretch() const { return stretch_factor; }
  double shift() const { return shift_term; }
  double top() const { return opt.shifted ? 1.0 + shift_term : 1.0; }    // s for r <= d0
  // Returns phi(0) of a stretched function, and 1 for other functions.
  double top_before_stretch() const { return at_zero; }
  // Returns a warning if the stretch changes phi(0), otherwise "".
  std::string stretch_warning() const;

  // Returns why pair terms of this precision cannot represent the stretched function. Returns "" if
  // they can; rounding() is then at most MAX_ROUNDING.
  static constexpr double MAX_ROUNDING = 1e-5;
  std::string why_imprecise(Precision) const;
  // Returns an estimate of the rounding error of s in this precision, in units of s(0) = 1. Public
  // for tests only.
  double rounding(Precision) const;

  // Makes an evaluator for one thread. Returns null unless the function is CUSTOM.
  std::unique_ptr<CustomFunction> make_custom() const;

 private:
  void stretch_to_ends();
  std::string ends() const;

  SwitchOptions opt;
  double stretch_factor = 1.0, shift_term = 0.0;
  double at_zero = 1.0, at_dmax = 0.0;             // phi(0) and phi(dmax), if stretched
  std::shared_ptr<const CustomFunction> parsed;    // null unless the function is CUSTOM
};

// Makes a function with infinite dmax if dmax is not given. Functions that require dmax still
// require it. Throws SwitchError.
GPUCOORD_API Switch make_endless_switch(SwitchOptions);

// Evaluates s(r) many times in double. An expression is parsed once. One object serves one thread.
class GPUCOORD_API SwitchEvaluator {
 public:
  explicit SwitchEvaluator(const Switch &);
  ~SwitchEvaluator();
  double operator()(double r, double *derivative = nullptr);    // see Switch::evaluate()
  const Switch function;

 private:
  std::unique_ptr<CustomFunction> custom;
};

}    // namespace gpucoord

#endif
