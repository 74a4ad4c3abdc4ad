// Part of GPUCOORD, GPL-2.0. Shared pieces of the backends of Steinhardt order parameters.

#ifndef GPUCOORD_ORIENT_ORDER_OPTIONS_H
#define GPUCOORD_ORIENT_ORDER_OPTIONS_H

#include "../order_values.h"

#include "gpucoord/orient_order.h"

namespace gpucoord {

// Throws std::invalid_argument if there are two groups and the order parameter does not support
// them.
void check_groups(const OrientOrderOptions &, const OrderInput &);

constexpr bool uses_q_of_partners(OrderKind order)
{
  return order != OrderKind::LOCAL && order != OrderKind::GLOBAL;
}

}    // namespace gpucoord

#endif
