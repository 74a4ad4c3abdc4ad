// Part of GPUCOORD, GPL-2.0. Interface of order parameters (order_parameter.h) of atoms that are
// resident on a GPU.
//
// All work is enqueued on the caller's stream. Only functions documented as waiting wait for it.

#ifndef GPUCOORD_RESIDENT_ORDER_PARAMETER_H
#define GPUCOORD_RESIDENT_ORDER_PARAMETER_H

#include "gpucoord/atom_function.h"
#include "gpucoord/export.h"
#include "gpucoord/pairs.h"
#include "gpucoord/types.h"
#include "gpucoord/variable.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace gpucoord {

// Communication of numbers of atoms that are in device memory.
struct DeviceExchange {
  // [nall] the owned atom whose image each atom is, in device memory, on one rank; null: forward()
  // is called.
  const int *owner = nullptr;
  // Collective. Copies the numbers of owned atoms to their ghosts, on all ranks, by pack() and
  // unpack(), or get_numbers() and set_numbers().
  std::function<void()> forward;
  // Sums over ranks, on the host; it is called after a wait. Null: there is one rank.
  AtomFunction::Reduce reduce;

  // One of the calls that an evaluation on several ranks makes.
  enum class Kind { FORWARD, REDUCE };
  struct Call {
    Kind kind = Kind::FORWARD;
    int n = 0;    // REDUCE: number of sums
  };
};

// S is a function of the v_i that the caller evaluates (atom_function.h, resident_function.h), or
// one number of all atoms, which is the value itself.
class GPUCOORD_API ResidentOrderParameter : public Variable {
 public:
  // Enqueues the read of positions, so that result() tells whether the pairs are still valid. The
  // evaluations below read them if they are not known. Throws DeviceError.
  virtual void read_positions(const DeviceAtoms &, std::int64_t positions, DeviceStream) = 0;

  // Enqueues v, [nlocal] in device memory: v_i of the atoms of a, and 0 for others. The caller must
  // not change it until the next rebuild. If S is one number of all atoms, v may be null, which is
  // faster. Throws DeviceError.
  virtual void evaluate_first(const DeviceAtoms &, std::int64_t positions, const DeviceExchange &,
                              double *v, DeviceStream) = 0;
  // Enqueues the derivatives and the virial of the sum of unit w_i v_i with constant weights w,
  // [nlocal] in device memory, or those of S if it is one number of all atoms, and w is not read.
  // Kernels in float do not scale w. Column 0 of the per-atom output is 0. Throws DeviceError.
  virtual void evaluate_second(const Request &, const double *w, double unit,
                               const DeviceExchange &, DeviceStream) = 0;

  // As peratom(), with nthreads OpenMP threads. The output of atom k is added to row
  // row_of_atom[k]; null: to row k.
  virtual void add_peratom(double *peratom, const int *row_of_atom, int nthreads, DeviceStream) = 0;

  // After result(): whether an owned atom of a had a partner in range in an evaluation since the
  // result() before.
  virtual bool any_partners() const = 0;

  // The calls of DeviceExchange in the two evaluations on several ranks, in order, so that a rank
  // that fails can make those that the others wait for.
  virtual std::vector<DeviceExchange::Call> exchanges(unsigned want) const = 0;

  // For DeviceExchange::forward. pack() enqueues the numbers of n atoms, [n][exchange_columns()],
  // and unpack() those of the atoms from 'first' on; pointers are to device memory. get_numbers()
  // and set_numbers() wait, and copy the numbers of all atoms, [nall][exchange_columns()], to and
  // from the host. Throw DeviceError.
  virtual int exchange_columns() const = 0;
  virtual void pack(const int *list, int n, double *to, DeviceStream) = 0;
  virtual void unpack(const double *from, int n, int first, DeviceStream) = 0;
  virtual void get_numbers(double *to, DeviceStream) = 0;
  virtual void set_numbers(const double *from, DeviceStream) = 0;
};

}    // namespace gpucoord

#endif
