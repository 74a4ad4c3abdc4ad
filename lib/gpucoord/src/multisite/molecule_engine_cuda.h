// Part of GPUCOORD, GPL-2.0. Rigid molecules in device memory: bins, one kernel for each ordered
// pair of components, and reductions.

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

// The rows of a component's molecules among all molecules. Molecules are ordered by component;
// within a component, owned molecules come first, then ghosts.
struct ComponentRows {
  int first = 0, n = 0, nowned = 0;
};

// The molecules of one rank, in device memory.
struct MoleculesByComponent {
  const ComponentRows *rows;     // [components], in host memory
  const DeviceAtom *molecule;    // [n] centers of mass
  const double *quaternion;      // [n][4] w x y z
  int n, nowned;
  // Approximate bounds of the molecules. Molecules outside are correct but slower.
  Bounds bounds;
};

class MoleculeEngine {
 public:
  virtual ~MoleculeEngine() = default;
  // Enqueues all work. The molecules must stay valid until the next call. nowned must be greater
  // than 0. Throws DeviceError.
  virtual void enqueue(const MoleculesByComponent &, MultisiteWant, cudaStream_t) = 0;

  // Results of enqueue(), in device memory.
  virtual const double *sums() const = 0;           // [nowned][columns], by component
  virtual const MoleculeSums *total() const = 0;    // with MultisiteWant::ALL

  // Returns the timings of the last evaluation after a wait, without copies.
  virtual Timings timings() const = 0;
  virtual std::size_t bytes() const = 0;
};

std::unique_ptr<MoleculeEngine> make_molecule_engine(const MultisiteModel &, Precision,
                                                     const MultisiteTuning &);

}    // namespace gpucoord

#endif
