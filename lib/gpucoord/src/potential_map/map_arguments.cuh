// Part of GPUCOORD, GPL-2.0. Arguments of the kernels of potential maps.

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

// Charges in the format of the float kernels over grids, except those of MapKernel::DIRECT, whose
// charges may be anywhere. Coordinates are integers in units of 2^-32 of a period ('turn') and wrap
// around. Differences to a nearby tile are still exact to one unit.
struct alignas(16) PackedCharge {
  unsigned x, y, z;
  float q;
};

// Charges sorted by cell. Rows of cells along x are contiguous in memory.
struct SortedCharges {
  const MapCharge *charge;       // [n] or [cells][depth], followed by a zero charge
  const PackedCharge *packed;    // same layout
  int end;                       // index of the zero charge
  SortedAtoms order;             // its member 'atom' is null
  BinGrid cells;
  int depth;    // room for charges per cell; 0: there are no gaps
  // Search range of the cells, distance. MapKernel::DIRECT has a single cell, which the search
  // always finds.
  double range;
  double parts;    // 2^32 over a turn, 1/distance

  __device__ unsigned parts_at(int axis, double x) const
  {
    return static_cast<unsigned>(__double2ll_rn((x - cells.lo[axis]) * parts));
  }
};

// A warp takes a tile of points. A tile consists of subtiles along x with two points of each row.
// The four tiles of a block are adjacent along y and z.
constexpr int TILE_Y = 4, TILE_Z = 4, MAX_SUBTILES = 6;
constexpr int BLOCK_Y = 2 * TILE_Y, BLOCK_Z = 2 * TILE_Z, MAP_WARPS = 4;
static_assert(MAP_TILE_OF_GPU[0] == 2 && MAP_TILE_OF_GPU[1] == TILE_Y &&
                  MAP_TILE_OF_GPU[2] == TILE_Z,
              "a subtile");
static_assert(2 * TILE_Y * TILE_Z == 32, "one point for each lane");

// Search for rows of cells near a box, in float with a margin for rounding errors. The length unit
// is that of the charges.
struct RowSearch {
  float half[3];    // half edges of the box
  float range;
  float size[2];               // size of a column along y and z
  double columns[2];           // half + range, in columns
  float cells_per_distance;    // cells per length along x
};

// The length unit in kernels is 'length': the cutoff, or the extent of the points for
// MapKernel::DIRECT.
template <class Real> struct MapArguments {
  MapConstants<Real> constants;    // in units of length
  // Charges whose squared distance from the points exceeds this are skipped. At least the squared
  // cutoff.
  Real reach_sq;
  double length, inverse_length;
  Real unit;    // inverse_length
  SortedCharges charges;
  RowSearch rows;                // search near the box around a tile, or near a point
  unsigned long long *tested;    // number of computed distances; kernels add to it
};

// Boxes around points, relative to the middle of a tile.
template <class Real> struct TileShape {
  // Charges farther from the middle do not coincide with any point, including rounding errors.
  Real inside[3];
  Real per_subtile;    // 1 over the distance between subtiles along x
  // A charge at x with reach r is near the subtiles from the integer nearest to (x - r) per_subtile
  // + first_near up to the integer nearest to (x + r) per_subtile + last_near.
  Real first_near, last_near;
  Real step;    // distance between points along x
};

template <class Real> struct MapGridArguments {
  MapArguments<Real> map;
  MapGrid grid;
  TileShape<Real> tile;
  Real per_part;                // length of 2^-32 of a turn, in units of length
  int blocks[2];                // number of blocks along x and y
  int first_block;              // first block of the launch, x fastest
  const unsigned char *zero;    // [points] nonzero: the result is 0; null: no such point
  bool add;                     // add to the existing values
  double *phi, *field;
};

template <class Real> struct MapPointsArguments {
  MapArguments<Real> map;
  // [n] in the order of cells. id: the row of the charge that the point excludes, or -1
  const DeviceAtom *point;
  const int *caller_index;    // [n] index of the result
  const int *sorted_index;    // [charges] index among the sorted charges
  int n;
  double *phi, *field;
};

// Each launcher enqueues one kernel. The number of blocks or points must be more than 0. Throws
// DeviceError.
template <class Real> struct MapLaunchers {
  // [soft][with field].
  void (*grid[2][2])(const MapGridArguments<Real> &, int blocks, cudaStream_t);
  int subtiles[2][2];    // [soft][with field] subtiles per tile
  void (*points[2][2])(const MapPointsArguments<Real> &, cudaStream_t);
};

// Kernel: a class in map_kernel.
template <class Kernel> void get_map_launchers(MapLaunchers<float> &);
template <class Kernel> void get_map_launchers(MapLaunchers<double> &);

}    // namespace gpucoord

#endif
