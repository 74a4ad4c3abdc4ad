// Part of GPUCOORD, GPL-2.0. Sums over warps with CUB.

#ifndef GPUCOORD_REDUCTION_CUH
#define GPUCOORD_REDUCTION_CUH

#include "buffers.h"

#include <cub/device/device_reduce.cuh>

#include <cstddef>

namespace gpucoord {

// Sums n > 0 elements, always in the same order. Only enqueues work. add(a, b) returns the sum of
// two elements.
template <class Sums, class Add>
void reduce_all(const Sums *sums, int n, Sums *total, Add add, DeviceBuffer<char> &workspace,
                cudaStream_t stream)
{
  std::size_t bytes = 0;
  check(cub::DeviceReduce::Reduce(nullptr, bytes, sums, total, n, add, Sums(), stream),
        "planning a reduction");
  workspace.reserve(bytes);
  check(cub::DeviceReduce::Reduce(workspace.data(), bytes, sums, total, n, add, Sums(), stream),
        "summing over warps");
}

}    // namespace gpucoord

#endif
