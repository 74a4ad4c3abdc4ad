// Part of GPUCOORD, GPL-2.0. Interface of pair styles whose atoms are resident on a GPU: energy,
// forces and virial of pairs in one pass. A pair style is no Variable: its forces are added in the
// pass that sums the energy, without a factor.
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

// The part of one rank. S is the energy.
class GPUCOORD_API PairPass {
 public:
  virtual ~PairPass() = default;

  // See Variable::rebuild().
  virtual void rebuild(const DeviceAtoms &, const DeviceSelection &, std::int64_t version,
                       DeviceStream) = 0;
  // Enqueues f -= dS/dx for the owned atoms, S, and the outputs in want. Throws DeviceError.
  virtual void add_forces_and_tally(const DeviceAtoms &, unsigned want, const DeviceForces &,
                                    DeviceStream) = 0;
  // Waits for the last pass. Errors are cleared after being reported. Throws DeviceError.
  virtual Totals result(DeviceStream) = 0;
  // Waits, and adds the per-atom output of the last pass with ATOM_VIRIAL to peratom,
  // [nlocal][peratom_columns(want)] on the host.
  virtual void peratom(double *peratom, DeviceStream) = 0;

  virtual std::size_t bytes() const = 0;    // device memory
};

}    // namespace gpucoord

#endif
