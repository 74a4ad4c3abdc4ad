// Part of GPUCOORD, GPL-2.0. Keywords limits, deposit_if and max_skip: deposits that are left out,
// so that a run that goes wrong does not spoil the bias.

#ifndef GPUCOORD_DEPOSIT_GUARD_H
#define GPUCOORD_DEPOSIT_GUARD_H

#include "words.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gpucoord {

class GPUCOORD_TEST_API DepositGuard {
 public:
  // noun: a deposit, "hill"
  void parse(const Words &, const std::string &noun);
  bool is_on() const { return !limits.empty() || !variable.empty(); }
  // Name of the caller's variable of deposit_if, or "".
  const std::string &caller_variable() const { return variable; }
  std::string in_words() const;    // a line of the formula, or ""
  void set_variable(double value) { allows = value != 0.0; }

  // Returns whether a deposit at s is left out, and counts it. Throws std::runtime_error if it is
  // the last one of max_skip in a row.
  bool skips(const double *s);
  void count_deposit() { in_a_row = 0; }
  std::int64_t nskipped() const { return skipped; }

  void save(Archive &) const;
  void load(Archive &);

 private:
  struct Reason {
    std::string why, way_out;    // "": none
  };
  Reason reason(const double *s) const;

  std::string noun;
  std::vector<std::string> labels;
  std::vector<Period> periods;     // [variables]
  std::vector<Interval> limits;    // empty: none
  std::string variable;
  bool allows = true;    // value of the variable
  int max_skip = 10;
  std::int64_t skipped = 0, in_a_row = 0;
};

}    // namespace gpucoord

#endif
