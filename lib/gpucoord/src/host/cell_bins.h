// Part of GPUCOORD, GPL-2.0. Cutoff bins: atoms sorted by cell.
//
// Cells are Cartesian and span the bounding box of the atoms, so any simulation
// box will do: its periodic images are atoms of their own here. Only occupied
// cells are stored, ordered by a 64-bit key with x running fastest: memory is
// linear in the number of atoms however empty the box, and the cells of one row
// along x are neighbours in memory.

#ifndef GPUCOORD_CELL_BINS_H
#define GPUCOORD_CELL_BINS_H

#include "gpucoord/coordination.h"

#include <cstdint>
#include <vector>

namespace gpucoord {

struct CellGrid {
  double lo[3] = {0.0, 0.0, 0.0};           // lower corner, distance
  double inverse_size[3] = {1.0, 1.0, 1.0};    // 1/distance
  std::int64_t n[3] = {1, 1, 1};            // cells along each axis
  int reach = 1;                            // atoms in range are at most so many cells apart

  std::int64_t coordinate(int axis, double x) const;
  std::uint64_t key(std::int64_t cx, std::int64_t cy, std::int64_t cz) const
  {
    return static_cast<std::uint64_t>((cz * n[1] + cy) * n[0] + cx);
  }
};

// A grid for pairs within range over the atoms of both lists (b may be empty).
// Positions are finite.
CellGrid make_cell_grid(const double *x, const AtomList &a, const AtomList &b, double range);

class CellBins {
 public:
  struct Cell {
    std::uint64_t key;
    int begin, end;    // sorted atoms
  };

  void build(const CellGrid &, const double *x, const AtomList &, int nthreads);

  // the first occupied cell at or after position 'from' whose key is not less
  std::size_t seek(std::size_t from, std::uint64_t key) const;

  // atoms sorted by cell, those of one cell in list order
  std::vector<double> x, y, z;    // [n]
  std::vector<int> row;           // [n] row of the position array
  std::vector<char> owned;        // [n]
  std::vector<Cell> cells;        // occupied cells by rising key

 private:
  std::vector<std::uint64_t> keys, keys_swap;
  std::vector<int> order, order_swap;
};

}    // namespace gpucoord

#endif
