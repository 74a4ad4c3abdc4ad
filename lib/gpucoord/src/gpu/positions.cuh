// Part of GPUCOORD, GPL-2.0. Reads the caller's positions in kernels.

#ifndef GPUCOORD_POSITIONS_CUH
#define GPUCOORD_POSITIONS_CUH

#include "gpucoord/types.h"

#include <cstddef>

namespace gpucoord {

// Calls f(x) with x in the caller's precision.
template <class F> void with_positions(const DeviceAtoms &atoms, F f)
{
  if (atoms.x_is_float)
    f(static_cast<const float *>(atoms.x));
  else
    f(static_cast<const double *>(atoms.x));
}

template <class X> __device__ double3 position_of(const X *x, int row)
{
  const X *const p = x + 3 * static_cast<std::size_t>(row);
  return make_double3(p[0], p[1], p[2]);
}

}    // namespace gpucoord

#endif
