// Part of GPUCOORD, GPL-2.0. How the CUDA backend launches its kernels: for tests and the
// bench, which try more than the default.

#ifndef GPUCOORD_COORDINATION_CUDA_H
#define GPUCOORD_COORDINATION_CUDA_H

#include "gpucoord/coordination.h"

#include <memory>

namespace gpucoord {

struct CudaTuning {
  // who takes a group of i-atoms of engine cells: a warp (32 atoms), or a thread block (128).
  // AUTO: a warp, but no bins are made where there are few pairs
  enum class Processor { AUTO, WARP, BLOCK };
  Processor processor = Processor::AUTO;
  int warps_per_block = 4;    // of the warp processor, 1 to 4; the bits of results do not depend on it
};

GPUCOORD_TEST_API std::unique_ptr<Coordination> make_cuda_coordination(const SwitchTable &, Precision, int device,
                                                                       int nthreads, const CudaTuning &);

}    // namespace gpucoord

#endif
