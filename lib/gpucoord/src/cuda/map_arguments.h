// Part of GPUCOORD, GPL-2.0. What the kernels of potential maps are given.

#ifndef GPUCOORD_MAP_ARGUMENTS_H
#define GPUCOORD_MAP_ARGUMENTS_H

#include "../common/map_formulas.h"
#include "device_bins.h"

#include <cuda_runtime.h>

namespace gpucoord {

struct alignas(16) MapCharge {
  double x, y, z;    // distance
  double q;          // charge
};

// Charges in the order of their cells, of which rows along x are neighbours in memory.
struct SortedCharges {
  const MapCharge *charge;    // [n], or [cells][depth]
  SortedAtoms order;          // atom is not looked at
  DeviceGrid cells;
  int depth;                  // places of each cell; 0: there are no gaps
  double range;               // in which cells are searched; of MapKernel::DIRECT without limit
};

// A warp takes a tile of points: of each row along x as many pairs as there are subtiles, of which lanes have one point each, and as
// many rows as it has pairs of lanes. Tiles of a block stand side by side.
constexpr int TILE_Y = 4, TILE_Z = 4, MAX_SUBTILES = 6;
constexpr int BLOCK_Y = 2 * TILE_Y, BLOCK_Z = 2 * TILE_Z, MAP_WARPS = 4;
static_assert(MAP_TILE_OF_GPU[0] == 2 && MAP_TILE_OF_GPU[1] == TILE_Y && MAP_TILE_OF_GPU[2] == TILE_Z, "a subtile");
static_assert(2 * TILE_Y * TILE_Z == 32, "one point for each lane");

// In kernels the unit of length is 'length': the cutoff, or the extent of all for MapKernel::DIRECT.
template <class Real> struct MapArguments {
  MapConstants<Real> constants;    // in that unit
  Real reach_sq;                   // squared distance from points beyond which no charge is taken: no less than the cutoff
  Real margin;                     // charges farther from the box around a tile are on none of its points, whatever the rounding
  double length, inverse_length;
  Real unit;                       // inverse_length
  SortedCharges charges;
  unsigned long long *tested;      // to which numbers of distances are added
};

// Boxes around points, relative to the middle of a tile.
template <class Real> struct TileShape {
  Real half[3];                  // edges of the box around the tile
  Real x_begin, x_end;           // of that around the first subtile
  Real per_subtile;              // 1 over what is from one to the next, along x
  Real subtile[MAX_SUBTILES];    // from the first to each, along x
};

template <class Real> struct MapGridArguments {
  MapArguments<Real> map;
  MapGrid grid;
  TileShape<Real> tile;
  int blocks[2];                 // along x and y
  int first_block;               // of the launch, x fastest
  const unsigned char *zero;     // [points] whether they are 0; null: none is
  bool add;                      // to what is there
  double *phi, *field;
};

template <class Real> struct MapPointsArguments {
  MapArguments<Real> map;
  const DeviceAtom *point;       // [n] in the order of cells, whose id is its own charge or -1
  const int *place;              // [n] of the results
  const int *where;              // [charges] among the sorted ones
  int n;
  double *phi, *field;
};

// Each enqueues one kernel; of blocks or points > 0. Throws DeviceError.
template <class Real> struct MapLaunchers {
  void (*grid[2][2])(const MapGridArguments<Real> &, int blocks, cudaStream_t);    // [soft][with field]
  int subtiles[2][2];                                                              // of a tile of these
  void (*points[2][2])(const MapPointsArguments<Real> &, cudaStream_t);
};

// of a class in map_kernel
template <class Kernel> void get_map_launchers(MapLaunchers<float> &);
template <class Kernel> void get_map_launchers(MapLaunchers<double> &);

}    // namespace gpucoord

#endif
