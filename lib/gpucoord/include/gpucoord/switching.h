// Part of GPUCOORD, GPL-2.0. Switching functions s(r): what a user chooses.

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

// The functions of x = (r - d0)/r0; s = 1 for r <= d0. Each one has a header in
// src/switching/functions/.
enum class SwitchKind {
#define GPUCOORD_FUNCTION(KIND, FORM, FORMULA) KIND,
#include "gpucoord/switch_functions.def"
};

// A share of the derivatives, as rRESPA splits them: rises from 0 to 1 between two distances and
// falls back to 0 between two others, by x^2 (3 - 2 x).
struct Window {
  double rise_begin = -2.0, rise_end = -1.0;    // distance; as they stand: 1 from r = 0 on
  double fall_begin = 1e30, fall_end = 2e30;    // distance; as they stand: never
};

// Options as a user writes them. Distances are in the caller's units. NaN is 'not given'.
struct SwitchOptions {
  static constexpr double NOT_GIVEN = std::numeric_limits<double>::quiet_NaN();
  SwitchKind kind = SwitchKind::RATIONAL;
  double r0 = NOT_GIVEN;      // > 0; required by functions that take it
  double d0 = 0.0;            // >= 0
  double dmax = NOT_GIVEN;    // > d0, or infinity for a range without end
  double n = 6.0;             // RATIONAL, > 0
  double m = NOT_GIVEN;       // RATIONAL, > n; default 2 n
  double a = NOT_GIVEN;       // SMAP, > 0
  double b = NOT_GIVEN;       // SMAP, > 0
  double beta = NOT_GIVEN;    // Q, > 0, 1/distance
  double lambda = 1.8;        // Q, > 0
  double ref = NOT_GIVEN;     // Q, > 0, distance
  std::string expression;     // CUSTOM, in x
  bool stretch = true;        // with a finite dmax: s(0) = 1 and s(dmax) = 0
  bool shifted =
      false;    // without stretch: s'(x) - s'(dmax), 0 at a finite dmax and ds/dr as it is
};

// A keyword that may follow the name of a function, and the option that it sets.
struct SwitchParameter {
  const char *keyword;
  const char *field;                             // the option, as SwitchError names it
  double SwitchOptions::*number;                 // a number follows
  std::string SwitchOptions::*text = nullptr;    // a word follows
  bool SwitchOptions::*off = nullptr;            // nothing follows: sets false
  int length_power = 0;                          // unit of the number: distance^length_power
};

// The words of a function in an input script, and how it mixes.
struct SwitchInfo {
  SwitchKind kind;
  const char *name;
  const char *why_no_r0;                      // null: r0 follows the name
  std::vector<SwitchParameter> parameters;    // in the order of messages, without r0
  double SwitchOptions::*size;    // the length that stands for its range in mixing rules

  GPUCOORD_API static const std::vector<SwitchInfo> &all();    // in the order of SwitchKind
  static const SwitchInfo &of(SwitchKind kind) { return all()[static_cast<int>(kind)]; }
};

// A bad option: field is the member of SwitchOptions, what() names the value,
// the limit and the way out.
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

  // s(r), and ds/dr where a pointer is given, computed in the precision of the
  // pair terms (SINGLE and MIXED: float) by the same formulas as the kernels.
  // r in distance units, r >= 0.
  double evaluate(double r, double *derivative = nullptr, Precision = Precision::DOUBLE) const;

  // Numbers at the cutoff, for the user: s and ds/dr just inside dmax. Both are 0
  // where the range has no end.
  double value_at_dmax() const;
  double derivative_at_dmax() const;

  // one line: the formula with its numbers, 'rational r0 1.5 n 6 m 12 ...'
  std::string description() const;

  const SwitchOptions &options() const { return opt; }    // defaults filled in
  double dmax() const { return opt.dmax; }                // infinite where the range has no end
  bool has_end() const { return opt.dmax < std::numeric_limits<double>::infinity(); }
  double stretch() const { return stretch_factor; }
  double shift() const { return shift_term; }
  double top() const { return opt.shifted ? 1.0 + shift_term : 1.0; }    // s for r <= d0
  // s'(0) of a stretched function, 1 of others
  double top_before_stretch() const { return at_zero; }
  // Tells the user that the stretch changes s'(0); empty if it does not.
  std::string stretch_warning() const;

  // Why pair terms of this precision cannot hold the stretched function. Empty where they can, and
  // rounding() is at most MOST_ROUNDING.
  static constexpr double MOST_ROUNDING = 1e-5;
  std::string why_imprecise(Precision) const;
  // Estimate of the rounding error of s there, in units of s(0) = 1. Public for tests only.
  double rounding(Precision) const;

  // a new evaluator for one thread; null unless CUSTOM
  std::unique_ptr<CustomFunction> make_custom() const;

 private:
  void stretch_to_ends();
  std::string ends() const;

  SwitchOptions opt;
  double stretch_factor = 1.0, shift_term = 0.0;
  double at_zero = 1.0, at_dmax = 0.0;    // s'(0) and s'(dmax) where stretched
};

// A function whose range has no end where dmax is not given; functions that require dmax still do.
// Throws SwitchError.
GPUCOORD_API Switch make_endless_switch(SwitchOptions);

// s(r) many times in double: an expression is parsed once. One object serves one thread.
class GPUCOORD_API SwitchEvaluator {
 public:
  explicit SwitchEvaluator(const Switch &);
  ~SwitchEvaluator();
  double operator()(double r, double *derivative = nullptr);    // as Switch::evaluate()
  const Switch function;

 private:
  std::unique_ptr<CustomFunction> custom;
};

}    // namespace gpucoord

#endif
