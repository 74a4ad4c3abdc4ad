// Part of GPUCOORD, GPL-2.0. Counts launches, waits and copies of this library. The linker replaces
// the calls of the CUDA runtime by these functions (--wrap in CMakeLists.txt), so that the calling
// code needs no counters.

#include "gpucoord/counters.h"

#include <cuda_runtime.h>

#include <cstddef>

using gpucoord::count;
using gpucoord::Counter;

namespace {

void count_copy(std::size_t bytes, cudaMemcpyKind kind)
{
  if (kind == cudaMemcpyHostToDevice)
    count(Counter::BYTES_TO_DEVICE, static_cast<std::int64_t>(bytes));
  if (kind == cudaMemcpyDeviceToHost)
    count(Counter::BYTES_TO_HOST, static_cast<std::int64_t>(bytes));
}

}    // namespace

extern "C" {

// kernel<<<>>> calls __cudaLaunchKernel with a cudaKernel_t since CUDA 13, and cudaLaunchKernel in
// earlier versions.
#if CUDART_VERSION >= 13000
cudaError_t __real___cudaLaunchKernel(void *, dim3, dim3, void **, std::size_t, cudaStream_t);
cudaError_t __wrap___cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments,
                                      std::size_t shared, cudaStream_t stream)
{
  count(Counter::KERNEL_LAUNCHES);
  return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
#endif

cudaError_t __real_cudaLaunchKernel(const void *, dim3, dim3, void **, std::size_t, cudaStream_t);
cudaError_t __wrap_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                    std::size_t shared, cudaStream_t stream)
{
  count(Counter::KERNEL_LAUNCHES);
  return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *shape, const void *kernel,
                                       void **arguments)
{
  count(Counter::KERNEL_LAUNCHES);
  return __real_cudaLaunchKernelExC(shape, kernel, arguments);
}

cudaError_t __real_cudaStreamSynchronize(cudaStream_t);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream)
{
  count(Counter::STREAM_WAITS);
  return __real_cudaStreamSynchronize(stream);
}

cudaError_t __real_cudaEventSynchronize(cudaEvent_t);
cudaError_t __wrap_cudaEventSynchronize(cudaEvent_t event)
{
  count(Counter::EVENT_WAITS);
  return __real_cudaEventSynchronize(event);
}

cudaError_t __real_cudaDeviceSynchronize();
cudaError_t __wrap_cudaDeviceSynchronize()
{
  count(Counter::DEVICE_WAITS);
  return __real_cudaDeviceSynchronize();
}

cudaError_t __real_cudaMemcpy(void *, const void *, std::size_t, cudaMemcpyKind);
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind)
{
  count(Counter::BLOCKING_COPIES);
  count_copy(bytes, kind);
  return __real_cudaMemcpy(to, from, bytes, kind);
}

cudaError_t __real_cudaMemcpyAsync(void *, const void *, std::size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t __wrap_cudaMemcpyAsync(void *to, const void *from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream)
{
  count_copy(bytes, kind);
  return __real_cudaMemcpyAsync(to, from, bytes, kind, stream);
}

}    // extern "C"
