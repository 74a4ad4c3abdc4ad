// Part of GPUCOORD, GPL-2.0. The GPUs of this machine.

#include "cuda_error.h"

#include "gpucoord/types.h"

#include <cuda_runtime.h>

#include <string>

namespace gpucoord {

CudaDevices find_cuda_devices()
{
  CudaDevices found;
  const cudaError_t status = cudaGetDeviceCount(&found.count);
  if (status == cudaSuccess && found.count > 0) return found;
  clear_errors();    // why_none reports this error
  found.count = 0;
  if (status == cudaErrorInsufficientDriver)
    found.why_none = "there is no CUDA driver, or one too old for this build";
  else if (status == cudaSuccess || status == cudaErrorNoDevice)
    found.why_none = "there is no GPU";
  else
    found.why_none = std::string("the CUDA driver says: ") + cudaGetErrorString(status);
  return found;
}

std::string cuda_device_name(int device)
{
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "querying its name");
  return properties.name;
}

}    // namespace gpucoord
