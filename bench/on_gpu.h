// Part of GPUCOORD, GPL-2.0. Benchmarks of data that are resident on the GPU.

#ifndef GPUCOORD_BENCH_ON_GPU_H
#define GPUCOORD_BENCH_ON_GPU_H

#include "timing.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int IN_A_ROW = 10;    // evaluations that are timed together, without waiting in between

// Returns the milliseconds of one of n calls of work(), with a wait after the last one.
template <class Work> double milliseconds_on_gpu(int n, const Work &work)
{
  return milliseconds([&] {
           for (int k = 0; k < n; ++k) work();
           cudaDeviceSynchronize();
         }) /
      n;
}

template <class T> T *to_gpu(const std::vector<T> &from)
{
  T *on_gpu = nullptr;
  if (cudaMalloc(&on_gpu, from.size() * sizeof(T)) != cudaSuccess ||
      cudaMemcpy(on_gpu, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice) !=
          cudaSuccess) {
    std::fprintf(stderr, "no room for the atoms on the GPU\n");
    std::exit(1);
  }
  return on_gpu;
}

#endif
