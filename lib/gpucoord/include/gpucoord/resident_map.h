// Part of GPUCOORD, GPL-2.0. Potential maps of atoms whose data are resident on a GPU. The maps and
// their mean remain on the GPU until they are fetched.

#ifndef GPUCOORD_RESIDENT_MAP_H
#define GPUCOORD_RESIDENT_MAP_H

#include "gpucoord/export.h"
#include "gpucoord/potential_map.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <memory>

namespace gpucoord {

// Charges of one rank in device memory: the charges of atoms that have this group bit in their
// mask.
struct DeviceCharges {
  DeviceAtoms atoms;
  const void *q = nullptr;    // [nall] charge
  bool q_is_float = false;    // false: double
  int groupbit = ~0;
};

// Sums over the owned atoms.
struct ChargeSums {
  double charged = 0.0;    // number of atoms with a nonzero charge
  // Sums of the charges, of their squares, and of their magnitudes.
  double q = 0.0, q_sq = 0.0, size = 0.0;
  // Row of an atom, owned or ghost, whose position or charge is not finite; -1: all are finite.
  int bad_atom = -1;
};

// All work is enqueued on the caller's stream. Only functions documented as waiting wait for it.
// All functions throw DeviceError, and std::invalid_argument in the same cases as PotentialMap.
class GPUCOORD_API ResidentPotentialMap {
 public:
  virtual ~ResidentPotentialMap() = default;

  // Copies the charges, and waits. The copy is used until the next call.
  virtual ChargeSums begin(const DeviceCharges &, DeviceStream) = 0;
  // Computes the potential and, if with_field is true, the field of the charges, times 'scale'.
  // Waits if there are fixed bins.
  virtual void on_grid(const MapGrid &, bool with_field, double scale, DeviceStream) = 0;
  // Copies the map of the last on_grid() to the host, and waits. Shapes: see MapResults
  virtual void fetch(const MapResults &, DeviceStream) = 0;
  // Returns the overflow of the last on_grid() with fixed bins.
  virtual MapOverflow overflow() const = 0;

  // A sum of potentials, [n] for the n points of the grid. set_sum() sets it and waits.
  // add_to_sum() adds the map of the last on_grid(). fetch_sum() copies the sum to the host and
  // waits.
  virtual void set_sum(const double *, std::size_t n, DeviceStream) = 0;
  virtual void add_to_sum(DeviceStream) = 0;
  virtual void fetch_sum(double *, DeviceStream) = 0;

  // Returns the bytes of device memory.
  virtual std::size_t bytes() const = 0;
};

// Makes a map on the current GPU. The GPU also sums charges that overflow fixed bins. Throws
// DeviceError, and std::invalid_argument in the same cases as make_cuda_potential_map().
GPUCOORD_API std::unique_ptr<ResidentPotentialMap>
make_resident_potential_map(const MapOptions &, Precision, const MapBins &);

}    // namespace gpucoord

#endif
