// Part of GPUCOORD, GPL-2.0. Biases of variables whose values are on a GPU.

#ifndef GPUCOORD_RESIDENT_BIAS_H
#define GPUCOORD_RESIDENT_BIAS_H

#include "gpucoord/bias.h"
#include "gpucoord/device_terms.h"
#include "gpucoord/export.h"
#include "gpucoord/types.h"
#include "gpucoord/variable.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gpucoord {

// A bias of variables on the GPU. Computes V, dV/dS and the work of changing parameters, without a
// wait.
class GPUCOORD_API ResidentBias {
 public:
  static constexpr int MAX_VARIABLES = 8;

  struct State {
    double s[MAX_VARIABLES], dVdS[MAX_VARIABLES];    // S and dV/dS
    double energy, work;
    double averages[1 + 2 * MAX_SAMPLED_VARIABLES];    // DeviceTerms::Averages
    // Errors of all evaluations since set().
    int bad_atom;    // see Totals
    int moved;
    // If one of these is set, the state no longer changes, and the bias has no forces.
    int not_finite;    // S, V or strength dV/dS is not finite
    int outside;       // S has left the grid
  };

  virtual ~ResidentBias() = default;
  // Sets the state that the next evaluation starts from. Evaluations before this one must be
  // complete.
  virtual void set(const State &, DeviceStream) = 0;
  // Enqueues the bias of the last evaluations of these variables, at most MAX_VARIABLES. The terms
  // must not be empty. A grid whose version differs from the last call is copied, with a wait;
  // kernels are copied without.
  // strength: factor of the forces, must be finite
  virtual void evaluate(const std::vector<DeviceValue> &, const DeviceTerms &, double strength,
                        DeviceStream) = 0;
  // Returns dV/dS in device memory. Those of all variables follow each other.
  virtual const double *dVdS(int variable) const = 0;
  virtual State wait(DeviceStream) = 0;
  virtual State last_seen() const = 0;      // state of some earlier evaluation; does not wait
  virtual std::size_t bytes() const = 0;    // device memory and pinned host memory
  virtual std::int64_t bytes_copied() const = 0;    // between host and device, since construction
};

GPUCOORD_API std::unique_ptr<ResidentBias> make_resident_bias();

}    // namespace gpucoord

#endif
