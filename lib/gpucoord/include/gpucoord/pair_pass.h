// Part of GPUCOORD, GPL-2.0. Interface of pair styles whose atoms are resident on a GPU. One pass
// computes energy, forces and virial of pairs. A pair style is not a Variable: it adds its forces
// in the pass that sums the energy, without a factor.
//
// All work is enqueued on the caller's stream. Only functions documented as waiting wait for it.

#ifndef GPUCOORD_PAIR_PASS_H
#define GPUCOORD_PAIR_PASS_H

#include "gpucoord/export.h"
#include "gpucoord/pairs.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <cstdint>

namespace gpucoord {

// The contribution of one rank. S is the energy.
class GPUCOORD_API PairPass {
 public:
  virtual ~PairPass() = default;

  // See Variable::rebuild().
  virtual void rebuild(const DeviceAtoms &, const DeviceSelection &, std::int64_t version,
                       DeviceStream) = 0;
  // Enqueues f -= dS/dx for the owned atoms, S, and the outputs selected by want. Throws
  // DeviceError.
  virtual void add_forces_and_tally(const DeviceAtoms &, unsigned want, const DeviceForces &,
                                    DeviceStream) = 0;
  // Waits for the last pass. Errors are cleared after being reported. Throws DeviceError.
  virtual Totals result(DeviceStream) = 0;
  // Waits, and adds the per-atom output of the last pass to peratom,
  // [nlocal][peratom_columns(want)] on the host. That pass must include ATOM_VIRIAL.
  virtual void peratom(double *peratom, DeviceStream) = 0;

  virtual std::size_t bytes() const = 0;    // device memory
};

}    // namespace gpucoord

#endif
