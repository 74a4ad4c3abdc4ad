// Part of GPUCOORD, GPL-2.0. An expression of several names, with its derivatives.

#ifndef GPUCOORD_EXPRESSION_H
#define GPUCOORD_EXPRESSION_H

#include "gpucoord/export.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpucoord {

// A bad expression: name is the name that is at fault, or "" where it is the text; what() names the
// value, the limit and the way out.
class GPUCOORD_API ExpressionError : public std::invalid_argument {
 public:
  ExpressionError(std::string name_in, const std::string &message) :
      std::invalid_argument(message), name(std::move(name_in))
  {
  }
  const std::string name;
};

// Parsed and differentiated by Lepton. One object serves one thread.
class GPUCOORD_API Expression {
 public:
  // Throws ExpressionError where the text cannot be parsed, has a constant part that is not a
  // number, uses a name that is not among names, or does not use one of them.
  Expression(const std::string &text, const std::vector<std::string> &names);
  ~Expression();

  // Whether a word can be a name: letters, digits and _, not a digit first.
  static bool is_name(const std::string &word);

  // The value at [nnames] numbers in the order of names. Sets the derivative with respect to each,
  // [nnames], unless derivatives is null.
  double evaluate(const double *numbers, double *derivatives);

 private:
  struct Programs;
  std::unique_ptr<Programs> programs;
};

}    // namespace gpucoord

#endif
