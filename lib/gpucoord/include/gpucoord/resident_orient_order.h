// Part of GPUCOORD, GPL-2.0. Steinhardt order parameters (orient_order.h) of atoms that are
// resident on a GPU.

#ifndef GPUCOORD_RESIDENT_ORIENT_ORDER_H
#define GPUCOORD_RESIDENT_ORIENT_ORDER_H

#include "gpucoord/export.h"
#include "gpucoord/orient_order.h"
#include "gpucoord/resident_order_parameter.h"
#include "gpucoord/switch_table.h"
#include "gpucoord/types.h"

#include <memory>

namespace gpucoord {

class GPUCOORD_API ResidentOrientOrder : public ResidentOrderParameter {
 public:
  // Call after evaluate_first(). Waits, and copies q_lm to the host, [nlocal][2 l + 1] real
  // harmonics (see set_w_hat()). For DOT and CONNECTIONS they are divided by their norm.
  virtual void copy_harmonics(double *q, DeviceStream) = 0;
};

// Makes an order parameter on the current GPU. Does not use OrientOrderOptions::function. Throws
// DeviceError and OrientOrderError; throws std::invalid_argument if dmax is infinite.
GPUCOORD_API std::unique_ptr<ResidentOrientOrder>
make_resident_orient_order(const SwitchTable &, const OrientOrderOptions &, Precision);

}    // namespace gpucoord

#endif
