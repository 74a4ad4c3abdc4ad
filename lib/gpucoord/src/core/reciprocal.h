// Part of GPUCOORD, GPL-2.0. Fast reciprocals on a device.
//
// On a device, the float versions may have an error in the last bit. They are much faster than
// correctly rounded ones.

#ifndef GPUCOORD_RECIPROCAL_H
#define GPUCOORD_RECIPROCAL_H

#include "config.h"

#include <cmath>

namespace gpucoord {

// Returns 1/x. x and 1/x must not be denormal.
template <class Real> GPUCOORD_HD Real reciprocal(Real x)
{
  return Real(1) / x;
}

// Returns 1/sqrt(x). x and 1/sqrt(x) must not be denormal.
template <class Real> GPUCOORD_HD Real inverse_root(Real x)
{
  return Real(1) / std::sqrt(x);
}

#ifdef __CUDA_ARCH__
template <> __device__ __forceinline__ float reciprocal(float x)
{
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
template <> __device__ __forceinline__ float inverse_root(float x)
{
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
template <> __device__ __forceinline__ double inverse_root(double x)
{
  return rsqrt(x);
}
#endif

}    // namespace gpucoord

#endif
