// Part of GPUCOORD, GPL-2.0. The electrostatic potential of point charges on a grid and at points, by a sum over the charges
// within a cutoff.
//
// A point sums all charges near it (gather): nothing has to be sent back to other ranks. Periodic images are charges of their
// own. All numbers are in the caller's units; a potential is charge/distance here and a field charge/distance^2, without the
// constant of Coulomb's law.

#ifndef GPUCOORD_POTENTIAL_MAP_H
#define GPUCOORD_POTENTIAL_MAP_H

#include "gpucoord/export.h"
#include "gpucoord/types.h"

#include <memory>

namespace gpucoord {

// What a charge q at distance r <= cutoff adds is q times, with s = (r/cutoff)^2:
enum class MapKernel {
  CUT,       // 1/r
  SMOOTH,    // (1/r)(1 - s)^2, which goes to 0 with its slope (CHARMM's shift)
  TAYLOR,    // 1/r - (15/8 - 5/4 s + 3/8 s^2)/cutoff, the short range of MSM at order 2: 1/r less an even function of r
  EWALD,     // erfc(alpha r)/r
  DIRECT     // 1/r at any distance; there is no cutoff
};

// What happens to charges so near to a point that 1/r says nothing.
enum class MapOverlap {
  SKIP,    // only charges on the point, nearer than 'tiny', are left out of its sum
  ZERO,    // as SKIP; and a grid point that any charge, be it of 0, is nearer to than 'radius' has potential and field 0
  SOFT    // nearer than 'radius' 1/r is (3 - (r/radius)^2)/(2 radius), the potential in a ball of evenly spread charge: with a
          // continuous slope, and finite at r = 0; no charge is left out
};

struct MapOptions {
  MapKernel kernel = MapKernel::SMOOTH;
  double cutoff = 0.0;    // distance; not of DIRECT
  double alpha = 0.0;     // 1/distance, of EWALD
  MapOverlap overlap = MapOverlap::SKIP;
  double radius = 0.0;    // distance, of ZERO and SOFT; at most the cutoff
  // Distance that is none. Where float is used it must be some 1e-6 of the cutoff and of the size of twelve steps of the grid
  // or more, as differences of positions are rounded.
  double tiny = 0.0;
};

// How charges are found that are near to points of a grid.
struct MapBins {
  bool are_fixed =
      false;    // cubes with room for so many charges each, in place of charges that are sorted
  double size = 0.0;       // of such a cube, distance
  int depth = 0;           // charges
  bool on_host = false;    // what finds no room: host threads take it while a GPU takes the rest
};

struct MapOverflow {
  double charges = 0.0, overflowing = 0.0;    // in bins, and of these the ones that find no room
  int deepest = 0;                            // charges in the fullest bin
  int better_depth = 0;                       // of which 1 % overflow at most
};

// Throws std::invalid_argument where a number that the kernel or the overlap needs is not positive and finite.
GPUCOORD_API void check_map_options(const MapOptions &);
// Fixed bins are for kernels with a cutoff, and not for MapOverlap::ZERO, which has to know all charges at once. Throws
// std::invalid_argument.
GPUCOORD_API void check_map_bins(const MapBins &, const MapOptions &);

// Points origin + i a + j b + k c, i < n[0] and so on.
struct MapGrid {
  double origin[3] = {};    // of the point 0,0,0, distance
  double step[3][3] =
      {};           // a, b, c, distance; a is along x, b in the xy plane (restricted triclinic)
  int n[3] = {};    // any of them may be 0
};

struct MapCharges {
  const double *x = nullptr;    // [n][3] distance
  const double *q = nullptr;    // [n] charge
  int n = 0;
};

struct MapPoints {
  const double *x = nullptr;    // [n][3] distance
  const int *self =
      nullptr;    // [n] the charge that the point leaves out, -1: none; null: none of them does
  int n = 0;
};

// Potential, and field E = -grad phi where that is not null; all values are set.
struct MapResults {
  double *phi = nullptr;      // [nz][ny][nx] or [n], charge/distance
  double *field = nullptr;    // [nz][ny][nx][3] or [n][3], charge/distance^2
};

// The potential of the charges of one rank at its points. Not thread-safe; it threads by itself. Positions must be finite;
// nothing is checked here. on_grid() throws std::invalid_argument where fixed bins have too many places.
class GPUCOORD_API PotentialMap {
 public:
  virtual ~PotentialMap() = default;
  virtual void on_grid(const MapGrid &, const MapCharges &, const MapResults &) = 0;
  virtual void at_points(const MapPoints &, const MapCharges &, const MapResults &) = 0;
  // Distances of a point and a charge computed by the last call, for the bench.
  virtual double tested() const = 0;
  // of the last map on a grid by fixed bins
  virtual MapOverflow overflow() const { return {}; }
};

// Pair terms are float in MIXED and in SINGLE, of positions relative to a local origin; MIXED adds up chunks of some hundred
// terms in double. The bits do not depend on the number of threads. Throws std::invalid_argument.
GPUCOORD_API std::unique_ptr<PotentialMap>
make_host_potential_map(const MapOptions &, Precision, int nthreads, const MapBins & = {});

constexpr int MAP_TILE_OF_GPU[3] = {2, 4,
                                    4};    // points along each axis that a GPU takes at a time

// The same on a GPU, -1: the current one; threads copy. SINGLE is computed as MIXED: sums in double cost nothing there. Throws
// std::invalid_argument and, also from its functions, DeviceError.
GPUCOORD_API std::unique_ptr<PotentialMap> make_cuda_potential_map(const MapOptions &, Precision,
                                                                   int device, int nthreads,
                                                                   const MapBins & = {});

// Plain loops over all pairs in double, to check backends against.
GPUCOORD_API void reference_map_on_grid(const MapOptions &, const MapGrid &, const MapCharges &,
                                        const MapResults &);
GPUCOORD_API void reference_map_at_points(const MapOptions &, const MapPoints &, const MapCharges &,
                                          const MapResults &);

}    // namespace gpucoord

#endif
