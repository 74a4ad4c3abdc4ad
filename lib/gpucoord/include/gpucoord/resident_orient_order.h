// Part of GPUCOORD, GPL-2.0. Order parameters of Steinhardt (orient_order.h) of atoms that are
// resident on a GPU.
//
// All work is enqueued on the caller's stream. Only functions documented as waiting wait for it.

#ifndef GPUCOORD_RESIDENT_ORIENT_ORDER_H
#define GPUCOORD_RESIDENT_ORIENT_ORDER_H

#include "gpucoord/atom_function.h"
#include "gpucoord/export.h"
#include "gpucoord/orient_order.h"
#include "gpucoord/pairs.h"
#include "gpucoord/types.h"
#include "gpucoord/variable.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace gpucoord {

// Communication of numbers in device memory.
struct DeviceExchange {
  // [nall] the owned atom whose image each atom is, in device memory, on one rank; null: forward()
  // is called.
  const int *owner = nullptr;
  // Collective. Enqueues copies of the numbers of owned atoms to their ghosts, [nall][columns].
  std::function<void(void *numbers, int columns, bool is_float)> forward;
  // GLOBAL on several ranks: sums over ranks, on the host; it is called after a wait. Else null.
  AtomFunction::Reduce reduce;
};

class GPUCOORD_API ResidentOrientOrder {
 public:
  virtual ~ResidentOrientOrder() = default;

  // As Variable::rebuild(). selection: neighbors and is_evaluated_once are not used.
  virtual void rebuild(const DeviceAtoms &, const DeviceSelection &, std::int64_t version,
                       DeviceStream) = 0;
  virtual std::int64_t natoms_a() const = 0;
  virtual std::int64_t natoms_b() const = 0;

  // Enqueues S and the requested outputs. Throws DeviceError.
  virtual void evaluate(const DeviceAtoms &, const Request &, const DeviceExchange &,
                        DeviceStream) = 0;
  virtual DeviceValue device_value() const = 0;
  virtual void forget_errors(DeviceStream) = 0;

  struct Result : Totals {
    int bad =
        -1;    // smallest index of an atom whose f or f' is bad (resident_function.h); -1: none
    double order_of_bad = 0.0, slope_of_bad = 0.0;
  };
  // Waits. Errors are cleared after being reported. Throws DeviceError.
  virtual Result result(DeviceStream) = 0;
  // As those of Variable. Column 0 of the per-atom output is v_i.
  virtual void add_forces(const DeviceForces &, Factor, DeviceStream) = 0;
  virtual void peratom(double *peratom, DeviceStream) = 0;
  // Waits, and copies f(v_i) to the host, [nlocal]; GLOBAL: v_i. Throws DeviceError.
  virtual void copy_f(double *f, DeviceStream) = 0;

  virtual std::size_t bytes() const = 0;            // device memory
  virtual std::int64_t bytes_copied() const = 0;    // between host and device, since construction
};

// Makes an order parameter on the current GPU. Throws DeviceError, OrientOrderError,
// AtomFunctionError, and std::invalid_argument if the table has no end or the function is not
// can_be_resident().
GPUCOORD_API std::unique_ptr<ResidentOrientOrder>
make_resident_orient_order(const SwitchTable &, const OrientOrderOptions &, Precision);

}    // namespace gpucoord

#endif
