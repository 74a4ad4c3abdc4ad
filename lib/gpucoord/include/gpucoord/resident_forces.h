// Part of GPUCOORD, GPL-2.0. Forces on the atoms of one rank that are kept on a GPU.

#ifndef GPUCOORD_RESIDENT_FORCES_H
#define GPUCOORD_RESIDENT_FORCES_H

#include "gpucoord/device_value.h"
#include "gpucoord/export.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace gpucoord {

// Keeps the forces of a moment, to add them again later. Functions throw DeviceError.
class GPUCOORD_API ResidentForces {
 public:
  virtual ~ResidentForces() = default;
  // Enqueues a copy of the forces on the first n atoms.
  virtual void take(const DeviceForces &, int n, DeviceStream) = 0;
  // Enqueues f += factor times the taken forces. Nothing is added if the factor is 0.
  virtual void add_to(const DeviceForces &, const Factor &, DeviceStream) = 0;
  // Waits, and copies the taken forces to the host, [n][3].
  virtual void copy_to_host(double *, DeviceStream) = 0;

  virtual std::size_t bytes() const = 0;            // device memory
  virtual std::int64_t bytes_copied() const = 0;    // between host and device, since construction
};

GPUCOORD_API std::unique_ptr<ResidentForces> make_resident_forces();

}    // namespace gpucoord

#endif
