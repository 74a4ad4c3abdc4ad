// Part of GPUCOORD, GPL-2.0. Engine 'cells' of the CUDA backend: host arrays, evaluated as atoms
// that are resident on the GPU.
//
// The atoms of both groups are copied in one order, owned first. Pairs are kept as long as the
// caller's version is the same, types are the same, and no atom has moved by half the skin.
// Otherwise they are found again before the evaluation, or the evaluation is repeated.

#ifndef GPUCOORD_STAGED_CELLS_H
#define GPUCOORD_STAGED_CELLS_H

#include "../gpu/cuda_tuning.h"
#include "../gpu/staging.h"

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

  // As Coordination::cells().
  Contribution evaluate(const CellsInput &, unsigned want, double *peratom, cudaStream_t);

 private:
  struct Position {
    double x, y, z;
  };
  struct Selection {
    std::int64_t version = 0;    // 0: not known
    int na = 0, nowned_a = 0, nb = 0, nowned_b = 0;
    bool two = false;
  };
  static Selection selection_of(const CellsInput &);
  bool is_known(const Selection &) const;
  void make_engine(const double *weight);
  void select(const CellsInput &);
  bool stage(const CellsInput &, bool types_are_known, cudaStream_t);
  void rebuild(const CellsInput &, bool is_evaluated_once, cudaStream_t);
  template <class Enqueue>
  Totals evaluate_kept_pairs(const CellsInput &, bool is_evaluated_once, const Enqueue &,
                             cudaStream_t);
  void select_function(const DeviceFunction &, cudaStream_t);
  bool send_owners(const int *owner, cudaStream_t);
  bool evaluate_on_device(const CellsInput &, bool is_evaluated_once, unsigned want,
                          double *peratom, Contribution &, cudaStream_t);
  void add_coordination_numbers(int n, unsigned want, double *s_of_rows, double *peratom) const;
  Contribution evaluate_function(const CellsInput &, bool is_evaluated_once, unsigned want,
                                 double *peratom, cudaStream_t);

  const SwitchTable table;
  const Precision precision;
  const int nthreads;
  const CudaTuning tuning;

  std::unique_ptr<ResidentCoordination> engine;
  std::vector<double> weights;    // weights of types that the engine was made with; empty: 1
  Selection known;
  DeviceAtoms atoms;
  std::vector<int> rows;    // rows of x of the copied atoms
  Staged<Position> positions;
  Staged<int> masks, types;
  // Functions of coordination numbers: s_i, f(s_i), and weights that the caller gives.
  Staged<double> s, atom_weights;
  PinnedBuffer<double> f;
  Event numbers_copied;
  // The function on the GPU, with these atoms; null: none.
  std::shared_ptr<ResidentFunction> selected_function;
  // [copied atoms] index of the copied atom whose image each is.
  Staged<int> owners;
  enum class Owners { UNKNOWN, SELECTED, MISSING } known_owners = Owners::UNKNOWN;
  std::vector<int> index_of_row;
  TimedEvent copied, binned, paired;
};

}    // namespace gpucoord

#endif
