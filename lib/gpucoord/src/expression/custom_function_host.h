// Part of GPUCOORD, GPL-2.0. A function given as an expression in x.

#ifndef GPUCOORD_CUSTOM_FUNCTION_HOST_H
#define GPUCOORD_CUSTOM_FUNCTION_HOST_H

#include "gpucoord/export.h"

#include <memory>
#include <string>

namespace gpucoord {

class GPUCOORD_TEST_API CustomFunction {
 public:
  // Throws ExpressionError if the text cannot be parsed or uses a variable other than x. hint: how
  // to write it, in the error
  CustomFunction(const std::string &expression, const std::string &hint);
  CustomFunction(const CustomFunction &);
  ~CustomFunction();

  // Sets f(x) and df/dx in double. Not const and not thread-safe, because the evaluator has its own
  // workspace.
  void evaluate(double x, double &value, double &derivative);

 private:
  struct Programs;
  std::unique_ptr<Programs> programs;
};

}    // namespace gpucoord

#endif
