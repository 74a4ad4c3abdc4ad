// Part of GPUCOORD, GPL-2.0. Kernels that start while the one before them in the stream still runs ("programmatic
// dependent launch" of CUDA, from compute capability 9.0; elsewhere they start after it).
//
// A kernel that calls let_next_start() is launched as usual: all before it are complete then. A kernel that is launched
// early reads, before wait_for_kernel_before(), nothing that the kernel before it may write.

#ifndef GPUCOORD_EARLY_LAUNCH_CUH
#define GPUCOORD_EARLY_LAUNCH_CUH

#include "cuda_error.h"

#include <algorithm>
#include <cstddef>

namespace gpucoord {

// The next kernel may start when all blocks are here or have ended.
__device__ inline void let_next_start()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ inline void wait_for_kernel_before()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// whether a kernel has been compiled with the wait
template <class Kernel> bool can_wait(Kernel *kernel)
{
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, kernel), "looking for its kernels");
  return std::min(attributes.binaryVersion, attributes.ptxVersion) >= 90;
}

struct LaunchShape {
  unsigned blocks, threads;
  std::size_t shared_memory = 0;    // bytes
};

// early: or as usual. All kernels of the same parameters are compiled for the same GPUs. Throws DeviceError.
template <class... Parameters, class... Arguments>
void launch_kernel(const char *what, void (*kernel)(Parameters...), bool early,
                   const LaunchShape &shape, cudaStream_t stream, const Arguments &...arguments)
{
  static const bool can_be_early = can_wait(kernel);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.blocks;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_memory;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = early && can_be_early ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), what);
}

}    // namespace gpucoord

#endif
