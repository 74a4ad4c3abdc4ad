// Part of GPUCOORD, GPL-2.0. Sums of WarpSums over all warps.

#include "pair_reduction.h"

#include "../gpu/reduction.cuh"

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
  };

}    // namespace

void reduce(const WarpSums *sums, int n, WarpSums *total, DeviceBuffer<char> &workspace,
            cudaStream_t stream)
{
  reduce_all(sums, n, total, Add(), workspace, stream);
}

}    // namespace gpucoord
