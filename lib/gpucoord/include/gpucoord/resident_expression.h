// Part of GPUCOORD, GPL-2.0. Expressions of variables whose values are on a GPU.

#ifndef GPUCOORD_RESIDENT_EXPRESSION_H
#define GPUCOORD_RESIDENT_EXPRESSION_H

#include "gpucoord/export.h"
#include "gpucoord/types.h"
#include "gpucoord/variable.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gpucoord {

// S = f(S_1, ..., S_n) and its derivatives, on the GPU and without a wait of the host.
class GPUCOORD_API ResidentExpression {
 public:
  static constexpr int MAX_VARIABLES = 31;

  virtual ~ResidentExpression() = default;

  // Enqueues S and dS/dS_k of the last evaluations of the variables, in the order of the names. S
  // is not a number where it or a derivative is not finite. Throws DeviceError.
  virtual void evaluate(const std::vector<DeviceValue> &, DeviceStream) = 0;
  virtual DeviceValue device_value() const = 0;
  // Enqueues the products of a factor in device memory and dS/dS_k: 0 where the factor is 0, also
  // where the derivative is not finite. The next call overwrites them, after all that is enqueued
  // in the stream. Throws DeviceError.
  virtual void multiply(const double *factor, DeviceStream) = 0;
  virtual const double *product(int variable) const = 0;    // in device memory

  virtual std::size_t bytes() const = 0;    // device memory
};

// text, names: as for Expression, at most MAX_VARIABLES names. Throws std::length_error, with the
// limit, where the expression is too large for the GPU, and DeviceError.
GPUCOORD_API std::unique_ptr<ResidentExpression>
make_resident_expression(const std::string &text, const std::vector<std::string> &names);

}    // namespace gpucoord

#endif
