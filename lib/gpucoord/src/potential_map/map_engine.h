// Part of GPUCOORD, GPL-2.0. Potential maps of charges in device memory: bins, and which kernels run.

#ifndef GPUCOORD_MAP_ENGINE_H
#define GPUCOORD_MAP_ENGINE_H

#include "../gpu/bins.h"
#include "../gpu/buffers.h"

#include "gpucoord/potential_map.h"

#include <cstddef>
#include <memory>

namespace gpucoord {

struct ChargesOnDevice {
  const DeviceAtom *atom;    // [n] whose id is the row of its charge
  const double *q;
  int n;
};

class GPUCOORD_TEST_API MapEngine {
 public:
  virtual ~MapEngine() = default;

  // Sorts charges for points within bounds. All calls enqueue work; charges are read until the next begin(). Throws
  // DeviceError.
  virtual void begin(const Bounds &of_points, const ChargesOnDevice &, cudaStream_t) = 0;

  // The same by fixed bins, for on_grid() of this grid alone, and waits. Returns the charges that overflow: the map is without them.
  // They are there until the next call. Throws std::invalid_argument.
  virtual ChargesOnDevice begin(const MapGrid &, const MapBins &, const ChargesOnDevice &,
                                MapOverflow &, cudaStream_t) = 0;

  // Layers of points, some of which a launch takes.
  virtual int layers(const MapGrid &) const = 0;
  // of layers first to end - 1; add: to what is there. phi and field are those of the whole grid.
  virtual void on_grid(const MapGrid &, int first_layer, int end_layer, bool add, double *phi,
                       double *field, cudaStream_t) = 0;
  // n points, whose id is the row of the charge that they leave out or -1; rows of charges are 0 to n - 1. Not after fixed bins.
  virtual void at_points(const DeviceAtom *points, int n, double *phi, double *field,
                         cudaStream_t) = 0;

  virtual double
      tested(cudaStream_t) = 0;    // distances since begin(), of which there may be several; waits
  virtual std::size_t bytes() const = 0;
};

GPUCOORD_TEST_API std::unique_ptr<MapEngine> make_map_engine(const MapOptions &, Precision);

// points of a layer of MapEngine along z
int points_of_a_layer();

GPUCOORD_TEST_API Bounds bounds_of(const MapGrid &);

}    // namespace gpucoord

#endif
