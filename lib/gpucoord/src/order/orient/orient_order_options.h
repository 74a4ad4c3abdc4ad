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

// The exchanges of a backend.
struct OrderExchanges {
  int columns[3];       // columns exchanged before passes 2, 3 and 4
  bool reduces_unit;    // reduce the largest weight over all ranks after the function
};

// Performs the exchanges of an evaluation that follow the first nexchanged ones, with zeros, so
// that other ranks do not wait.
void make_missing_exchanges(int nexchanged, const OrientOrderOptions &, AtomFunction &,
                            const OrderInput &, unsigned want, const OrderExchanges &);

}    // namespace gpucoord

#endif
