// Part of GPUCOORD, GPL-2.0. Order parameters of Steinhardt (orient_order.h) of atoms that are
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
  // After evaluate_first(): waits, and copies q_lm to the host, [nlocal][2 l + 1] real harmonics
  // (set_w_hat()), for DOT and CONNECTIONS divided by their norm.
  virtual void copy_harmonics(double *q, DeviceStream) = 0;
};

// Makes an order parameter on the current GPU. Its function is not used. Throws DeviceError,
// OrientOrderError, and std::invalid_argument if the table has no end.
GPUCOORD_API std::unique_ptr<ResidentOrientOrder>
make_resident_orient_order(const SwitchTable &, const OrientOrderOptions &, Precision);

}    // namespace gpucoord

#endif
