// Part of GPUCOORD, GPL-2.0. Collective variables whose atoms are resident on a GPU: the interface
// that biases on the GPU know.

#ifndef GPUCOORD_VARIABLE_H
#define GPUCOORD_VARIABLE_H

#include "gpucoord/export.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <cstdint>

namespace gpucoord {

struct DeviceStatus;

// The product of both numbers. The second one may not be known to the host yet.
struct Factor {
  double host = 1.0;
  const double *device = nullptr;    // in device memory; null: 1
};

// S = scale * *sum, once the enqueued evaluation is done.
struct DeviceValue {
  const double *sum = nullptr;    // in device memory; null: S is 0
  double scale = 1.0;
  const DeviceStatus *status = nullptr;    // in device memory: errors of the evaluation
};

class GPUCOORD_API Variable {
 public:
  virtual ~Variable() = default;

  // The value of the last enqueued evaluation.
  virtual DeviceValue device_value() const = 0;
  // Enqueues f -= factor dS/dx for the owned atoms, after an evaluation with DERIVATIVES.
  virtual void add_forces(const DeviceForces &, Factor, DeviceStream) = 0;

  virtual std::size_t bytes() const = 0;            // device memory
  virtual std::int64_t bytes_copied() const = 0;    // between host and device, since construction
};

}    // namespace gpucoord

#endif
