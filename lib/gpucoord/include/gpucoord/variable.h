// Part of GPUCOORD, GPL-2.0. Interface of collective variables whose atoms are resident on a GPU.
//
// All work is enqueued on the caller's stream. Only functions documented as waiting wait for it.

#ifndef GPUCOORD_VARIABLE_H
#define GPUCOORD_VARIABLE_H

#include "gpucoord/box.h"
#include "gpucoord/device_value.h"
#include "gpucoord/export.h"
#include "gpucoord/pairs.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpucoord {

// Outputs of an evaluation, and the positions that it reads.
struct Request {
  unsigned want = VALUE;    // see Want in pairs.h
  // Only add_forces() uses the derivatives. They may then be stored in float if pair terms are
  // float.
  bool for_forces_only = false;
  // Identifies the positions. Variables that share pairs read positions with the same number only
  // once. 0: always read.
  std::int64_t positions = 0;
};

// The contribution of one rank to the values S_k. The whole system follows from sums over ranks.
class GPUCOORD_API ResidentVariable {
 public:
  virtual ~ResidentVariable() = default;

  // The values of the last enqueued evaluation.
  virtual DeviceValue device_value() const = 0;
  // Enqueues the copy of result() to the host. result() then does not wait for later work of the
  // stream. Throws DeviceError.
  virtual void enqueue_result(DeviceStream) = 0;
  // Enqueues f -= the sum of factor dS_k/dx for the owned atoms, after an evaluation with
  // DERIVATIVES. A value whose factor is 0 is left out.
  virtual void add_forces(const DeviceForces &, const ItemFactors &, DeviceStream) = 0;

  virtual std::size_t bytes() const = 0;            // device memory
  virtual std::int64_t bytes_copied() const = 0;    // between host and device, since construction
};

// A variable of pairs, with one value. S and W of the whole system are sums over ranks.
class GPUCOORD_API ResidentPairVariable : public ResidentVariable {
 public:
  // Finds the pairs. Must be called before the first evaluation, and whenever atoms have been
  // renumbered or may have moved by half the skin. version: variables that share pairs find the
  // pairs of one version only once; 0: always. Waits. Throws DeviceError and std::bad_alloc; throws
  // std::invalid_argument if it does not support DeviceSelection::neighbors.
  virtual void rebuild(const DeviceAtoms &, const DeviceSelection &, std::int64_t version,
                       DeviceStream) = 0;
  // Return the number of owned atoms of group a and b at the last rebuild.
  virtual std::int64_t natoms_a() const = 0;
  virtual std::int64_t natoms_b() const = 0;

  // Waits for the last evaluation. Errors are cleared after being reported. Throws DeviceError.
  virtual Totals result(DeviceStream) = 0;
  // Clears the errors of an earlier run.
  virtual void discard_errors(DeviceStream) = 0;
  // Waits, and adds the per-atom output of the last evaluation to peratom,
  // [nlocal][peratom_columns(want)] on the host. That evaluation must not be for_forces_only.
  virtual void peratom(double *peratom, DeviceStream) = 0;
};

// A variable without pairs: the values are functions of the positions of a few atoms, its points.
// All functions throw DeviceError.
class GPUCOORD_API ResidentPoints : public ResidentVariable {
 public:
  static constexpr int NOT_HERE = -1;

  // Selects the atoms. rows: in the caller's arrays, or NOT_HERE for an atom of another rank. Must
  // be called before the first evaluation, and whenever atoms have been renumbered. Waits.
  virtual void select(const std::vector<int> &rows, DeviceStream) = 0;
  // Enqueues the reading of the positions of this rank's atoms. Atoms of other ranks have 0.
  virtual void read_positions(const DeviceAtoms &, DeviceStream) = 0;
  // Waits. Returns these positions, [points][3].
  virtual const double *result() = 0;
  // Enqueues the values and dS_k/dx at these positions of all atoms, [points][3], which are
  // read before the function returns. Null: at those of this rank, which has all atoms.
  virtual void evaluate(const Box &, const double *positions, DeviceStream) = 0;
};

}    // namespace gpucoord

#endif
