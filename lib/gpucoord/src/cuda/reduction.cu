// Part of GPUCOORD, GPL-2.0. Reductions by CUB.
//
// Launch of sum_splits: one thread an element, 256 a block; no shared memory.

#include "reduction.h"

#include <cub/device/device_reduce.cuh>

namespace gpucoord {

namespace {

  struct Add {
    __host__ __device__ WarpSums operator()(const WarpSums &a, const WarpSums &b) const
    {
      WarpSums sum;
      sum.value = a.value + b.value;
      for (int k = 0; k < 6; ++k) sum.virial[k] = a.virial[k] + b.virial[k];
      sum.tested = a.tested + b.tested;
      return sum;
    }
    __host__ __device__ MoleculeSums operator()(const MoleculeSums &a, const MoleculeSums &b) const
    {
      MoleculeSums sum;
      for (int k = 0; k < 3; ++k) sum.energy[k] = a.energy[k] + b.energy[k];
      for (int k = 0; k < 6; ++k) sum.virial[k] = a.virial[k] + b.virial[k];
      return sum;
    }
  };

  template <class Sums>
  void reduce_all(const Sums *sums, int n, Sums *total, DeviceBuffer<char> &workspace, cudaStream_t stream)
  {
    std::size_t bytes = 0;
    check(cub::DeviceReduce::Reduce(nullptr, bytes, sums, total, n, Add(), Sums(), stream), "planning a reduction");
    workspace.reserve(bytes);
    check(cub::DeviceReduce::Reduce(workspace.data(), bytes, sums, total, n, Add(), Sums(), stream), "adding up warps");
  }

  constexpr int THREADS = 256;

  __global__ void sum_splits(const double *sums, int splits, std::size_t n, double *total, bool accumulate)
  {
    const std::size_t k = static_cast<std::size_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (k >= n) return;
    double sum = accumulate ? total[k] : 0.0;
    for (int split = 0; split < splits; ++split) sum += sums[split * n + k];
    total[k] = sum;
  }

}    // namespace

void reduce(const WarpSums *sums, int n, WarpSums *total, DeviceBuffer<char> &workspace, cudaStream_t stream)
{
  reduce_all(sums, n, total, workspace, stream);
}

void reduce(const MoleculeSums *sums, int n, MoleculeSums *total, DeviceBuffer<char> &workspace, cudaStream_t stream)
{
  reduce_all(sums, n, total, workspace, stream);
}

void add_splits(const double *sums, int splits, std::size_t n, double *total, bool accumulate, cudaStream_t stream)
{
  sum_splits<<<static_cast<unsigned>((n + THREADS - 1) / THREADS), THREADS, 0, stream>>>(sums, splits, n, total, accumulate);
  check(cudaGetLastError(), "launching sum_splits");
}

}    // namespace gpucoord
