// Part of GPUCOORD, GPL-2.0.

#ifndef GPUCOORD_CUDA_ERROR_H
#define GPUCOORD_CUDA_ERROR_H

#include "gpucoord/coordination.h"

#include <cuda_runtime.h>

#include <string>

namespace gpucoord {

// Throws DeviceError naming what was done; 'copying positions to the GPU'.
inline void check(cudaError_t status, const char *what)
{
  if (status == cudaSuccess) return;
  cudaGetLastError();    // the runtime keeps it, and a later launch must not be blamed for it
  std::string message = std::string("the GPU failed in ") + what + ": " + cudaGetErrorString(status);
  if (status == cudaErrorNoKernelImageForDevice)
    message += "; build GPUCOORD for this GPU with -D GPUCOORD_CUDA_ARCHITECTURES=native";
  throw DeviceError(message);
}

}    // namespace gpucoord

#endif
