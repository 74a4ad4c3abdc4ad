// Part of GPUCOORD, GPL-2.0. Kernels that start while the preceding kernel of the stream is still
// running (CUDA's programmatic dependent launch). Below compute capability 9.0, they start after
// it.
//
// A kernel that calls launch_dependents() must be launched without 'early', or call
// wait_for_previous_kernel() first. All preceding kernels are then complete, and the next kernel
// has to wait for this one only.
//
// Before a kernel that is launched early calls wait_for_previous_kernel(), it must not read what
// the preceding kernel may write, and it must not write what that kernel may read. At least one of
// its threads must call wait_for_previous_kernel(), so that the kernel does not end before the
// preceding one.

#ifndef GPUCOORD_EARLY_LAUNCH_CUH
#define GPUCOORD_EARLY_LAUNCH_CUH

#include "cuda_error.h"

#include <algorithm>
#include <cstddef>

namespace gpucoord {

// The next kernel may start once every block has called this function or has ended.
__device__ inline void launch_dependents()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ inline void wait_for_previous_kernel()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Returns whether the kernel was compiled with the wait instruction.
template <class Kernel> bool can_wait(Kernel *kernel)
{
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, kernel), "querying a kernel");
  return std::min(attributes.binaryVersion, attributes.ptxVersion) >= 90;
}

struct LaunchShape {
  unsigned blocks, threads;
  std::size_t shared_memory = 0;    // bytes
};

// Launches a kernel. what: name of the launch in errors. early: start it before the preceding
// kernel ends, if the GPU can. All kernels with the same parameter types must be compiled for the
// same GPUs, because the check is cached per parameter list. Throws DeviceError.
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
