// Part of GPUCOORD, GPL-2.0. Cutoff bins: atoms sorted by cell.
//
// Cells are Cartesian and span the bounding box of the atoms, so that any simulation box is
// supported. Periodic images are separate atoms here. Atoms are sorted by the 64-bit key of their
// cell. x is the fastest index, so that the cells of a row along x are contiguous in memory. If
// there are few cells, the starts of all cells are stored, otherwise only the occupied cells.
// Memory is therefore linear in the number of atoms, even in mostly empty boxes.

#ifndef GPUCOORD_CELL_BINS_HOST_H
#define GPUCOORD_CELL_BINS_HOST_H

#include "gpucoord/bytes_of.h"
#include "gpucoord/pairs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpucoord {

struct CellGrid {
  double lo[3] = {0.0, 0.0, 0.0};              // lower corner, distance
  double size[3] = {1.0, 1.0, 1.0};            // size of a cell, distance
  double inverse_size[3] = {1.0, 1.0, 1.0};    // 1/distance
  std::int64_t n[3] = {1, 1, 1};               // number of cells along each axis
  // Atoms in range are at most this many cells apart along y and z.
  int reach = 1;
  // Cells are shorter along x, because they determine where the search in a row begins and ends.
  int x_cells_per_range() const { return 4 * reach; }

  // Returns the coordinate of the cell at x along the axis, limited to the grid.
  std::int64_t coordinate(int axis, double x) const
  {
    // Compare as doubles: the coordinate of a distant position may overflow an integer.
    const double cell = (x - lo[axis]) * inverse_size[axis],
                 last = static_cast<double>(n[axis] - 1);
    return static_cast<std::int64_t>(std::min(std::max(cell, 0.0), last));
  }
  std::uint64_t key(std::int64_t cx, std::int64_t cy, std::int64_t cz) const
  {
    return static_cast<std::uint64_t>((cz * n[1] + cy) * n[0] + cx);
  }
};

// Makes a grid for pairs within range (distance), over the atoms of both lists. b may be empty.
// Positions must be finite.
GPUCOORD_TEST_API CellGrid make_cell_grid(const double *x, const AtomList &a, const AtomList &b,
                                          double range, int nthreads);

class GPUCOORD_TEST_API CellBins {
 public:
  void build(const CellGrid &, const double *x, const AtomList &, int nthreads);

  // Finds the atoms in the cells of one row with keys from first to last, inclusive. Returns their
  // number. Sets 'begin' to the index of the first of them among the sorted atoms. cursor: where
  // the search starts if the starts of cells are not stored. Pass the cursor of a call with similar
  // keys; the call updates it.
  int atoms(std::uint64_t first, std::uint64_t last, std::size_t &cursor, int &begin) const;

  std::size_t bytes() const
  {
    return bytes_of(x, y, z, row, owned, keys, keys_swap, order, order_swap, next_index, cells,
                    starts);
  }

  // Atoms sorted by cell, in list order within each cell.
  std::vector<double> x, y, z;        // [n]
  std::vector<int> row;               // [n] row of the position array
  std::vector<char> owned;            // [n]
  std::vector<std::uint64_t> keys;    // [n] key of the cell

 private:
  void sort_by_digit(int shift, int nthreads);
  void sort_few_cells(std::uint64_t last_key, int nthreads);
  void sort_many_cells(std::uint64_t last_key, int nthreads);
  std::size_t seek(std::size_t near, std::uint64_t key) const;

  struct Cell {
    std::uint64_t key;
    int begin;    // index among the sorted atoms
  };
  std::vector<std::uint64_t> keys_swap;
  std::vector<int> order, order_swap, next_index;
  std::vector<Cell> cells;    // occupied cells and an end marker, or empty
  std::vector<int> starts;    // [cells of the grid + 1] index among the sorted atoms, or empty
};

}    // namespace gpucoord

#endif
