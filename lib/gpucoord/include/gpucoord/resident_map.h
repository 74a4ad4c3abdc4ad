// Part of GPUCOORD, GPL-2.0. Potential maps of atoms whose data lie on a GPU, where the maps and their mean stay until they are
// asked for.

#ifndef GPUCOORD_RESIDENT_MAP_H
#define GPUCOORD_RESIDENT_MAP_H

#include "gpucoord/export.h"
#include "gpucoord/potential_map.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <memory>

namespace gpucoord {

// Charges of one rank in device memory: of atoms with this bit in their mask.
struct DeviceCharges {
  DeviceAtoms atoms;
  const void *q = nullptr;    // [nall]
  bool q_is_float = false;    // else double
  int groupbit = ~0;
};

// Sums over owned atoms.
struct ChargeSums {
  double charged = 0.0;                      // atoms with a charge
  double q = 0.0, q_sq = 0.0, size = 0.0;    // of charges, their squares and their magnitudes
  int bad_atom =
      -1;    // row of an atom, owned or ghost, whose position or charge is not finite; -1: none
};

// All work is enqueued on the caller's stream; what says so waits for it. Throws DeviceError, and std::invalid_argument as
// PotentialMap does.
class GPUCOORD_API ResidentPotentialMap {
 public:
  virtual ~ResidentPotentialMap() = default;

  // Takes the charges, and waits. They are as they are now until the next call.
  virtual ChargeSums begin(const DeviceCharges &, DeviceStream) = 0;
  // Potential, and field where wanted, of them times 'scale'. With fixed bins it waits.
  virtual void on_grid(const MapGrid &, bool with_field, double scale, DeviceStream) = 0;
  // copies it, and waits; of as many points as the grid has
  virtual void fetch(const MapResults &, DeviceStream) = 0;
  virtual MapOverflow overflow() const = 0;

  // The sum of potentials, of as many points as the grid has.
  virtual void set_sum(const double *, std::size_t n, DeviceStream) = 0;    // waits
  virtual void add_to_sum(DeviceStream) = 0;                                // the present map
  virtual void fetch_sum(double *, DeviceStream) = 0;                       // copies it, and waits

  virtual std::size_t bytes() const = 0;
};

// On the current GPU. What overflows fixed bins the GPU takes.
GPUCOORD_API std::unique_ptr<ResidentPotentialMap>
make_resident_potential_map(const MapOptions &, Precision, const MapBins &);

}    // namespace gpucoord

#endif
