// Part of GPUCOORD, GPL-2.0. Arguments of the pair kernels: one struct per launch. Lengths are in
// the caller's units.

#ifndef GPUCOORD_PAIR_ARGUMENTS_CUDA_H
#define GPUCOORD_PAIR_ARGUMENTS_CUDA_H

#include "../gpu/bins.h"
#include "device_rows.h"

#include "gpucoord/box.h"
#include "gpucoord/pairs.h"

#include <cstdint>

namespace gpucoord {

// Value and virial of the atoms of one warp.
struct WarpSums {
  double value;
  double virial[6];
  double tested;    // number of computed distances, for benchmarks
};

// Output of the sums, multiplied by a weight. The partners of each atom are split over 'splits'
// warps; the caller adds the sums of the splits.
struct SumsOut {
  // [splits][n][columns], columns: AtomSums::COLUMNS of the kernel's WANT; null: not requested.
  double *sums;
  WarpSums *warp;    // [splits * warps of atoms] value and virial
  int splits;
  double weight;
};

// Kernels of a second pass (SecondPass in pairs.h) multiply the derivatives of a pair by the sum of
// the weights of its two atoms. They are launched if the arguments have weights. Weights are
// divided by a unit to fit a float; SumsOut::weight includes the unit. In pair mode, a pair has one
// weight, and the kernel is the same as without weights.

// Search of engine 'cells': owned atoms of i with all atoms of j near them.
struct CellsSearch {
  SortedAtoms i, j;    // equal if there is one group
  BinGrid grid;        // grid of both lists
  Neighborhood neighborhood;
  double range_sq;    // distance^2, with a margin for the rounding of Real
  // Distance^2: (dmax + drift)^2 with the same margin, because j-atoms may have moved since they
  // were sorted.
  double search_sq;
  // Largest distance along each axis from the first of the atoms that share an origin.
  double max_extent;
  int *queue;                         // next work item; must be 0 at launch
  const void *weight_i, *weight_j;    // [i.n], [j.n] Real, sorted like the atoms; null: no weights
};

// Sets the members that depend on dmax (distance). drift: largest distance of an atom from its
// position when it was sorted
inline void set_range(CellsSearch &arg, const BinGrid &grid, double dmax, double drift)
{
  const double search_range = dmax + drift;
  arg.grid = grid;
  arg.neighborhood = make_neighborhood(grid, search_range + drift);
  // The margin is far above the rounding of Real, so that no pair is lost when boxes are compared.
  arg.range_sq = dmax * dmax * (1.0 + 1e-5);
  arg.search_sq = search_range * search_range * (1.0 + 1e-5);
  arg.max_extent = tuning::MAX_COLUMN_WIDTH * dmax;
}

// Arguments of engine 'cells'.
struct CellsArguments : CellsSearch {
  SumsOut out;    // n: i.nowned; row t belongs to the atom with index t in the caller's list
};

// Arguments of the pass over lists: n atoms with their neighbors.
struct ListArguments {
  const double *x;                // [nall][3]
  const unsigned char *member;    // [nall] bits of group membership; null: all atoms are members
  unsigned char bit;              // partners must have this bit in member
  const int *row;                 // [n] row of x of each atom
  const std::int64_t *first;      // [n + 1] index of each atom's first neighbor
  const int *neighbor;            // rows of x, before neighmask is applied
  int neighmask;
  // [nall] by row of x. One of them is null: its weights are 0. Both: no weights.
  const double *weight_i, *weight_j;
  int n;
  SumsOut out;    // splits is 1
};

// Arguments of engine 'allpairs': n atoms i with all atoms j, nearest images.
struct AllPairsArguments {
  Box box;
  const DeviceAtom *i, *j;    // [n], [nj]
  // [n], [nj]. One of them is null: its weights are 0. Both: no weights.
  const double *weight_i, *weight_j;
  int n;
  std::int64_t nj;
  SumsOut out;
};

// Arguments of pair mode. Pairs are evaluated at their nearest images.
struct PairsArguments {
  Box box;
  const double *xa, *xb;          // [n][3]
  const unsigned char *counts;    // [n] nonzero: this rank counts the pair in S
  const double *weights;          // [n] factors of the derivatives; null: 1
  int n;
  SumsOut out;    // splits is 1; sums of each pair, with dS/dx of its first atom
};

// Arguments of kernels over partner lists kept on the GPU.
struct RowArguments {
  DeviceRows rows;
  const void *points;    // int4 in units, or DeviceAtom
  double unit;           // distance
  bool is_weighted;      // second pass
  // [points] Real, weights of the atoms of group a, and 0 for the others; null: they are stored as
  // float next to the position of the point.
  const void *weights;
  double weight;         // weight of the pairs of these rows
  double value_scale;    // 1/2 if every pair occurs twice, once from each atom; otherwise 1
  // [n][columns] sums of the rows; null: not requested. WANT = VALUE: [nlocal]; s of rows that
  // count in S is added to the element of the atom.
  double *sums;
  float *gradients;       // [3][n] dS/dx of the rows; null: not requested
  DeviceForces forces;    // dS/dx is subtracted from these forces; null: not requested
  double *block_sums;     // [7][blocks] value and virial
  unsigned *ended;        // number of finished blocks; 0 before and after the launch
  WarpSums *total;        // value and virial of all launches of an evaluation
  bool is_first;          // the first of these launches
};

}    // namespace gpucoord

#endif
