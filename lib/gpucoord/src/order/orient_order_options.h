// Part of GPUCOORD, GPL-2.0. Checks shared by the backends of order parameters.

#ifndef GPUCOORD_ORIENT_ORDER_OPTIONS_H
#define GPUCOORD_ORIENT_ORDER_OPTIONS_H

#include "gpucoord/orient_order.h"

namespace gpucoord {

// Throws std::invalid_argument if the order parameter does not support two groups.
void check_groups(const OrientOrderOptions &, const OrientOrderInput &);

}    // namespace gpucoord

#endif
