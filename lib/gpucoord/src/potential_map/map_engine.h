// Part of GPUCOORD, GPL-2.0. Potential maps of charges in device memory: bins and launches.

#ifndef GPUCOORD_MAP_ENGINE_H
#define GPUCOORD_MAP_ENGINE_H

#include "../gpu/bins.h"
#include "../gpu/buffers.h"

#include "gpucoord/potential_map.h"

#include <cstddef>
#include <memory>

namespace gpucoord {

struct ChargesOnDevice {
  const DeviceAtom *atom;    // [n] id: index of the charge in q
  const double *q;
  int n;
};

class GPUCOORD_TEST_API MapEngine {
 public:
  virtual ~MapEngine() = default;

  // Sorts the charges for points within these bounds. All calls only enqueue work. Charges must
  // stay valid until the next begin(). Throws DeviceError.
  virtual void begin(const Bounds &point_bounds, const ChargesOnDevice &, cudaStream_t) = 0;

  // Like begin(), with fixed bins, for on_grid() of this grid only. Waits. Returns the charges that
  // overflow, which the map does not include. They are valid until the next call. Throws
  // std::invalid_argument if there is room for too many charges.
  virtual ChargesOnDevice begin(const MapGrid &, const MapBins &, const ChargesOnDevice &,
                                MapOverflow &, cudaStream_t) = 0;

  // Returns the number of layers of points. A launch may compute only some of the layers.
  virtual int layers(const MapGrid &) const = 0;
  // Computes layers first_layer to end_layer - 1. add: adds to the existing values. phi and field
  // are those of the whole grid.
  virtual void on_grid(const MapGrid &, int first_layer, int end_layer, bool add, double *phi,
                       double *field, cudaStream_t) = 0;
  // Computes the map at n points. The id of a point is the row of the charge that it excludes, or
  // -1. Rows of charges must be 0 to n - 1. Not allowed after begin() with fixed bins.
  virtual void at_points(const DeviceAtom *points, int n, double *phi, double *field,
                         cudaStream_t) = 0;

  // Returns the number of distances computed by all kernels since begin(). Waits.
  virtual double tested(cudaStream_t) = 0;
  virtual std::size_t bytes() const = 0;
};

GPUCOORD_TEST_API std::unique_ptr<MapEngine> make_map_engine(const MapOptions &, Precision);

// Returns the number of points in a layer along z.
int points_per_layer();

GPUCOORD_TEST_API Bounds bounds_of(const MapGrid &);

}    // namespace gpucoord

#endif
