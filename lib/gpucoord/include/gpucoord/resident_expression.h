// Part of GPUCOORD, GPL-2.0. Expressions of variables whose values are on a GPU.

#ifndef GPUCOORD_RESIDENT_EXPRESSION_H
#define GPUCOORD_RESIDENT_EXPRESSION_H

#include "gpucoord/device_value.h"
#include "gpucoord/export.h"
#include "gpucoord/period.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gpucoord {

// S = f(S_1, ..., S_n) and its derivatives, evaluated on the GPU without a wait.
class GPUCOORD_API ResidentExpression {
 public:
  static constexpr int MAX_VARIABLES = 31;

  virtual ~ResidentExpression() = default;

  // Enqueues S and dS/dS_k of the last evaluations of the variables, in the order of the names. S
  // is NaN if S or a derivative is not finite. Throws DeviceError.
  virtual void evaluate(const std::vector<DeviceValue> &, DeviceStream) = 0;
  virtual DeviceValue device_value() const = 0;
  // Enqueues the products of a factor and dS/dS_k. A product is 0 if the factor is 0, even if the
  // derivative is not finite. The next call overwrites the products, after all work
  // that is enqueued in the stream. Throws DeviceError.
  virtual void multiply(const Factor &, DeviceStream) = 0;
  // Returns a product in device memory. The products of all variables follow each other.
  virtual const double *product(int variable) const = 0;

  virtual std::size_t bytes() const = 0;    // device memory
};

// text, names: see Expression; at most MAX_VARIABLES names. period: of S, which is mapped into it.
// Throws DeviceError; throws std::length_error with the limit if the expression is too large for
// the GPU.
GPUCOORD_API std::unique_ptr<ResidentExpression>
make_resident_expression(const std::string &text, const std::vector<std::string> &names,
                         Period period = {});

}    // namespace gpucoord

#endif
