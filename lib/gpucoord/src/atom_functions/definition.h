// Part of GPUCOORD, GPL-2.0. What the header of a function of a per-atom value defines: name,
// arguments, checks, messages, formula.

#ifndef GPUCOORD_ATOM_FUNCTION_DEFINITION_H
#define GPUCOORD_ATOM_FUNCTION_DEFINITION_H

#include "../core/checks.h"
#include "../core/config.h"

#include "gpucoord/atom_function.h"

#include <string>
#include <vector>

namespace gpucoord {

// The arguments of all functions. AtomFunctionOptions has their values and defaults.
namespace atom_parameter {

  using O = AtomFunctionOptions;

  constexpr AtomFunctionParameter A = {"a", "lower bound", &O::a};
  constexpr AtomFunctionParameter B = {"b", "upper bound", &O::b};
  constexpr AtomFunctionParameter NBINS = {"nbins", "nbins", nullptr, &O::nbins};
  constexpr AtomFunctionParameter SMEAR = {"smear", "smear", &O::smear, nullptr, nullptr, true};
  constexpr AtomFunctionParameter ORDER = {"order", "order", nullptr, &O::order};
  constexpr AtomFunctionParameter BETA = {"beta", "beta", &O::beta};
  constexpr AtomFunctionParameter EXPRESSION = {"expression", "expression", nullptr, nullptr,
                                                &O::expression};

}    // namespace atom_parameter

// kinds/NAME.h specializes this struct. A specialization derives from SumOverAtoms or WholeFunction
// and has a NAME.
template <AtomFunctionKind KIND> struct AtomFunctionDefinition;

struct AnyAtomFunction {
  // Whether the name of a switching function sigma(s) and its arguments follow. Parameters cannot.
  static constexpr bool HAS_SIGMA = false;
  // Whether f is an expression, given as an argument.
  static constexpr bool HAS_EXPRESSION = false;
  // See AtomFunctionInfo.
  static constexpr int EXTREME = 0;
  static constexpr bool DIVIDES_BY_S = false;
  // The arguments that follow the name, in their order.
  static std::vector<AtomFunctionParameter> parameters() { return {}; }

  // Checks the arguments. sigma and the expression are checked by their own parsers. Throws
  // AtomFunctionError.
  static void check(const AtomFunctionOptions &) {}
  // Returns what follows the name in the line at setup, with a blank in front, except sigma.
  static std::string description(const AtomFunctionOptions &) { return ""; }
};

// S is the sum of f(s_i), on the host or a GPU. A specialization has
//   template <class Parts, class Use>
//   static void with_formula(const AtomFunctionOptions &, const Parts &, const Use &use)
// which calls use(formula) once. formula(s, f, df) is GPUCOORD_HD, sets f and its derivative, and
// is passed to kernels by value. Parts are those of the backend:
//   parts.with_sigma(use)       calls use(sigma), where sigma(s, value, derivative), if HAS_SIGMA
//   parts.with_expression(use)  calls use(formula), if HAS_EXPRESSION
struct SumOverAtoms : AnyAtomFunction {
  static constexpr bool IS_SUM = true;
};

// S depends on all s_i together, on the host alone. A specialization has
//   template <class Atoms> static double evaluate(const AtomFunctionOptions &, Atoms &)
// which returns S and sets f and dS/ds; see AtomFunction::Result. Atoms have
//   n, s, f, dSds     number of this rank's atoms, and arrays of it
//   sums<N>(term)     returns an array of N sums over this rank, to which term(k, sums) adds atom k
//   reduce(numbers, n, Reduction)    see AtomFunction::Reduce
struct WholeFunction : AnyAtomFunction {
  static constexpr bool IS_SUM = false;
};

}    // namespace gpucoord

#endif
