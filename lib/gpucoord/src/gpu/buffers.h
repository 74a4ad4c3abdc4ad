// Part of GPUCOORD, GPL-2.0. RAII wrappers of device memory, pinned host memory, streams and
// events.

#ifndef GPUCOORD_BUFFERS_H
#define GPUCOORD_BUFFERS_H

#include "cuda_error.h"

#include <cstddef>
#include <string>
#include <utility>

namespace gpucoord {

enum class MemoryKind { DEVICE, PINNED };

// Memory for n objects. Growing does not keep the contents. A buffer that grows again gets 1.5
// times the requested size, so that a system of fluctuating size does not allocate at every
// rebuild.
template <class T, MemoryKind KIND> class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { release(); }

  // Throws DeviceError if the allocation fails.
  void reserve(std::size_t n)
  {
    if (n <= capacity) return;
    const bool grows = capacity > 0;
    release();
    if (grows && allocate(n + n / 2)) return;
    if (!allocate(n)) fail(n);
  }

  void swap(Buffer &other)
  {
    std::swap(memory, other.memory);
    std::swap(capacity, other.capacity);
  }

  T *data() const { return memory; }
  std::size_t bytes() const { return capacity * sizeof(T); }
  T &operator[](std::size_t k) const { return memory[k]; }

 private:
  bool allocate(std::size_t n)
  {
    void *address = nullptr;
    const std::size_t bytes = n * sizeof(T);
    const cudaError_t status = KIND == MemoryKind::DEVICE ? cudaMalloc(&address, bytes)
                                                          : cudaMallocHost(&address, bytes);
    if (status == cudaErrorMemoryAllocation) {
      clear_errors();    // the caller handles this error
      return false;
    }
    check(status, "allocating memory");
    memory = static_cast<T *>(address);
    capacity = n;
    return true;
  }

  void release()
  {
    if (memory) KIND == MemoryKind::DEVICE ? cudaFree(memory) : cudaFreeHost(memory);
    memory = nullptr;
    capacity = 0;
  }

  [[noreturn]] static void fail(std::size_t n)
  {
    const auto mib = [](std::size_t bytes) {
      return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
    };
    if (KIND == MemoryKind::PINNED)
      throw DeviceError("no memory for " + mib(n * sizeof(T)) + " of pinned host memory");
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "querying its memory");
    throw DeviceError("no memory for " + mib(n * sizeof(T)) + " on the GPU, of which " + mib(free) +
                      " of " + mib(total) + " are free");
  }

  T *memory = nullptr;
  std::size_t capacity = 0;
};

template <class T> using DeviceBuffer = Buffer<T, MemoryKind::DEVICE>;
template <class T> using PinnedBuffer = Buffer<T, MemoryKind::PINNED>;

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "making a stream"); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  ~Stream() { cudaStreamDestroy(handle); }
  operator cudaStream_t() const { return handle; }

 private:
  cudaStream_t handle = nullptr;
};

class Event {
 public:
  Event() : Event(cudaEventDisableTiming) {}
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  ~Event() { cudaEventDestroy(handle); }
  operator cudaEvent_t() const { return handle; }
  void record(cudaStream_t stream) { check(cudaEventRecord(handle, stream), "recording an event"); }
  // Waits for the work before the last record(); returns at once if there was no record(). what:
  // beginning of the error text
  void wait(const char *what) { check(cudaEventSynchronize(handle), what); }

 protected:
  explicit Event(unsigned flags)
  {
    check(cudaEventCreateWithFlags(&handle, flags), "making an event");
  }

 private:
  cudaEvent_t handle = nullptr;
};

struct TimedEvent : Event {
  TimedEvent() : Event(cudaEventDefault) {}
};

// Returns the seconds between two events. Both must have been reached.
inline double seconds_between(const TimedEvent &first, const TimedEvent &second)
{
  float milliseconds = 0.0f;
  check(cudaEventElapsedTime(&milliseconds, first, second), "reading its clock");
  return 1e-3 * milliseconds;
}

// Returns an attribute of the current GPU.
inline int device_attribute(cudaDeviceAttr attribute)
{
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "querying the current GPU");
  check(cudaDeviceGetAttribute(&value, attribute, device), "querying an attribute");
  return value;
}

}    // namespace gpucoord

#endif
