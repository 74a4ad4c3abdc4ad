// Part of GPUCOORD, GPL-2.0. Warp reductions with the result in every lane, and an exclusive warp
// prefix sum.

#ifndef GPUCOORD_WARP_REDUCTION_CUH
#define GPUCOORD_WARP_REDUCTION_CUH

namespace gpucoord {

constexpr unsigned ALL_LANES = 0xffffffffu;

// Reduces the values of all lanes with f(a, b). All lanes of a warp must call this function.
template <class T, class F> __device__ T reduce_warp(T value, F f)
{
  for (int distance = 16; distance > 0; distance /= 2)
    value = f(value, __shfl_xor_sync(ALL_LANES, value, distance));
  return value;
}

template <class T> __device__ T add_warp(T value)
{
  return reduce_warp(value, [](T a, T b) {
    return a + b;
  });
}
template <class T> __device__ T max_warp(T value)
{
  return reduce_warp(value, [](T a, T b) {
    return a < b ? b : a;
  });
}
template <class T> __device__ T min_warp(T value)
{
  return reduce_warp(value, [](T a, T b) {
    return b < a ? b : a;
  });
}

// Returns the sum over all lower lanes, and sets 'all' to the sum over all lanes. All lanes of a
// warp must call this function.
__device__ inline int add_lanes_before(int value, int &all)
{
  const int lane = threadIdx.x % 32;
  int sum = value;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int left = __shfl_up_sync(ALL_LANES, sum, distance);
    if (lane >= distance) sum += left;
  }
  all = __shfl_sync(ALL_LANES, sum, 31);
  return sum - value;
}

}    // namespace gpucoord

#endif
