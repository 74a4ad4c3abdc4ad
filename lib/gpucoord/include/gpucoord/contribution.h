// Part of GPUCOORD, GPL-2.0. The contribution of one rank to a collective variable.

#ifndef GPUCOORD_CONTRIBUTION_H
#define GPUCOORD_CONTRIBUTION_H

#include "gpucoord/types.h"

namespace gpucoord {

// S and W of the whole system are the sums over ranks, unless stated otherwise.
struct Contribution {
  double value = 0.0;    // S
  // W, minus the derivative of S with respect to the strain e in x_a' = x_a + e_ab x_b: xx yy zz xy
  // xz yz
  double virial[6] = {};
  Timings timings;
};

}    // namespace gpucoord

#endif
