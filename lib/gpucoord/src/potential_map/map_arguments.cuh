// Part of GPUCOORD, GPL-2.0. What the kernels of potential maps are given.

#ifndef GPUCOORD_MAP_ARGUMENTS_CUH
#define GPUCOORD_MAP_ARGUMENTS_CUH

#include "../gpu/bins.h"
#include "map_formulas.h"

#include <cuda_runtime.h>

namespace gpucoord {

struct alignas(16) MapCharge {
  double x, y, z;    // distance
  double q;          // charge
};

// What kernels over grids in float read, but for those of MapKernel::DIRECT, whose charges may be anywhere. Coordinates are parts of a
// turn, of which whole ones are left out: they do not matter for the difference to a tile nearby, which is right to a part.
struct alignas(16) PackedCharge {
  unsigned x, y, z;
  float q;
};

// Charges in the order of their cells, of which rows along x are neighbors in memory.
struct SortedCharges {
  const MapCharge *charge;       // [n], or [cells][depth]; and one of 0 behind them
  const PackedCharge *packed;    // the same
  int end;                       // the place of that behind
  SortedAtoms order;             // without atoms
  BinGrid cells;
  int depth;    // places of each cell; 0: there are no gaps
  double
      range;    // in which cells are searched; of MapKernel::DIRECT there is one, which is always found
  double parts;    // 2^32 over a turn, 1/distance

  __device__ unsigned parts_at(int axis, double x) const
  {
    return static_cast<unsigned>(__double2ll_rn((x - cells.lo[axis]) * parts));
  }
};

// A warp takes a tile of points: subtiles along x, each of two points of each row. Tiles of a block stand side by side.
constexpr int TILE_Y = 4, TILE_Z = 4, MAX_SUBTILES = 6;
constexpr int BLOCK_Y = 2 * TILE_Y, BLOCK_Z = 2 * TILE_Z, MAP_WARPS = 4;
static_assert(MAP_TILE_OF_GPU[0] == 2 && MAP_TILE_OF_GPU[1] == TILE_Y &&
                  MAP_TILE_OF_GPU[2] == TILE_Z,
              "a subtile");
static_assert(2 * TILE_Y * TILE_Z == 32, "one point for each lane");

// How rows of cells near a box are found: in float, with a margin for its rounding. The unit of length is that of charges.
struct RowSearch {
  float half[3];    // edges of the box
  float range;
  float size[2];               // of columns, along y and z
  double columns[2];           // half and range in them
  float cells_per_distance;    // along x
};

// In kernels the unit of length is 'length': the cutoff, or the extent of all for MapKernel::DIRECT.
template <class Real> struct MapArguments {
  MapConstants<Real> constants;    // in that unit
  Real
      reach_sq;    // squared distance from points beyond which no charge is taken: no less than the cutoff
  double length, inverse_length;
  Real unit;    // inverse_length
  SortedCharges charges;
  RowSearch rows;                // near the box around a tile, or near a point
  unsigned long long *tested;    // to which numbers of distances are added
};

// Boxes around points, relative to the middle of a tile.
template <class Real> struct TileShape {
  Real inside
      [3];    // charges farther from its middle are on none of its points, whatever the rounding
  Real per_subtile;    // 1 over what is from one subtile to the next, along x
  Real first_near,
      last_near;    // a charge at x with reach r is near to those from the integer next to (x - r) per_subtile + first_near
                    // to that next to (x + r) per_subtile + last_near
  Real step;        // from one point to the next, along x
};

template <class Real> struct MapGridArguments {
  MapArguments<Real> map;
  MapGrid grid;
  TileShape<Real> tile;
  Real per_part;                // length of a part of a turn, in that unit
  int blocks[2];                // along x and y
  int first_block;              // of the launch, x fastest
  const unsigned char *zero;    // [points] whether they are 0; null: none is
  bool add;                     // to what is there
  double *phi, *field;
};

template <class Real> struct MapPointsArguments {
  MapArguments<Real> map;
  const DeviceAtom *point;    // [n] in the order of cells, whose id is its own charge or -1
  const int *place;           // [n] of the results
  const int *where;           // [charges] among the sorted ones
  int n;
  double *phi, *field;
};

// Each enqueues one kernel; of blocks or points > 0. Throws DeviceError.
template <class Real> struct MapLaunchers {
  void (*grid[2][2])(const MapGridArguments<Real> &, int blocks,
                     cudaStream_t);    // [soft][with field]
  int subtiles[2][2];                  // of a tile of these
  void (*points[2][2])(const MapPointsArguments<Real> &, cudaStream_t);
};

// of a class in map_kernel
template <class Kernel> void get_map_launchers(MapLaunchers<float> &);
template <class Kernel> void get_map_launchers(MapLaunchers<double> &);

}    // namespace gpucoord

#endif
