// Part of GPUCOORD, GPL-2.0. Biases of variables whose values are on a GPU.

#ifndef GPUCOORD_RESIDENT_BIAS_H
#define GPUCOORD_RESIDENT_BIAS_H

#include "gpucoord/bias.h"
#include "gpucoord/export.h"
#include "gpucoord/types.h"
#include "gpucoord/variable.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gpucoord {

// A bias of variables on the GPU: V, dV/dS and the work of parameters that move, without a wait.
class GPUCOORD_API ResidentBias {
 public:
  static constexpr int MAX_VARIABLES = 8;

  struct State {
    double s[MAX_VARIABLES], dVdS[MAX_VARIABLES];    // S and dV/dS
    double energy, work;
    // errors of all evaluations since the state was set
    int bad_atom;    // as in Totals
    int moved;
    // Either stops the state, and the bias has no forces from then on.
    int not_finite;    // whether S, V or strength dV/dS was not a finite number
    int outside;       // whether S has left the grid
  };

  virtual ~ResidentBias() = default;
  // The state before the next evaluation.
  virtual void set(const State &, DeviceStream) = 0;
  // Enqueues the bias of the last evaluations of these variables, at most MAX_VARIABLES. The terms
  // are not empty. A grid of another version than in the last call is copied, with a wait.
  // strength: forces are this many times those of V, and must be finite.
  virtual void evaluate(const std::vector<DeviceValue> &, const DeviceTerms &, double strength,
                        DeviceStream) = 0;
  virtual const double *dVdS(int variable) const = 0;    // in device memory
  virtual State wait(DeviceStream) = 0;
  virtual State last_seen() const = 0;              // without a wait: of some earlier evaluation
  virtual std::int64_t bytes_copied() const = 0;    // between host and device, since it was made
};

GPUCOORD_API std::unique_ptr<ResidentBias> make_resident_bias();

}    // namespace gpucoord

#endif
