// Part of GPUCOORD, GPL-2.0. Positions of atoms, as kernels over pairs read them.
//
// In single precision points are integers, in units of a 2^-27th of the range: differences are exact, whatever the extent
// of the system, because pairs that are listed are never as far apart as the numbers go round. In double they are the
// caller's numbers.

#ifndef GPUCOORD_POINTS_H
#define GPUCOORD_POINTS_H

#include "../gpu/bins.h"
#include "../gpu/buffers.h"

#include "gpucoord/pairs.h"

#include <cstdint>

namespace gpucoord {

// Written by kernels, read by whoever waits.
struct DeviceStatus {
  int bad_atom;    // row of the caller's arrays whose position is not finite, or NONE
  int moved;       // whether an atom has moved by more than half the skin
  static constexpr int NONE = 0x7fffffff;
};

class Points {
 public:
  explicit Points(double range);

  // n points of the atoms of these rows, null: of the first n rows. How far they move is measured from here.
  void build(const DeviceAtoms &, const int *row, int n, bool in_doubles, double skin,
             cudaStream_t);
  void update(const DeviceAtoms &, cudaStream_t);

  // int4 in units, or DeviceAtom whose id is the row
  const void *data() const
  {
    return are_doubles ? static_cast<const void *>(doubles.data()) : integers.data();
  }
  DeviceAtom *reserve_doubles(int n);
  double unit() const { return length_unit; }    // distance

  DeviceStatus *status() const { return device_status.data(); }
  void clear_status(cudaStream_t);
  std::size_t bytes() const
  {
    return integers.bytes() + integers_built.bytes() + doubles.bytes() + doubles_built.bytes();
  }

 private:
  void convert(const DeviceAtoms &, bool are_built, cudaStream_t) const;

  const double length_unit;
  int n = 0;
  const int *rows = nullptr;
  bool are_doubles = false;
  double skin = 0.0;
  DeviceBuffer<int4> integers, integers_built;
  DeviceBuffer<DeviceAtom> doubles, doubles_built;
  DeviceBuffer<DeviceStatus> device_status;
};

}    // namespace gpucoord

#endif
