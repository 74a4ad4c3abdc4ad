// Part of GPUCOORD, GPL-2.0. Types that all subjects share: atoms, precision, GPUs and their errors.

#ifndef GPUCOORD_TYPES_H
#define GPUCOORD_TYPES_H

#include "gpucoord/export.h"

#include <cstdint>
#include <stdexcept>
#include <string>

struct CUstream_st;

namespace gpucoord {

// Arithmetic of the pair terms. MIXED sums up to 512 of one atom in float and those
// sums in double, SINGLE all terms of one atom in float; the sum over atoms is double
// in all three.
enum class Precision { DOUBLE, MIXED, SINGLE };

// Some atoms of a position array. The first nowned of them belong to this rank,
// the others are ghosts.
struct AtomList {
  const int *index = nullptr;    // [n] rows of the position array
  int n = 0;
  int nowned = 0;
};

// Seconds spent, for the bench.
struct Timings {
  double copies = 0.0;       // to and from a device
  double bins = 0.0;         // sorting atoms into cutoff bins
  double pairs = 0.0;        // pair terms
  double reduction = 0.0;    // sums over atoms
  double tested =
      0.0;    // distances computed, those of idle lanes included; by engine cells on a device
};

// name of the instruction set that the host kernels use on this machine
GPUCOORD_API const char *host_instruction_set();

// A GPU that has failed, or has no memory left; what() says what and how much.
class GPUCOORD_API DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The GPUs that this process can use.
struct CudaDevices {
  int count = 0;
  std::string why_none;    // where count is 0: no driver, no GPU, or a build without CUDA
};
GPUCOORD_API CudaDevices find_cuda_devices();

// name of a GPU, 0 <= device < count
GPUCOORD_API std::string cuda_device_name(int device);

using DeviceStream = CUstream_st *;    // cudaStream_t

// Atoms of one rank, owned first, then ghosts: pointers to device memory.
struct DeviceAtoms {
  const void *x = nullptr;      // [nall][3] positions
  bool x_is_float = false;      // else double
  const int *mask = nullptr;    // [nall] group bits; null: all atoms
  const int *type = nullptr;    // [nall] where the table of functions has types
  int nlocal = 0, nall = 0;
};

// Forces on owned atoms in device memory. Strides are in numbers, not bytes.
struct DeviceForces {
  void *f = nullptr;
  bool is_float = false;    // else double
  std::int64_t atom_stride = 3, axis_stride = 1;
};

}    // namespace gpucoord

#endif
