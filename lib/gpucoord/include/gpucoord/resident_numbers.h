// Part of GPUCOORD, GPL-2.0. Per-atom numbers in device memory that ghost atoms get from their
// owners.

#ifndef GPUCOORD_RESIDENT_NUMBERS_H
#define GPUCOORD_RESIDENT_NUMBERS_H

#include "gpucoord/export.h"
#include "gpucoord/types.h"

namespace gpucoord {

// Communication uses either pack() and unpack(), or get_numbers() and set_numbers(). All functions
// throw DeviceError.
class GPUCOORD_API ResidentNumbers {
 public:
  virtual ~ResidentNumbers() = default;

  virtual int exchange_columns() const = 0;    // numbers of each atom

  // pack() enqueues the copy of the numbers of n atoms to to[n][exchange_columns()]. unpack()
  // enqueues the copy of such numbers to n atoms from 'first' on. Pointers are to device memory.
  virtual void pack(const int *list, int n, double *to, DeviceStream) = 0;
  virtual void unpack(const double *from, int n, int first, DeviceStream) = 0;

  // Wait, and copy at least the numbers of owned atoms to the host, and at least those of ghost
  // atoms from the host, in arrays [nall][exchange_columns()].
  virtual void get_numbers(double *to, DeviceStream) = 0;
  virtual void set_numbers(const double *from, DeviceStream) = 0;
};

}    // namespace gpucoord

#endif
