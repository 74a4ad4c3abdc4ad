// Part of GPUCOORD, GPL-2.0. Rigid molecules in device memory: bins, kernels for each ordered pair of components, reductions.

#ifndef GPUCOORD_MOLECULE_ENGINE_CUDA_H
#define GPUCOORD_MOLECULE_ENGINE_CUDA_H

#include "../gpu/bins.h"
#include "../gpu/buffers.h"
#include "multisite_arguments_cuda.h"
#include "multisite_cuda.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace gpucoord {

// Where the molecules of a component stand among all, which are in the order of their components: owned ones, then ghosts.
struct ComponentRows {
  int first = 0, n = 0, nowned = 0;
};

// The molecules of one rank, in device memory.
struct MoleculesByComponent {
  const ComponentRows *rows;     // [components] on the host
  const DeviceAtom *molecule;    // centers of mass
  const double *quaternion;      // [4] of each: w x y z
  int n, nowned;
  Bounds bounds;    // about where they are: outside it takes more time
};

class MoleculeEngine {
 public:
  virtual ~MoleculeEngine() = default;
  // Enqueues all work, of which the molecules are read until the next call; nowned > 0. Throws DeviceError.
  virtual void enqueue(const MoleculesByComponent &, MultisiteWant, cudaStream_t) = 0;

  // What that leaves in device memory.
  virtual const double *sums() const = 0;           // [nowned][columns] in the order of components
  virtual const MoleculeSums *total() const = 0;    // with MultisiteWant::ALL

  virtual Timings timings() const = 0;    // of the last evaluation, when it has ended: no copies
  virtual std::size_t bytes() const = 0;
};

std::unique_ptr<MoleculeEngine> make_molecule_engine(const MultisiteModel &, Precision,
                                                     const MultisiteTuning &);

}    // namespace gpucoord

#endif
