// Part of GPUCOORD, GPL-2.0. What the pair kernels are given: one struct a launch. Lengths
// are in the caller's units.

#ifndef GPUCOORD_PAIR_ARGUMENTS_CUDA_H
#define GPUCOORD_PAIR_ARGUMENTS_CUDA_H

#include "../gpu/bins.h"
#include "rows_cuda.h"

#include "gpucoord/box.h"
#include "gpucoord/pairs.h"

#include <cstdint>

namespace gpucoord {

// value and virial of the atoms of one warp
struct WarpSums {
  double value;
  double virial[6];
  double tested;    // distances computed, for the bench
};

// Where sums go, times a weight. Kernels share out the partners of their atoms to 'splits' teams: sums are
// [splits][n][columns], and the caller adds up the splits.
struct SumsOut {
  double *sums;      // columns: peratom_columns() of the kernel's WANT; null: not wanted
  WarpSums *warp;    // [splits * warps of atoms] value and virial
  int splits;
  double weight;
};

// Owned atoms of i with all atoms of j that are near them.
struct CellsSearch {
  SortedAtoms i, j;    // the same in one group
  BinGrid grid;        // of both
  Neighborhood neighborhood;
  double range_sq;     // distance^2, with a margin for the rounding of Real
  double search_sq;    // the same of the places where j-atoms were sorted
  double
      max_extent;    // along each axis, from the first of the atoms that share an origin, distance
  int *queue;        // next item of work, starts at 0
};

// What depends on dmax. drift: how far atoms may be from the places where they were sorted.
inline void set_range(CellsSearch &arg, const BinGrid &grid, double dmax, double drift)
{
  const double search_range = dmax + drift;
  arg.grid = grid;
  arg.neighborhood = make_neighborhood(grid, search_range + drift);
  // a margin far above the rounding of Real: no pair is lost where boxes are compared
  arg.range_sq = dmax * dmax * (1.0 + 1e-5);
  arg.search_sq = search_range * search_range * (1.0 + 1e-5);
  arg.max_extent = tuning::MAX_COLUMN_WIDTH * dmax;
}

// Engine cells.
struct CellsArguments : CellsSearch {
  SumsOut out;    // n: i.nowned, rows are the caller's places
};

// Engine list: n atoms with their neighbors.
struct ListArguments {
  const double *x;                // [nall][3]
  const unsigned char *member;    // [nall]; null: all have the bit
  unsigned char bit;              // partners have it in member
  const int *row;                 // [n] row of x
  const std::int64_t *first;      // [n + 1] of its neighbors
  const int *neighbor;            // rows of x, not yet masked
  int neighmask;
  int n;
  SumsOut out;    // no splits
};

// Engine allpairs, and engine cells for few pairs: n atoms i with all atoms j, nearest images.
struct AllPairsArguments {
  Box box;
  const DeviceAtom *i, *j;    // [n], [nj]
  int n;
  std::int64_t nj;
  SumsOut out;
};

// Pair mode, nearest images.
struct PairsArguments {
  Box box;
  const double *xa, *xb;          // [n][3]
  const unsigned char *counts;    // [n] whether this rank counts the pair in S
  int n;
  SumsOut out;    // no splits; sums of the pair, dS/dx of its first atom
};

// Lists of partners that are kept on the GPU.
struct PartnerArguments {
  DeviceRows rows;
  const void *points;     // int4 in units, or DeviceAtom
  double unit;            // distance
  double weight;          // of the pairs of these rows
  double value_scale;     // 1/2 where every pair is met from both its ends
  double *sums;           // [n][columns] of the rows; null: not wanted
  float *slopes;          // [3][n] dS/dx of the rows; null: not wanted
  DeviceForces forces;    // from which derivatives are subtracted; null: none
  double *block_sums;     // [7][blocks] value and virial
  unsigned *ended;        // blocks that have ended: 0 before and after
  WarpSums *total;        // value and virial of all launches of an evaluation
  bool is_first;          // of those
};

}    // namespace gpucoord

#endif
