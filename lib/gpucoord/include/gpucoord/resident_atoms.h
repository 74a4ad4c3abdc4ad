// Part of GPUCOORD, GPL-2.0. Access to a few of the atoms that are resident on a GPU.

#ifndef GPUCOORD_RESIDENT_ATOMS_H
#define GPUCOORD_RESIDENT_ATOMS_H

#include "gpucoord/export.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gpucoord {

// Copies positions of selected atoms to the host, and adds forces from the host to them. Does not
// wait for other work of the stream. Functions throw DeviceError.
class GPUCOORD_API ResidentAtoms {
 public:
  static constexpr int NOT_HERE = -1;

  virtual ~ResidentAtoms() = default;
  // Selects the atoms. index: rows in the caller's arrays, each at most once, or NOT_HERE for an
  // atom of another rank. Such an atom has the position 0, and its force is ignored. Waits.
  virtual void select(const std::vector<int> &index, DeviceStream) = 0;
  virtual void enqueue_positions(const DeviceAtoms &, DeviceStream) = 0;
  // Waits only for the last enqueue_positions(). Returns [n][3], distance, valid until the next
  // enqueue_positions().
  virtual const double *positions() = 0;
  // Enqueues f += force, [n][3]. Waits for the previous call.
  virtual void add_forces(const DeviceForces &, const double *force, DeviceStream) = 0;

  virtual std::size_t bytes() const = 0;            // device memory and pinned host memory
  virtual std::int64_t bytes_copied() const = 0;    // between host and device, since construction
};

GPUCOORD_API std::unique_ptr<ResidentAtoms> make_resident_atoms();

}    // namespace gpucoord

#endif
