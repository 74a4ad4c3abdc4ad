// Part of GPUCOORD, GPL-2.0. Atoms of host arrays as atoms that are resident on the GPU.
//
// The atoms of both groups are copied in one order, owned first.

#ifndef GPUCOORD_STAGED_ATOMS_H
#define GPUCOORD_STAGED_ATOMS_H

#include "../gpu/staging.h"

#include "gpucoord/pairs.h"
#include "gpucoord/switch_table.h"
#include "gpucoord/types.h"

#include <cstdint>
#include <vector>

namespace gpucoord {

class StagedAtoms {
 public:
  static constexpr int BIT_A = 1, BIT_B = 2;

  StagedAtoms(bool has_types_in, int nthreads_in) : has_types(has_types_in), nthreads(nthreads_in)
  {
  }

  // Enqueues the copy of positions. Returns whether the copied atoms, their groups and their types
  // are those of the last keep(), so that its pairs are still those of the input. Otherwise the
  // caller finds pairs of prepare(), and then calls keep().
  bool update(const CellsInput &, cudaStream_t);
  // Enqueues copies of groups and types. Returns what to find pairs of.
  DeviceSelection prepare(const CellsInput &, cudaStream_t);
  void keep(const CellsInput &in) { known = selection_of(in); }
  void forget() { known.version = 0; }
  // Number of changes of the copied atoms or their groups.
  std::int64_t nselections() const { return selections; }

  // Whether inputs have no version, so that pairs are evaluated once.
  static bool is_evaluated_once(const CellsInput &in) { return selection_of(in).version == 0; }

  const DeviceAtoms &atoms() const { return copied; }
  // Row of x of each copied atom. The first ones are the owned atoms of a.
  const std::vector<int> &rows() const { return row_of; }

  // Enqueues a copy of the indices of the copied atoms whose images the copied atoms are, for one
  // rank. owner: [rows of x]. Returns null if one of them is not copied. The copy is kept.
  const int *owners(const int *owner, cudaStream_t);

 private:
  struct Position {
    double x, y, z;
  };
  struct Selection {
    std::int64_t version = 0;    // 0: not known
    int na = 0, nowned_a = 0, nb = 0, nowned_b = 0;
    bool two = false;
    bool operator==(const Selection &other) const
    {
      return version == other.version && na == other.na && nowned_a == other.nowned_a &&
          nb == other.nb && nowned_b == other.nowned_b && two == other.two;
    }
  };
  static Selection selection_of(const CellsInput &);
  void select(const CellsInput &);

  const bool has_types;
  const int nthreads;
  Selection known;
  std::int64_t selections = 0;
  DeviceAtoms copied;
  std::vector<int> row_of;
  Staged<Position> positions;
  Staged<int> masks, types;
  // [copied atoms]
  Staged<int> owner_of;
  enum class Owners { UNKNOWN, COPIED, MISSING } owners_are = Owners::UNKNOWN;
  std::vector<int> index_of_row;
};

}    // namespace gpucoord

#endif
