// Part of GPUCOORD, GPL-2.0. Copies atoms of host arrays to the GPU as resident atoms.
//
// The atoms of both groups are copied in one order, owned atoms first.

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

  // Enqueues the copy of positions. Returns true if the copied atoms, their groups and their types
  // are those of the last keep(), whose pairs are then still valid. Otherwise, the caller finds the
  // pairs of prepare(), and then calls keep().
  bool update(const CellsInput &, cudaStream_t);
  // Enqueues copies of groups and types. Returns the selection whose pairs are to be found.
  DeviceSelection prepare(const CellsInput &, cudaStream_t);
  void keep(const CellsInput &in) { known = selection_of(in); }
  void invalidate() { known.version = 0; }
  // Number of times that the copied atoms or their groups have changed.
  std::int64_t nselections() const { return selections; }

  // Returns whether the input has no version. Its pairs are then evaluated once.
  static bool is_evaluated_once(const CellsInput &in) { return selection_of(in).version == 0; }

  const DeviceAtoms &atoms() const { return copied; }
  // Row of x of each copied atom. The owned atoms of a come first.
  const std::vector<int> &rows() const { return row_of; }

  // For one rank: enqueues a copy of the owner of each copied atom, as an index among the copied
  // atoms. owner: [rows of x]. Returns null if an owner is not copied. The copy is kept.
  const int *owners(const int *owner, cudaStream_t);

  std::size_t bytes() const
  {
    return bytes_of(row_of, positions, masks, types, owner_of, index_of_row);
  }

 private:
  struct Position {
    double x, y, z;
  };
  struct Selection {
    std::int64_t version = 0;    // 0: unknown
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
