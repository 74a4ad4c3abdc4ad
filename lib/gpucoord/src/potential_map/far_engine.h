// Part of GPUCOORD, GPL-2.0. Ewald's far field of charges in device memory, on a mesh over the whole box.

#ifndef GPUCOORD_FAR_ENGINE_H
#define GPUCOORD_FAR_ENGINE_H

#include "../gpu/buffers.h"
#include "map_engine.h"

#include "gpucoord/map_far.h"

#include <cufft.h>

#include <cstddef>
#include <memory>

namespace gpucoord {

// All calls enqueue work, but for begin() where a mesh has other numbers of points than the last one: then it waits, and makes
// cuFFT's plans, which are kept. Throws DeviceError.
class FarEngine {
 public:
  // Spreads charges, periodic images being charges of their own, and transforms. sum_of_sizes: of the magnitudes of these
  // charges, or a little more.
  void begin(const EwaldMesh &, const ChargesOnDevice &, double sum_of_sizes, cudaStream_t);

  // Of the charges of begin(), any number of times. At every fold-th mesh point from a first one on; field may be null.
  void on_grid(const int fold[3], const int first[3], double *phi, double *field, cudaStream_t);
  // What mesh points add at n places, whose id does not matter.
  void at_places(const DeviceAtom *places, int n, double *at, cudaStream_t);

  std::size_t bytes() const;    // but for tables of cuFFT

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
  void transform_back(int component, bool for_places,
                      cudaStream_t);    // component of the field, -1: the potential

  EwaldMesh mesh;
  int planned[3] = {};    // points of the mesh of which plans and tables are
  std::unique_ptr<Plans> plans;
  DeviceBuffer<char> workspace;       // of both plans
  DeviceBuffer<double> splines[3];    // [n] FarFactors::splines_of_axis()
  DeviceBuffer<unsigned long long>
      fixed;                      // [nz][ny][nx] charges in units of the last bit that is kept
  DeviceBuffer<double> values;    // [nz][ny][nx] density, and then what is transformed back
  DeviceBuffer<double2> spectrum,
      changed;    // [nz][ny][nx/2 + 1] of the density, and times factors
};

}    // namespace gpucoord

#endif
