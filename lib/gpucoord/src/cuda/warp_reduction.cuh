// Part of GPUCOORD, GPL-2.0. What all lanes of a warp have together, in every lane.

#ifndef GPUCOORD_WARP_REDUCTION_CUH
#define GPUCOORD_WARP_REDUCTION_CUH

namespace gpucoord {

constexpr unsigned ALL_LANES = 0xffffffffu;

// f(a, b) of two values; all lanes must call
template <class T, class F> __device__ T reduce_warp(T value, F f)
{
  for (int distance = 16; distance > 0; distance /= 2) value = f(value, __shfl_xor_sync(ALL_LANES, value, distance));
  return value;
}

template <class T> __device__ T add_warp(T value)
{
  return reduce_warp(value, [](T a, T b) { return a + b; });
}
template <class T> __device__ T max_warp(T value)
{
  return reduce_warp(value, [](T a, T b) { return a < b ? b : a; });
}
template <class T> __device__ T min_warp(T value)
{
  return reduce_warp(value, [](T a, T b) { return b < a ? b : a; });
}

}    // namespace gpucoord

#endif
