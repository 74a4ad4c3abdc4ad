// Part of GPUCOORD, GPL-2.0. CUDA errors as exceptions.

#ifndef GPUCOORD_CUDA_ERROR_H
#define GPUCOORD_CUDA_ERROR_H

#include "gpucoord/types.h"

#include <cuda_runtime.h>

#include <string>

namespace gpucoord {

// Clears stale errors so that they are not attributed to our launches. The CUDA runtime keeps the
// last error of any code in the process until cudaGetLastError() is called.
inline void clear_errors()
{
  cudaGetLastError();
}

// Throws DeviceError if status is an error. 'what' names the operation, such as 'copying positions
// to the GPU'.
inline void check(cudaError_t status, const char *what)
{
  if (status == cudaSuccess) return;
  clear_errors();
  std::string message =
      std::string("the GPU failed in ") + what + ": " + cudaGetErrorString(status);
  if (status == cudaErrorNoKernelImageForDevice)
    message += "; build GPUCOORD for this GPU with -D GPUCOORD_CUDA_ARCHITECTURES=native";
  throw DeviceError(message);
}

}    // namespace gpucoord

#endif
