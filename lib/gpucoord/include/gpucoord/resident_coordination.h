// Part of GPUCOORD, GPL-2.0. Coordination numbers of atoms whose data are resident on a GPU.
//
// Only scalars leave the GPU. Kernels read positions, types and groups in place, keep the
// derivatives on the GPU, and add forces in place. All work is enqueued on the caller's stream.
// Only functions documented as waiting wait for it.
//
// Partners within dmax plus the skin are found once. They are valid until an atom has moved by half
// the skin.

#ifndef GPUCOORD_RESIDENT_COORDINATION_H
#define GPUCOORD_RESIDENT_COORDINATION_H

#include "gpucoord/export.h"
#include "gpucoord/pairs.h"
#include "gpucoord/variable.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace gpucoord {

// Results that are available after a wait.
struct ResidentResult {
  double value = 0.0;    // S of this rank
  // W of this rank: xx yy zz xy xz yz
  double virial[6] = {};
  int bad_atom = -1;    // row of an atom whose position is not finite; -1: none
  // An atom has moved by more than half the skin, so pairs at dmax may be missing.
  bool moved = false;
};

class GPUCOORD_API ResidentCoordination : public Variable {
 public:
  // Finds the pairs. Must be called before the first evaluation, and whenever atoms were renumbered
  // or may have moved by half the skin. version: variables that share pairs find the pairs of one
  // version once; 0: always. Waits. Throws DeviceError, std::bad_alloc, and std::invalid_argument
  // (see DeviceSelection::neighbors).
  virtual void rebuild(const DeviceAtoms &, const DeviceSelection &, std::int64_t version,
                       DeviceStream) = 0;
  // Return the number of owned atoms of group a and b at the last rebuild.
  virtual std::int64_t natoms_a() const = 0;
  virtual std::int64_t natoms_b() const = 0;

  // Enqueues S and, as wanted, derivatives and virial. positions: a number that identifies the
  // positions; variables that share pairs read the positions of one number once; 0: always. Throws
  // DeviceError.
  virtual void evaluate(const DeviceAtoms &, unsigned want, std::int64_t positions,
                        DeviceStream) = 0;
  // Like evaluate(), for add_forces() only: if pair terms are float, the derivatives may be kept in
  // float.
  virtual void evaluate_for_forces(const DeviceAtoms &, unsigned want, std::int64_t positions,
                                   DeviceStream) = 0;
  // Like evaluate(), and adds the forces -dS/dx to the owned atoms: S is an energy.
  virtual void evaluate_forces(const DeviceAtoms &, unsigned want, const DeviceForces &,
                               DeviceStream) = 0;

  // Waits for the last evaluation. Errors are cleared after being reported. Throws DeviceError.
  virtual ResidentResult result(DeviceStream) = 0;
  // Clears the errors of an earlier run.
  virtual void forget_errors(DeviceStream) = 0;
  // Waits, and adds the per-atom output of the last evaluate() to peratom,
  // [nlocal][peratom_columns(want)] on the host.
  virtual void peratom(double *peratom, DeviceStream) = 0;
};

GPUCOORD_API std::unique_ptr<ResidentCoordination>
make_resident_coordination(const SwitchTable &, Precision, std::shared_ptr<ResidentPairs>);

}    // namespace gpucoord

#endif
