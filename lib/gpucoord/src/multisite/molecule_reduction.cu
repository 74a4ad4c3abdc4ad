// Part of GPUCOORD, GPL-2.0. Sums of MoleculeSums over all warps.

#include "../gpu/reduction.cuh"
#include "multisite_arguments_cuda.h"

namespace gpucoord {

namespace {

  struct Add {
    __host__ __device__ MoleculeSums operator()(const MoleculeSums &a, const MoleculeSums &b) const
    {
      MoleculeSums sum;
      for (int k = 0; k < 3; ++k) sum.energy[k] = a.energy[k] + b.energy[k];
      for (int k = 0; k < 6; ++k) sum.virial[k] = a.virial[k] + b.virial[k];
      return sum;
    }
  };

}    // namespace

void reduce(const MoleculeSums *sums, int n, MoleculeSums *total, DeviceBuffer<char> &workspace,
            cudaStream_t stream)
{
  reduce_all(sums, n, total, Add(), workspace, stream);
}

}    // namespace gpucoord
