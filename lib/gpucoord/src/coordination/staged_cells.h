// Part of GPUCOORD, GPL-2.0. Engine 'cells' of the CUDA backend. Atoms of host arrays are copied
// and evaluated as resident atoms.
//
// Pairs are kept as long as the caller's version and the types are the same, and no atom has moved
// by half the skin. Otherwise the pairs are rebuilt before the evaluation, or the evaluation is
// repeated.

#ifndef GPUCOORD_STAGED_CELLS_H
#define GPUCOORD_STAGED_CELLS_H

#include "../gpu/cuda_tuning.h"
#include "../gpu/staging.h"
#include "../pairs/staged_atoms.h"

#include "gpucoord/coordination.h"
#include "gpucoord/resident_coordination.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gpucoord {

class ResidentFunction;

class StagedCells {
 public:
  StagedCells(const SwitchTable &, Precision, int nthreads, const CudaTuning &);

  // See Coordination::cells().
  Contribution evaluate(const CellsInput &, unsigned want, double *peratom, cudaStream_t);

  std::size_t bytes() const;

 private:
  void make_engine(const double *weight);
  void rebuild(const CellsInput &, cudaStream_t);
  template <class Enqueue>
  Totals evaluate_kept_pairs(const CellsInput &, const Enqueue &, cudaStream_t);
  void select_function(const DeviceFunction &, cudaStream_t);
  bool evaluate_on_device(const CellsInput &, unsigned want, double *peratom, Contribution &,
                          cudaStream_t);
  void add_coordination_numbers(int n, unsigned want, double *s_of_rows, double *peratom) const;
  Contribution evaluate_function(const CellsInput &, unsigned want, double *peratom, cudaStream_t);

  const SwitchTable table;
  const Precision precision;
  const int nthreads;
  const CudaTuning tuning;

  std::unique_ptr<ResidentCoordination> engine;
  std::vector<double> weights;    // weights of types in the engine; empty: 1
  StagedAtoms staged;
  // Functions of coordination numbers: s_i, f(s_i), and the caller's weights.
  Staged<double> s, atom_weights;
  PinnedBuffer<double> f;
  Event numbers_copied;
  // The function on the GPU, with these atoms selected; null: not used.
  std::shared_ptr<ResidentFunction> selected_function;
  std::int64_t selection_of_function = 0;    // StagedAtoms::nselections()
  TimedEvent copied, binned, paired;
};

}    // namespace gpucoord

#endif
