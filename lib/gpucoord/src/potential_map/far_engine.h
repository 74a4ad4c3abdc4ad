// Part of GPUCOORD, GPL-2.0. Ewald's far field of charges in device memory, on a mesh over the
// whole box.

#ifndef GPUCOORD_FAR_ENGINE_H
#define GPUCOORD_FAR_ENGINE_H

#include "../gpu/buffers.h"
#include "map_engine.h"

#include "gpucoord/map_far.h"

#include <cufft.h>

#include <cstddef>
#include <memory>

namespace gpucoord {

// All calls only enqueue work, with one exception: begin() waits and makes cuFFT plans if the mesh
// size differs from the last call. The plans are kept. Throws DeviceError.
class FarEngine {
 public:
  // Spreads the charges and transforms the density. Periodic images must be separate charges.
  // sum_of_sizes: sum of the magnitudes of the charges, or slightly more
  void begin(const EwaldMesh &, const ChargesOnDevice &, double sum_of_sizes, cudaStream_t);

  // Computes the potential and field of the charges of begin() at every fold-th mesh point,
  // starting at 'first'. May be called repeatedly. phi: [nz/fold][ny/fold][nx/fold]. field:
  // [nz/fold][ny/fold][nx/fold][3], may be null
  void on_grid(const int fold[3], const int first[3], double *phi, double *field, cudaStream_t);
  // Interpolates the potential of the charges of begin() at n positions. Their ids are not used.
  void at_positions(const DeviceAtom *positions, int n, double *at, cudaStream_t);

  std::size_t bytes() const;    // device memory, without the tables of cuFFT

 private:
  struct Plan {
    Plan();
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;
    ~Plan();
    cufftHandle handle;
  };
  struct Plans {
    Plan forward, backward;
  };

  void prepare(const int n[3], cudaStream_t);
  // Component of the field; -1: the potential.
  void transform_back(int component, bool for_positions, cudaStream_t);

  EwaldMesh mesh;
  int planned[3] = {};    // mesh points for which plans and tables exist
  std::unique_ptr<Plans> plans;
  DeviceBuffer<char> workspace;       // shared by both plans
  DeviceBuffer<double> splines[3];    // [n] FarFactors::splines_of_axis()
  // [nz][ny][nx] charges in fixed-point units
  DeviceBuffer<unsigned long long> fixed;
  DeviceBuffer<double> values;    // [nz][ny][nx] density, then the result of the inverse transform
  // [nz][ny][nx/2 + 1] transform of the density, without and with factors.
  DeviceBuffer<double2> spectrum, changed;
};

}    // namespace gpucoord

#endif
