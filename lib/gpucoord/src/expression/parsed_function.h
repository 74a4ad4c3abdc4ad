// Part of GPUCOORD, GPL-2.0. Expressions and their derivatives, parsed and simplified by Lepton.

#ifndef GPUCOORD_PARSED_FUNCTION_H
#define GPUCOORD_PARSED_FUNCTION_H

#include "Lepton.h"

#include <string>
#include <vector>

namespace gpucoord {

// Limits of the length of an expression and of its derivatives. The time that Lepton needs grows
// faster than the square of the length: both limits take about a second.
constexpr int MAX_LENGTH = 1000;                // numbers, names and operations
constexpr int MAX_DERIVATIVE_LENGTH = 10000;    // the same, estimated before simplification

// Returns the parsed text. Throws std::length_error, whose text begins with 'it', if the text is
// too long, and std::exception if Lepton cannot parse it.
Lepton::ParsedExpression parsed(const std::string &text);

// Throws std::length_error, whose text begins with 'its', if the derivatives of a simplified
// expression with respect to these names are too long together: the root of the sum of the squares
// of their lengths, because Lepton needs a time for each that grows as the square.
void check_derivatives(const Lepton::ParsedExpression &, const std::vector<std::string> &names);

// Returns the first number that Lepton would misread, such as 2e, which it reads as 0, and the way
// out; "" if there is no such number.
std::string bad_number(const std::string &text);

// Returns the first characters of a long text.
std::string shortened(const std::string &text);

// Returns the simplified expression. Throws std::domain_error if a constant part of it is not a
// number.
Lepton::ParsedExpression optimized(const Lepton::ParsedExpression &);

struct ParsedFunction {
  // Throws std::exception if the text is too long, if Lepton cannot parse it, or if the function or
  // its derivative has a constant part that is not a number.
  explicit ParsedFunction(const std::string &expression, const std::string &name = "x");

  Lepton::ParsedExpression value, derivative;    // f(x), df/dx, where name is the name of x
};

}    // namespace gpucoord

#endif
