// Part of GPUCOORD, GPL-2.0. Rigid molecules whose data lie on a GPU.
//
// Nothing but sums leaves the GPU: centers of mass, types and quaternions are read where they are, and forces and torques are
// added there. All work is enqueued on the caller's stream; only what says so waits for it.

#ifndef GPUCOORD_RESIDENT_MULTISITE_H
#define GPUCOORD_RESIDENT_MULTISITE_H

#include "gpucoord/export.h"
#include "gpucoord/multisite.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace gpucoord {

// How atoms are turned: pointers to device memory.
struct DeviceBodies {
  const int *of_atom = nullptr;    // [nall] number of its body; negative: it has none
  const void *quaternion =
      nullptr;               // of body 0: 4 doubles w x y z, from the body's frame to that of space
  std::size_t stride = 0;    // bytes from one body to the next
};

// Length 1 of a quaternion, to this: callers have rounded it.
constexpr double QUATERNION_TOLERANCE = 1e-6;

// What was wrong in an evaluation since the last rebuild().
struct ResidentMultisiteErrors {
  int bad_atom =
      -1;    // row of a molecule without a body, a finite position or a quaternion of length 1; -1: none
  bool types_changed = false;    // a molecule is of another component than at the rebuild
};

struct ResidentMultisiteResult : ResidentMultisiteErrors {
  MultisiteSums sums;    // of this rank, with MultisiteWant::ALL; no timings
};

class GPUCOORD_API ResidentMultisite {
 public:
  virtual ~ResidentMultisite() = default;

  // Which atoms are molecules, and of which component: to be called before the first evaluation and whenever atoms were
  // renumbered. Reads positions and types. Waits. Returns what was wrong until now, by rows of until now. Throws DeviceError,
  // std::bad_alloc.
  virtual ResidentMultisiteErrors rebuild(const DeviceAtoms &, DeviceStream) = 0;
  // Enqueues an evaluation at these positions, and adds to the owned molecules. Reads types, too.
  virtual void evaluate(const DeviceAtoms &, const DeviceBodies &, MultisiteWant,
                        const DeviceForces &force, const DeviceForces &torque, DeviceStream) = 0;
  // The same, and adds to nothing.
  virtual void evaluate(const DeviceAtoms &, const DeviceBodies &, MultisiteWant, DeviceStream) = 0;

  // Waits for the last evaluation.
  virtual ResidentMultisiteResult result(DeviceStream) = 0;
  // Waits, and adds the results of the last evaluation to arrays of the host, by row of the owned atoms; any may be null.
  virtual void add_to(const MultisiteResults &, DeviceStream) = 0;

  virtual std::size_t bytes() const = 0;    // of device memory
};

// component_of: [types + 1] of atoms by type, which count from 1; negative: they are no molecules
GPUCOORD_API std::unique_ptr<ResidentMultisite>
make_resident_multisite(const MultisiteModel &, const std::vector<int> &component_of, Precision);

// Takes away what vectors have along an axis of their atoms: torques, angular momenta of linear molecules.
class GPUCOORD_API ResidentAxes {
 public:
  virtual ~ResidentAxes() = default;
  // Enqueues. vectors: of the owned atoms; those change that have one of these group bits, and a body. Reads types and masks.
  virtual void take_away(const DeviceAtoms &, const DeviceBodies &, int groupbit,
                         const DeviceForces &vectors, DeviceStream) const = 0;
};

// axis_of: [types + 1] 0, 1 or 2: of the body's frame; negative: none
GPUCOORD_API std::unique_ptr<ResidentAxes> make_resident_axes(const std::vector<int> &axis_of);

}    // namespace gpucoord

#endif
