// Part of GPUCOORD, GPL-2.0. What a test that needs a GPU does where there is none.

#ifndef GPUCOORD_TEST_GPU_H
#define GPUCOORD_TEST_GPU_H

#include "gpucoord/coordination.h"

#include <cstdio>
#include <cstdlib>
#include <string>

// Ends the process as skipped, which ctest knows by 77, or as failed under GPUCOORD_REQUIRE_GPU=1.
inline void need_gpu()
{
  const gpucoord::CudaDevices devices = gpucoord::find_cuda_devices();
  if (devices.count > 0) return;
  const char *const variable = std::getenv("GPUCOORD_REQUIRE_GPU");
  const bool required = variable && std::string(variable) == "1";
  std::printf("%s: no GPU: %s\n", required ? "FAILED" : "SKIPPED", devices.why_none.c_str());
  std::exit(required ? 1 : 77);
}

#endif
