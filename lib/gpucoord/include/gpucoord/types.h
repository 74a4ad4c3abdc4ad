// Part of GPUCOORD, GPL-2.0. Types shared by all subjects: atoms, precision, GPUs and their errors.

#ifndef GPUCOORD_TYPES_H
#define GPUCOORD_TYPES_H

#include "gpucoord/export.h"

#include <cstdint>
#include <stdexcept>
#include <string>

struct CUstream_st;

namespace gpucoord {

// Arithmetic of the pair terms. SINGLE sums all terms of an atom in float. MIXED sums up to 512
// terms of an atom in float, and adds these sums in double. The sum over atoms is always in double.
enum class Precision { DOUBLE, MIXED, SINGLE };

// A selection of atoms of a position array. The first nowned atoms belong to this rank; the others
// are ghosts.
struct AtomList {
  const int *index = nullptr;    // [n] rows of the position array
  int n = 0;
  int nowned = 0;
};

// Timings for benchmarks, in seconds.
struct Timings {
  double copies = 0.0;       // copies to and from a device
  double bins = 0.0;         // sorting of atoms into cutoff bins; on a GPU, search for pairs
  double pairs = 0.0;        // pair terms; for engine 'cells' on a GPU, also sums over atoms
  double reduction = 0.0;    // sums over atoms
  // Number of computed distances, including those of idle lanes. For engine 'cells' on a GPU, set
  // only without partner lists.
  double tested = 0.0;
};

// Returns the name of the instruction set that the host kernels use on this machine.
GPUCOORD_API const char *host_instruction_set();

// A GPU failure, or lack of GPU memory. what() names the failed operation or the missing memory.
class GPUCOORD_API DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The GPUs that this process can use.
struct CudaDevices {
  int count = 0;
  std::string why_none;    // reason if count is 0: no driver, no GPU, or a build without CUDA
};
GPUCOORD_API CudaDevices find_cuda_devices();

// Returns the name of a GPU, 0 <= device < count. Throws DeviceError.
GPUCOORD_API std::string cuda_device_name(int device);

using DeviceStream = CUstream_st *;    // cudaStream_t

// Atoms of one rank, owned first, then ghosts: pointers to device memory.
struct DeviceAtoms {
  const void *x = nullptr;      // [nall][3] positions, distance
  bool x_is_float = false;      // false: double
  const int *mask = nullptr;    // [nall] group bits; null: all atoms are in all groups
  const int *type = nullptr;    // [nall] needed if the table of functions has types
  int nlocal = 0, nall = 0;
  // Volume of the box; see OrderInput (order_parameter.h).
  double volume = 0.0;
};

// Forces on owned atoms in device memory. Strides are in elements, not bytes.
struct DeviceForces {
  void *f = nullptr;
  bool is_float = false;    // false: double
  std::int64_t atom_stride = 3, axis_stride = 1;
};

}    // namespace gpucoord

#endif
