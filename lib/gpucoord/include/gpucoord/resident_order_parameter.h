// Part of GPUCOORD, GPL-2.0. Interface of order parameters (order_parameter.h) of atoms that are
// resident on a GPU.
//
// All work is enqueued on the caller's stream. Only functions documented as waiting wait for it.

#ifndef GPUCOORD_RESIDENT_ORDER_PARAMETER_H
#define GPUCOORD_RESIDENT_ORDER_PARAMETER_H

#include "gpucoord/atom_function.h"
#include "gpucoord/export.h"
#include "gpucoord/pairs.h"
#include "gpucoord/resident_numbers.h"
#include "gpucoord/types.h"
#include "gpucoord/variable.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace gpucoord {

// Communication of per-atom numbers in device memory.
struct DeviceExchange {
  // [nall] the owned atom whose image each atom is, in device memory, on one rank; null: forward()
  // is called instead.
  const int *owner = nullptr;
  // Collective call. Copies the numbers of owned atoms to their ghosts on all ranks, with the
  // functions of ResidentNumbers.
  std::function<void()> forward;
  // Sums over ranks, on the host. Called after a wait. Null: there is one rank.
  AtomFunction::Reduce reduce;

  // A communication call of an evaluation on several ranks.
  enum class Kind { FORWARD, REDUCE };
  struct Call {
    Kind kind = Kind::FORWARD;
    int n = 0;    // REDUCE: number of sums
  };
};

// S is a function of the v_i that the caller evaluates (atom_function.h, resident_function.h), or
// one number of all atoms. In the second case, the value is S itself.
class GPUCOORD_API ResidentOrderParameter : public ResidentPairVariable, public ResidentNumbers {
 public:
  // Enqueues the reading of positions. result() then tells whether the pairs are still valid. The
  // evaluations below read positions themselves if necessary. Throws DeviceError.
  virtual void read_positions(const DeviceAtoms &, std::int64_t positions, DeviceStream) = 0;

  // Enqueues v, [nlocal] in device memory: v_i for atoms of a, and 0 for other atoms. The caller
  // must not change v until the next rebuild. v may be null, which is faster, if S is one number of
  // all atoms. A change of v costs the clearing of all numbers. Throws DeviceError.
  virtual void evaluate_first(const DeviceAtoms &, std::int64_t positions, const DeviceExchange &,
                              double *v, DeviceStream) = 0;
  // Enqueues the derivatives and the virial of the sum of unit w_i v_i with constant weights w,
  // [nlocal] in device memory. If S is one number of all atoms, enqueues those of S, and does not
  // read w. Kernels in float do not scale w. Column 0 of the per-atom output is 0. Throws
  // DeviceError.
  virtual void evaluate_second(const Request &, const double *w, double unit,
                               const DeviceExchange &, DeviceStream) = 0;

  // Like peratom(), with nthreads OpenMP threads. Adds the output of atom k to row row_of_atom[k];
  // null: to row k.
  virtual void add_peratom(double *peratom, const int *row_of_atom, int nthreads, DeviceStream) = 0;

  // Call after result(). Returns whether an owned atom of a has had a partner in range since the
  // previous result().
  virtual bool any_partners() const = 0;

  // Call after result(). Like OrderParameter::global_vector().
  virtual std::vector<double> global_vector() const { return {}; }

  // Returns the calls of DeviceExchange in the two evaluations on several ranks, in order. A rank
  // that fails can then make the calls that the others wait for.
  virtual std::vector<DeviceExchange::Call> exchanges(unsigned want) const = 0;
};

}    // namespace gpucoord

#endif
