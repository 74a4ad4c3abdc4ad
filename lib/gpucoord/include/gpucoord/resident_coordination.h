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
#include "gpucoord/pair_pass.h"
#include "gpucoord/pairs.h"
#include "gpucoord/variable.h"

#include <cstdint>
#include <memory>

namespace gpucoord {

class GPUCOORD_API ResidentCoordination : public ResidentPairVariable {
 public:
  // Enqueues S and the requested outputs. Throws DeviceError.
  virtual void evaluate(const DeviceAtoms &, const Request &, DeviceStream) = 0;

  // A function of coordination numbers takes two evaluations. The first one enqueues s, [nlocal] in
  // device memory: s_i for atoms of a, and 0 for other atoms. The value is the sum of s_i. Throws
  // DeviceError.
  virtual void evaluate_first(const DeviceAtoms &, std::int64_t positions, double *s,
                              DeviceStream) = 0;
  // The second evaluation enqueues the derivatives and the virial of the sum of w_i s_i with
  // constant weights. Its value and column 0 are 0. It uses the positions of the first evaluation.
  // Throws DeviceError.
  virtual void evaluate_second(const Request &, const DeviceWeights &, DeviceStream) = 0;
  // Call after evaluate_second() and before enqueue_peratom(). Enqueues column 0 = s for the atoms
  // of a. If an atom may have several rows, returns false and enqueues nothing.
  virtual bool set_first_column(const double *s, DeviceStream) = 0;

  // Enqueues the copy of the per-atom output of the last evaluation to the host. Waits if pairs
  // were rebuilt since the last call.
  virtual void enqueue_peratom(DeviceStream) = 0;
  // Waits, and adds the output of enqueue_peratom() to peratom with nthreads OpenMP threads. row:
  // [nlocal] row of peratom for each atom; null: the index of the atom
  virtual void add_peratom(double *peratom, const int *row, int nthreads) = 0;
};

GPUCOORD_API std::unique_ptr<ResidentCoordination>
make_resident_coordination(const SwitchTable &, Precision, std::shared_ptr<ResidentPairs>);
// Makes a pass over pairs. Its energy is the weighted sum of the functions of the pairs.
GPUCOORD_API std::unique_ptr<PairPass> make_resident_pair_pass(const SwitchTable &, Precision,
                                                               std::shared_ptr<ResidentPairs>);

}    // namespace gpucoord

#endif
