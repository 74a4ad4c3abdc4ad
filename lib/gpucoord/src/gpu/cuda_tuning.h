// Part of GPUCOORD, GPL-2.0. Choice of the cell processor, for tests and benchmarks.

#ifndef GPUCOORD_CUDA_TUNING_H
#define GPUCOORD_CUDA_TUNING_H

namespace gpucoord {

struct CudaTuning {
  // The processor of a group of i-atoms of engine 'cells': a warp (32 atoms) or, with
  // BENCH_VARIANTS, a thread block (128 atoms). AUTO: a warp, or partner lists that are kept.
#ifdef GPUCOORD_BENCH_VARIANTS
  enum class Processor { AUTO, WARP, BLOCK };
#else
  enum class Processor { AUTO, WARP };
#endif
  Processor processor = Processor::AUTO;
  // Warps per block of the warp processor, 1 to 4. Results are bitwise independent of this number.
  int warps_per_block = 4;

  bool by_blocks() const
  {
    return processor != Processor::AUTO && processor != Processor::WARP;
  }
};

}    // namespace gpucoord

#endif
