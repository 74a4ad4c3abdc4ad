// Part of GPUCOORD, GPL-2.0. Keeps one GPU current while an object uses it.

#ifndef GPUCOORD_DEVICE_GUARD_H
#define GPUCOORD_DEVICE_GUARD_H

#include "cuda_error.h"

#include <memory>

namespace gpucoord {

// Owns an object with memory and streams on one GPU. Makes this GPU current whenever the object is
// constructed, used or destroyed. Device -1 is the GPU that is already current. The GPU stays
// current afterwards: switching back to another GPU would create a context with its own memory
// there.
template <class T> class DeviceGuard {
 public:
  // make() returns a std::unique_ptr to the object. Throws DeviceError.
  template <class Make> DeviceGuard(int device_in, const Make &make) : device(device_in)
  {
    make_current();
    object = make();
  }
  DeviceGuard(const DeviceGuard &) = delete;
  DeviceGuard &operator=(const DeviceGuard &) = delete;
  ~DeviceGuard()
  {
    if (device >= 0) cudaSetDevice(device);    // a destructor cannot report that the GPU is lost
    object.reset();
  }

  // Call this first in each operation on the object. Throws DeviceError.
  T &enter()
  {
    make_current();
    clear_errors();
    return *object;
  }

  // For use within such an operation, after enter().
  T *operator->() const { return object.get(); }
  T &operator*() const { return *object; }

 private:
  void make_current() const
  {
    if (device >= 0) check(cudaSetDevice(device), "making it current");
  }

  const int device;
  std::unique_ptr<T> object;
};

}    // namespace gpucoord

#endif
