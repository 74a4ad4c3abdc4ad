// Part of GPUCOORD, GPL-2.0. Rigid molecules whose data are resident on a GPU.
//
// Only sums leave the GPU. Kernels read centers of mass, types and quaternions in place, and add
// forces and torques in place. All work is enqueued on the caller's stream. Only functions
// documented as waiting wait for it.

#ifndef GPUCOORD_RESIDENT_MULTISITE_H
#define GPUCOORD_RESIDENT_MULTISITE_H

#include "gpucoord/export.h"
#include "gpucoord/multisite.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace gpucoord {

// Orientations of the atoms. Pointers are to device memory.
struct DeviceBodies {
  const int *body_of_atom = nullptr;    // [nall] index of the atom's body; negative: no body
  // Quaternion of body 0: 4 doubles w x y z, from the body's frame to the laboratory frame.
  const void *quaternion = nullptr;
  std::size_t stride = 0;    // bytes from one body to the next
};

// Tolerance of the norm of a quaternion, which must be 1. Callers may have rounded the quaternion.
constexpr double QUATERNION_TOLERANCE = 1e-6;

// Errors in evaluations since the last rebuild().
struct ResidentMultisiteErrors {
  // Row of a molecule without a body, with a position that is not finite, or with a quaternion
  // whose norm is not 1; -1: none.
  int bad_atom = -1;
  bool types_changed = false;    // the component of a molecule has changed since the rebuild
};

struct ResidentMultisiteResult : ResidentMultisiteErrors {
  MultisiteSums sums;    // sums of this rank, with MultisiteWant::ALL; no timings
};

class GPUCOORD_API ResidentMultisite {
 public:
  virtual ~ResidentMultisite() = default;

  // Finds the molecules and their components. Must be called before the first evaluation and
  // whenever atoms have been renumbered. Reads positions and types. Waits. Returns the errors since
  // the last rebuild, with rows from before the renumbering. Throws DeviceError, std::bad_alloc.
  virtual ResidentMultisiteErrors rebuild(const DeviceAtoms &, DeviceStream) = 0;
  // Enqueues an evaluation at these positions, and adds forces and torques to the owned molecules.
  // Also reads types. Throws DeviceError.
  virtual void evaluate(const DeviceAtoms &, const DeviceBodies &, MultisiteWant,
                        const DeviceForces &force, const DeviceForces &torque, DeviceStream) = 0;
  // Like evaluate() above, without adding forces and torques.
  virtual void evaluate(const DeviceAtoms &, const DeviceBodies &, MultisiteWant, DeviceStream) = 0;

  // Waits for the last evaluation. Throws DeviceError.
  virtual ResidentMultisiteResult result(DeviceStream) = 0;
  // Waits, and adds the results of the last evaluation to host arrays, by row of the owned atoms.
  // Each array may be null.
  virtual void add_to(const MultisiteResults &, DeviceStream) = 0;

  virtual std::size_t bytes() const = 0;    // device memory
};

// component_of: [types + 1] component of each type, types from 1; negative: not a molecule. Throws
// DeviceError.
GPUCOORD_API std::unique_ptr<ResidentMultisite>
make_resident_multisite(const MultisiteModel &, const std::vector<int> &component_of, Precision);

// Removes the component of per-atom vectors along an axis of the atom's body, for the torques or
// angular momenta of linear molecules.
class GPUCOORD_API ResidentAxes {
 public:
  virtual ~ResidentAxes() = default;
  // Enqueues the removal from the vectors of owned atoms that have one of these group bits and a
  // body. Reads types and masks. Throws DeviceError.
  virtual void remove_axial_components(const DeviceAtoms &, const DeviceBodies &, int groupbit,
                                       const DeviceForces &vectors, DeviceStream) const = 0;
  virtual std::size_t bytes() const = 0;    // device memory
};

// axis_of: [types + 1] axis of the body's frame, 0, 1 or 2; negative: no axis. Throws DeviceError.
GPUCOORD_API std::unique_ptr<ResidentAxes> make_resident_axes(const std::vector<int> &axis_of);

}    // namespace gpucoord

#endif
