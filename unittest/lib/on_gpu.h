// Part of GPUCOORD, GPL-2.0. Arrays in device memory, for tests.

#ifndef GPUCOORD_TEST_ON_GPU_H
#define GPUCOORD_TEST_ON_GPU_H

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <vector>

template <class T> class OnGpu {
 public:
  explicit OnGpu(const std::vector<T> &from) : n(from.size())
  {
    cudaMalloc(reinterpret_cast<void **>(&memory), std::max<std::size_t>(1, n) * sizeof(T));
    set(from);
  }
  OnGpu(const OnGpu &) = delete;
  ~OnGpu() { cudaFree(memory); }
  void set(const std::vector<T> &from) const
  {
    cudaMemcpy(memory, from.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
  std::vector<T> get() const
  {
    std::vector<T> to(n);
    cudaMemcpy(to.data(), memory, n * sizeof(T), cudaMemcpyDeviceToHost);
    return to;
  }
  T *data() const { return memory; }

 private:
  T *memory = nullptr;
  std::size_t n;
};

#endif
