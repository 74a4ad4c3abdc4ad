// Part of GPUCOORD, GPL-2.0. An expression of named variables, with its derivatives.

#ifndef GPUCOORD_EXPRESSION_H
#define GPUCOORD_EXPRESSION_H

#include "gpucoord/export.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpucoord {

// A bad expression. name: the name that causes the error, or "" if the text is wrong. what() names
// the value, the limit and the way out.
class GPUCOORD_API ExpressionError : public std::invalid_argument {
 public:
  ExpressionError(std::string name_in, const std::string &message) :
      std::invalid_argument(message), name(std::move(name_in))
  {
  }
  const std::string name;
};

// An expression, parsed and differentiated by Lepton. One object serves one thread.
class GPUCOORD_API Expression {
 public:
  // Throws ExpressionError if the text cannot be parsed, has a constant part that is not a number,
  // uses a name that is not in names, or does not use one of the names.
  Expression(const std::string &text, const std::vector<std::string> &names);
  ~Expression();

  // Returns whether a word can be a name: letters, digits and _, not starting with a digit.
  static bool is_name(const std::string &word);

  // Returns the value for numbers, [names], in the order of the names. Sets the derivatives with
  // respect to each number, [names], unless derivatives is null.
  double evaluate(const double *values, double *derivatives);

 private:
  struct Programs;
  std::unique_ptr<Programs> programs;
};

}    // namespace gpucoord

#endif
