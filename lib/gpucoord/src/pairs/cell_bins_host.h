// Part of GPUCOORD, GPL-2.0. Cutoff bins: atoms sorted by cell.
//
// Cells are Cartesian and span the bounding box of the atoms, so any simulation
// box will do: its periodic images are atoms of their own here. Atoms are sorted by
// a 64-bit key of their cell with x running fastest: cells of one row along x are
// neighbors in memory. The starts of all cells are stored where these are few, else
// the occupied ones: memory is linear in the number of atoms however empty the box.

#ifndef GPUCOORD_CELL_BINS_HOST_H
#define GPUCOORD_CELL_BINS_HOST_H

#include "gpucoord/pairs.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gpucoord {

struct CellGrid {
  double lo[3] = {0.0, 0.0, 0.0};              // lower corner, distance
  double size[3] = {1.0, 1.0, 1.0};            // of a cell, distance
  double inverse_size[3] = {1.0, 1.0, 1.0};    // 1/distance
  std::int64_t n[3] = {1, 1, 1};               // cells along each axis
  int reach = 1;    // atoms in range are at most so many cells apart along y and z
  // along x cells are finer: they say where to begin and to end in a row
  int x_cells_per_range() const { return 4 * reach; }

  // of the nearest cell
  std::int64_t coordinate(int axis, double x) const
  {
    // bounds as doubles: what lies far outside may be too large for an integer
    const double cell = (x - lo[axis]) * inverse_size[axis],
                 last = static_cast<double>(n[axis] - 1);
    return static_cast<std::int64_t>(std::min(std::max(cell, 0.0), last));
  }
  std::uint64_t key(std::int64_t cx, std::int64_t cy, std::int64_t cz) const
  {
    return static_cast<std::uint64_t>((cz * n[1] + cy) * n[0] + cx);
  }
};

// A grid for pairs within range over the atoms of both lists (b may be empty).
// Positions are finite.
GPUCOORD_TEST_API CellGrid make_cell_grid(const double *x, const AtomList &a, const AtomList &b,
                                          double range, int nthreads);

class GPUCOORD_TEST_API CellBins {
 public:
  void build(const CellGrid &, const double *x, const AtomList &, int nthreads);

  // Sorted atoms, from begin on, of the cells of one row with keys from first to last. cursor: where the search begins
  // if starts of cells are not stored; best that of a call with similar keys.
  int atoms(std::uint64_t first, std::uint64_t last, std::size_t &cursor, int &begin) const;

  // atoms sorted by cell, those of one cell in list order
  std::vector<double> x, y, z;        // [n]
  std::vector<int> row;               // [n] row of the position array
  std::vector<char> owned;            // [n]
  std::vector<std::uint64_t> keys;    // [n] of their cells

 private:
  void sort_by_digit(int shift, int nthreads);
  void sort_few_cells(std::uint64_t last_key, int nthreads);
  void sort_many_cells(std::uint64_t last_key, int nthreads);
  std::size_t seek(std::size_t near, std::uint64_t key) const;

  struct Cell {
    std::uint64_t key;
    int begin;    // among sorted atoms
  };
  std::vector<std::uint64_t> keys_swap;
  std::vector<int> order, order_swap, places;
  std::vector<Cell> cells;    // occupied ones, and the end of the last; or empty
  std::vector<int> starts;    // [cells of the grid + 1] among sorted atoms, or empty
};

}    // namespace gpucoord

#endif
