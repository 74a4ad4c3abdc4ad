// Part of GPUCOORD, GPL-2.0. Positions of atoms, as kernels over pairs read them.
//
// In single and mixed precision, points are integers in units of 2^-27 of the range. Differences
// are exact for any extent of the system: the integers wrap around, and listed pairs are closer
// than the wrap-around distance. In double precision, points are the caller's positions.

#ifndef GPUCOORD_POINTS_H
#define GPUCOORD_POINTS_H

#include "../gpu/bins.h"
#include "../gpu/buffers.h"
#include "../gpu/device_status.h"

#include "gpucoord/pairs.h"

#include <cstdint>

namespace gpucoord {

// Weights of the atoms of group a, for a second pass.
struct PointWeights {
  DeviceWeights atoms;
  int npoints;    // number of points of group a, which come first; others have the weight 0
};

class Points {
 public:
  explicit Points(double range);

  // Converts n positions and stores them as the reference for the test of moves. row: [n] rows of
  // the atoms; null: the first n rows. class_of_type: [types]; null: all atoms have class 0. Throws
  // DeviceError.
  void build(const DeviceAtoms &, const int *row, int n, const int *class_of_type, bool in_doubles,
             const DeviceSelection &, cudaStream_t);
  void update(const DeviceAtoms &, cudaStream_t);

  // Stores the weights next to the positions, in place of the class, until the next update(). Only
  // for integer points with one class. Enqueues a kernel.
  void set_weights(const PointWeights &, cudaStream_t);
  // Writes the weights of all points. Enqueues a kernel.
  template <class Real> void get_weights(const PointWeights &, Real *to, cudaStream_t) const;
  bool are_integers() const { return !are_doubles; }
  int size() const { return n; }
  // [size()] rows of the atoms; null: the first rows
  const int *row_of() const { return rows; }

  // Returns int4 in units, or DeviceAtom with the row in its id. Both contain the class
  // (class_functions_cuda.h).
  const void *data() const
  {
    return are_doubles ? static_cast<const void *>(doubles.data()) : integers.data();
  }
  DeviceAtom *reserve_doubles(int n);
  double unit() const { return length_unit; }    // distance

  DeviceStatus *status() const { return device_status.data(); }
  void clear_status(cudaStream_t);
  // Reports the errors of a status that has been copied to the host, and clears them on the device,
  // so that they are reported once.
  void report(const DeviceStatus &, Totals &, cudaStream_t);
  std::size_t bytes() const
  {
    return integers.bytes() + integers_built.bytes() + doubles.bytes() + doubles_built.bytes();
  }

 private:
  void convert(const DeviceAtoms &, bool are_built, const int *class_of_type, cudaStream_t) const;

  const double length_unit;
  int n = 0;
  const int *rows = nullptr;
  bool are_doubles = false;
  double skin = 0.0;    // distance
  bool tests_ghosts = true;
  DeviceBuffer<int4> integers, integers_built;
  DeviceBuffer<DeviceAtom> doubles, doubles_built;
  DeviceBuffer<DeviceStatus> device_status;
};

}    // namespace gpucoord

#endif
