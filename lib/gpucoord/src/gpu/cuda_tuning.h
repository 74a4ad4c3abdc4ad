// Part of GPUCOORD, GPL-2.0. Choice of the kernels, for tests and benchmarks.

#ifndef GPUCOORD_CUDA_TUNING_H
#define GPUCOORD_CUDA_TUNING_H

namespace gpucoord {

struct CudaTuning {
  // Keep partner lists where they are faster than the cell processor. false: never.
  bool keeps_lists = true;
  // Warps per block of the cell processor, 1 to 4. Results are bitwise independent of this number.
  int warps_per_block = 4;
};

}    // namespace gpucoord

#endif
