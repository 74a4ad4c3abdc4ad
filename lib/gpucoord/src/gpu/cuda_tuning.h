// Part of GPUCOORD, GPL-2.0. Choice of the cell processor: for tests and the bench.

#ifndef GPUCOORD_CUDA_TUNING_H
#define GPUCOORD_CUDA_TUNING_H

namespace gpucoord {

struct CudaTuning {
  // who takes a group of i-atoms of engine cells: a warp (32 atoms), or a thread block (128).
  // AUTO: a warp, but no bins are made where there are few pairs
  enum class Processor { AUTO, WARP, BLOCK };
  Processor processor = Processor::AUTO;
  int warps_per_block =
      4;    // of the warp processor, 1 to 4; the bits of results do not depend on it
};

}    // namespace gpucoord

#endif
