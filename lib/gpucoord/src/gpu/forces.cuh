// Part of GPUCOORD, GPL-2.0. Adds forces to atoms in kernels.

#ifndef GPUCOORD_FORCES_CUH
#define GPUCOORD_FORCES_CUH

#include "gpucoord/types.h"

namespace gpucoord {

template <class Force>
__device__ void subtract(const DeviceForces &forces, int row, double x, double y, double z)
{
  Force *const f = static_cast<Force *>(forces.f) + forces.atom_stride * row;
  f[0] -= static_cast<Force>(x);
  f[forces.axis_stride] -= static_cast<Force>(y);
  f[2 * forces.axis_stride] -= static_cast<Force>(z);
}

// Subtracts (x, y, z) from the force on an atom. row: row of the caller's arrays.
__device__ inline void subtract(const DeviceForces &forces, int row, double x, double y, double z)
{
  if (forces.is_float)
    subtract<float>(forces, row, x, y, z);
  else
    subtract<double>(forces, row, x, y, z);
}

}    // namespace gpucoord

#endif
