// Part of GPUCOORD, GPL-2.0. Functions of a per-atom value s_i, such as the coordination number.
//
// S is the sum of f(s_i) over atoms, the smallest or largest value of all s_i, or a moment of all
// s_i. The formulas are those of PLUMED's MORE_THAN, LESS_THAN, BETWEEN, MIN, MAX, ALT_MIN, MOMENTS
// and CUSTOM (Tribello et al., Comput. Phys. Commun. 185, 604 (2014)). In contrast to PLUMED, s_i
// may be 0 in all of them.

#ifndef GPUCOORD_ATOM_FUNCTION_H
#define GPUCOORD_ATOM_FUNCTION_H

#include "gpucoord/export.h"
#include "gpucoord/switching.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpucoord {

// Each function has a header in src/atom_functions/kinds/, with its formula.
enum class AtomFunctionKind {
#define GPUCOORD_ATOM_FUNCTION(KIND) KIND,
#include "gpucoord/atom_functions.def"
};

// NaN and 0 mean 'not given'.
struct AtomFunctionOptions {
  AtomFunctionKind kind = AtomFunctionKind::SUM;
  // sigma of MORE_THAN and LESS_THAN: a function of s instead of r, 1 for s <= d0. If dmax is not
  // given, it is infinite.
  SwitchOptions sigma;
  double a = SwitchOptions::NOT_GIVEN, b = SwitchOptions::NOT_GIVEN;    // BETWEEN, HISTOGRAM, a < b
  int nbins = 0;                                                        // HISTOGRAM, 1 to MAX_BINS
  double smear = 0.5;    // BETWEEN, HISTOGRAM: Gaussian width over interval or bin width, > 0
  int order = 0;         // MOMENT, 2 to 100
  double beta = SwitchOptions::NOT_GIVEN;    // MIN, MAX, ALT_MIN, > 0
  std::string expression;                    // CUSTOM, in s
};

// An argument of a function in an input script, and the option that it sets.
struct AtomFunctionParameter {
  const char *field;                                   // name of the option in AtomFunctionError
  const char *name;                                    // in messages
  double AtomFunctionOptions::*value;                  // a number is read
  int AtomFunctionOptions::*integer = nullptr;         // an integer is read
  std::string AtomFunctionOptions::*text = nullptr;    // a word is read
  bool is_keyword = false;    // the name precedes the value, and both may be left out
};

// The arguments of a function in an input script, and its properties.
struct AtomFunctionInfo {
  AtomFunctionKind kind;
  const char *name;
  bool has_sigma;         // name and arguments of a switching function of s follow
  bool has_expression;    // f is an expression
  std::vector<AtomFunctionParameter> parameters;    // in their order
  bool is_sum;                                      // S is a sum over atoms
  int extreme;          // S is about the smallest (-1) or the largest (1) s_i if beta suits them
  bool divides_by_s;    // so that s_i must not be negative, except by rounding

  GPUCOORD_API static const std::vector<AtomFunctionInfo> &all();    // in the order of the list
  static const AtomFunctionInfo &get(AtomFunctionKind kind)
  {
    return all()[static_cast<int>(kind)];
  }
};

// A bad option. field: the member of AtomFunctionOptions or of its sigma. what() names the value,
// the limit and the way out.
class GPUCOORD_API AtomFunctionError : public std::invalid_argument {
 public:
  AtomFunctionError(std::string field_in, const std::string &message) :
      std::invalid_argument(message), field(std::move(field_in))
  {
  }
  const std::string field;
};

constexpr int MAX_BINS = 10000;

// Factors of the atoms in S = sum of w_i f(s_i), for example 1 within a region of space whose edge
// is smooth. w_i depends on the position of atom i alone. dS/ds_i is w_i f'(s_i), and the gradient
// of S on atom i has the further term f(s_i) grad w_i.
struct AtomWeights {
  const double *w = nullptr;           // [n]; null: 1
  const double *gradient = nullptr;    // [n][3] grad w_i, 1/distance; null: 0
};

// Adds f_k grad w_k to columns 1 to 3 of row k of the per-atom output, or of row[k] if row is not
// null. columns: see peratom_columns(). The virial lacks this term: it depends on the origin of the
// weights.
GPUCOORD_API void add_weight_gradients(std::int64_t n, const int *row, const double *f,
                                       const AtomWeights &, int columns, double *peratom);

// A checked function. One object serves one evaluation at a time.
class GPUCOORD_API AtomFunction {
 public:
  // Throws AtomFunctionError.
  explicit AtomFunction(const AtomFunctionOptions &);
  ~AtomFunction();

  const AtomFunctionOptions &options() const { return opt; }
  const AtomFunctionInfo &info() const { return AtomFunctionInfo::get(opt.kind); }
  // Returns one line with the kind and its numbers: 'more_than rational r0 6 n 12 m 24'.
  std::string description() const;
  // Returns whether S is a sum over atoms. The caller may then divide it by the number of atoms.
  bool is_sum() const { return info().is_sum; }

  // Replaces n numbers by their sums or their largest values over all ranks.
  enum class Reduction { SUM, MAX };
  using Reduce = std::function<void(double *values, int n, Reduction)>;

  struct Result {
    double value = 0.0;       // this rank's part of S if is_sum(), otherwise S
    std::int64_t bad = -1;    // smallest k whose f or f' is not finite; -1: none
  };
  // Evaluates the n atoms of this rank. s: [n]. Sets dSds, [n], and f, [n]. f is f(s_i), the share
  // of the atom in the sum of exponentials (MIN, MAX, ALT_MIN), or (s_i - mean)^order (MOMENT).
  // Calls reduce equally often on all ranks, also if n is 0. If no rank has atoms, S is 0. Results
  // do not depend on nthreads. Weights require is_sum() and no bins; dSds has them as factors,
  // and f has not. Throws std::invalid_argument for other weights, and what reduce throws.
  Result evaluate(std::int64_t n, const double *s, double *f, double *dSds, const Reduce &reduce,
                  int nthreads, const AtomWeights & = {});

  // Adds this rank's share of a histogram to bins, [nbins()].
  int nbins() const { return opt.nbins; }
  void add_histogram(std::int64_t n, const double *s, double *bins, int nthreads) const;

 private:
  struct Parts;
  AtomFunctionOptions opt;
  std::unique_ptr<const Switch> sigma;    // null: the function has none
  std::unique_ptr<Parts> parts;
};

}    // namespace gpucoord

#endif
