// Part of GPUCOORD, GPL-2.0. Skips tests that need a GPU on machines without one.

#ifndef GPUCOORD_TEST_GPU_H
#define GPUCOORD_TEST_GPU_H

#include "gpucoord/coordination.h"

#include <cstdio>
#include <cstdlib>

// If there are fewer than n GPUs, ends the process as skipped (exit code 77, which ctest
// recognizes), or as failed if GPUCOORD_REQUIRE_GPU is n or more.
inline void need_gpu(int n = 1)
{
  const gpucoord::CudaDevices devices = gpucoord::find_cuda_devices();
  if (devices.count >= n) return;
  const char *const variable = std::getenv("GPUCOORD_REQUIRE_GPU");
  const bool required = variable && std::atoi(variable) >= n;
  const char *const outcome = required ? "FAILED" : "SKIPPED";
  if (devices.count > 0)
    std::printf("%s: %d GPU, and %d are needed\n", outcome, devices.count, n);
  else
    std::printf("%s: no GPU: %s\n", outcome, devices.why_none.c_str());
  std::exit(required ? 1 : 77);
}

#endif
