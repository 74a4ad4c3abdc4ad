// Part of GPUCOORD, GPL-2.0. Coordination numbers of atoms whose data lie on a GPU.
//
// Nothing but scalars leaves the GPU: positions, types and groups are read where they are, derivatives stay there,
// and forces are added there. All work is enqueued on the caller's stream; only what says so waits for it.
//
// Partners within dmax and a skin are found once, and hold until an atom has moved by half the skin.

#ifndef GPUCOORD_RESIDENT_COORDINATION_H
#define GPUCOORD_RESIDENT_COORDINATION_H

#include "gpucoord/export.h"
#include "gpucoord/pairs.h"
#include "gpucoord/variable.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace gpucoord {

// What is known after a wait.
struct ResidentResult {
  double value = 0.0;    // S of this rank
  double virial[6] = {};
  int bad_atom = -1;    // row of an atom whose position is not finite; -1: none
  bool moved =
      false;    // an atom has moved by more than half the skin: pairs at dmax may be missing
};

class GPUCOORD_API ResidentCoordination : public Variable {
 public:
  // Finds the pairs; to be called before the first evaluation and whenever atoms were renumbered or may have moved
  // by half the skin. version: whoever shares pairs finds those of one version once; 0: always. Waits. Throws
  // DeviceError, std::bad_alloc.
  virtual void rebuild(const DeviceAtoms &, const DeviceSelection &, std::int64_t version,
                       DeviceStream) = 0;
  // owned atoms of group a and b, of the last rebuild
  virtual std::int64_t natoms_a() const = 0;
  virtual std::int64_t natoms_b() const = 0;

  // Enqueues S and, as wanted, derivatives and virial at these positions. positions: a number that says which
  // they are, or 0: whoever shares pairs reads positions of one number once.
  virtual void evaluate(const DeviceAtoms &, unsigned want, std::int64_t positions,
                        DeviceStream) = 0;
  // The same for add_forces() alone: where pair terms are float, derivatives may be kept in float, too.
  virtual void evaluate_for_forces(const DeviceAtoms &, unsigned want, std::int64_t positions,
                                   DeviceStream) = 0;
  // As evaluate(), and the forces -dS/dx of the owned atoms are added: S is an energy.
  virtual void evaluate_forces(const DeviceAtoms &, unsigned want, const DeviceForces &,
                               DeviceStream) = 0;

  // Waits for the last evaluation. What went wrong is said once.
  virtual ResidentResult result(DeviceStream) = 0;
  virtual void forget_errors(DeviceStream) = 0;    // of an earlier run
  // Waits, and adds the per-atom output of the last evaluate() to peratom, [nlocal][peratom_columns(want)] on the host.
  virtual void peratom(double *peratom, DeviceStream) = 0;
};

GPUCOORD_API std::unique_ptr<ResidentCoordination>
make_resident_coordination(const SwitchTable &, Precision, std::shared_ptr<ResidentPairs>);

}    // namespace gpucoord

#endif
