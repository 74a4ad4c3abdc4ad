// Part of GPUCOORD, GPL-2.0. Inverses that are cheap on a device.
//
// In float there, they may be wrong in the last bit, and are much faster than what rounds correctly.

#ifndef GPUCOORD_RECIPROCAL_H
#define GPUCOORD_RECIPROCAL_H

#include "config.h"

#include <cmath>

namespace gpucoord {

// 1/x, where neither is denormal
template <class Real> GPUCOORD_HD Real reciprocal(Real x)
{
  return Real(1) / x;
}

// 1/sqrt(x), likewise
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
