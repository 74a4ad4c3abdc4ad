// Part of GPUCOORD, GPL-2.0. A few of the atoms whose data are resident on a GPU.

#ifndef GPUCOORD_RESIDENT_ATOMS_H
#define GPUCOORD_RESIDENT_ATOMS_H

#include "gpucoord/export.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gpucoord {

// Takes positions of chosen atoms to the host, and forces on them from it, without a wait for other
// work of the stream. Functions throw DeviceError.
class GPUCOORD_API ResidentAtoms {
 public:
  static constexpr int NOT_HERE = -1;

  virtual ~ResidentAtoms() = default;
  // index: rows in the caller's arrays, each at most once, or NOT_HERE for an atom of another rank,
  // whose position is 0 and whose forces are ignored. Waits.
  virtual void select(const std::vector<int> &index, DeviceStream) = 0;
  virtual void enqueue_positions(const DeviceAtoms &, DeviceStream) = 0;
  // Waits for the last enqueue_positions() alone. [n][3], valid until the next one.
  virtual const double *positions() = 0;
  // Enqueues f += force, [n][3]. Waits for the call before.
  virtual void add_forces(const DeviceForces &, const double *force, DeviceStream) = 0;

  virtual std::size_t bytes() const = 0;            // device memory, and pinned host memory
  virtual std::int64_t bytes_copied() const = 0;    // between host and device, since construction
};

GPUCOORD_API std::unique_ptr<ResidentAtoms> make_resident_atoms();

}    // namespace gpucoord

#endif
