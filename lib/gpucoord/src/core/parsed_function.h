// Part of GPUCOORD, GPL-2.0. A function f(x) and its derivative, parsed and simplified by Lepton.

#ifndef GPUCOORD_PARSED_FUNCTION_H
#define GPUCOORD_PARSED_FUNCTION_H

#include "Lepton.h"

#include <string>

namespace gpucoord {

// Returns the simplified expression. Throws std::domain_error if a constant part of it is not a
// number.
Lepton::ParsedExpression optimized(const Lepton::ParsedExpression &);

struct ParsedFunction {
  // Throws std::exception if Lepton cannot parse the text, or if the function or its derivative has
  // a constant part that is not a number.
  explicit ParsedFunction(const std::string &expression);

  Lepton::ParsedExpression value, derivative;    // f(x), df/dx
};

}    // namespace gpucoord

#endif
