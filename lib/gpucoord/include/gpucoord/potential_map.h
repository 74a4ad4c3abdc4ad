// Part of GPUCOORD, GPL-2.0. The electrostatic potential of point charges on a grid and at points:
// a sum over the charges within a cutoff.
//
// Each point sums over all charges near it (gather), so that results need no reverse communication.
// Periodic images must be given as separate charges. All numbers are in the caller's units.
// Potentials are in charge/distance and fields in charge/distance^2, without the Coulomb constant.

#ifndef GPUCOORD_POTENTIAL_MAP_H
#define GPUCOORD_POTENTIAL_MAP_H

#include "gpucoord/export.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <memory>

namespace gpucoord {

// The contribution of a charge q at distance r <= cutoff is q times the kernel, with s =
// (r/cutoff)^2:
enum class MapKernel {
  CUT,       // 1/r
  SMOOTH,    // (1/r)(1 - s)^2; value and derivative go to 0 at the cutoff (CHARMM's shift)
  // 1/r - (15/8 - 5/4 s + 3/8 s^2)/cutoff, the short-range kernel of MSM at order 2: 1/r minus an
  // even function of r.
  TAYLOR,
  EWALD,    // erfc(alpha r)/r
  DIRECT    // 1/r at any distance, without a cutoff
};

// Treatment of charges that are too near to a point for a meaningful 1/r.
enum class MapOverlap {
  SKIP,    // skip charges nearer than 'tiny'
  // Like SKIP. In addition, potential and field are 0 at a grid point with a charge (even a zero
  // charge) nearer than 'radius'.
  ZERO,
  // Nearer than 'radius', 1/r is replaced by (3 - (r/radius)^2)/(2 radius), the potential in a
  // uniformly charged ball. It is finite at r = 0, and its derivative is continuous. No charge is
  // skipped.
  SOFT
};

struct MapOptions {
  MapKernel kernel = MapKernel::SMOOTH;
  double cutoff = 0.0;    // distance; not used by DIRECT
  double alpha = 0.0;     // 1/distance; only for EWALD
  MapOverlap overlap = MapOverlap::SKIP;
  double radius = 0.0;    // distance, for ZERO and SOFT; at most the cutoff
  // Charges closer than this (distance) are treated as coincident with the point. In float,
  // differences of positions are rounded, so that tiny must be at least about 1e-6 of the cutoff
  // and of the size of twelve steps of the grid.
  double tiny = 0.0;
};

// Method of searching for the charges near the points of a grid.
struct MapBins {
  // Use cubic bins with room for 'depth' charges each, instead of sorted charges.
  bool are_fixed = false;
  double size = 0.0;       // edge of a cube, distance
  int depth = 0;           // charges per cube
  bool on_host = false;    // the host sums the overflowing charges while a GPU sums the others
};

struct MapOverflow {
  double charges = 0.0, overflowing = 0.0;    // charges in bins; charges that do not fit
  int deepest = 0;                            // number of charges in the fullest bin
  int better_depth = 0;                       // depth at which at most 1 % of the charges overflow
};

// Throws std::invalid_argument if a number that the kernel or the overlap uses is not positive and
// finite.
GPUCOORD_API void check_map_options(const MapOptions &);
// Throws std::invalid_argument if fixed bins are not supported. They need a kernel with a cutoff,
// and do not support MapOverlap::ZERO, which must know all charges at once.
GPUCOORD_API void check_map_bins(const MapBins &, const MapOptions &);

// Grid of points origin + i a + j b + k c, i < n[0], j < n[1], k < n[2].
struct MapGrid {
  double origin[3] = {};    // position of point 0,0,0, distance
  // Vectors a, b, c, distance. a is along x, b in the xy plane (restricted triclinic).
  double step[3][3] = {};
  int n[3] = {};    // may be 0
};

struct MapCharges {
  const double *x = nullptr;    // [n][3] distance
  const double *q = nullptr;    // [n] charge
  int n = 0;
};

struct MapPoints {
  const double *x = nullptr;    // [n][3] distance
  // [n] index of the charge that the point excludes; -1: no charge; null: no charge for all points.
  const int *self = nullptr;
  int n = 0;
};

// Potential phi, and field E = -grad phi unless field is null. All elements are overwritten.
struct MapResults {
  double *phi = nullptr;      // [nz][ny][nx] or [n], charge/distance
  double *field = nullptr;    // [nz][ny][nx][3] or [n][3], charge/distance^2
};

// The potential of the charges of one rank at its points. Not thread-safe. Uses OpenMP internally.
// Positions must be finite; the functions do not check this. on_grid() throws std::invalid_argument
// if fixed bins have room for too many charges. The CUDA backend throws DeviceError.
class GPUCOORD_API PotentialMap {
 public:
  virtual ~PotentialMap() = default;
  virtual void on_grid(const MapGrid &, const MapCharges &, const MapResults &) = 0;
  virtual void at_points(const MapPoints &, const MapCharges &, const MapResults &) = 0;
  // Returns the number of distances between points and charges computed by the last call, for
  // benchmarks.
  virtual double tested() const = 0;
  // Returns the overflow of the last map on a grid with fixed bins.
  virtual MapOverflow overflow() const { return {}; }
  // Returns the allocated memory, on the host and on the GPU.
  virtual std::size_t bytes() const = 0;
};

// Makes the backend that runs on the host. In MIXED and SINGLE, pair terms are float, with
// positions relative to a local origin. MIXED adds chunks of some hundred terms in double. Results
// are bitwise independent of nthreads. Throws std::invalid_argument.
GPUCOORD_API std::unique_ptr<PotentialMap>
make_host_potential_map(const MapOptions &, Precision, int nthreads, const MapBins & = {});

// Number of points along each axis that a GPU processes together.
constexpr int MAP_TILE_OF_GPU[3] = {2, 4, 4};

// Makes the backend that runs on a GPU. device: -1 selects the current GPU. nthreads: OpenMP
// threads that copy data. SINGLE is computed as MIXED, because sums in double cost nothing on a
// GPU. Throws std::invalid_argument. This function and the backend throw DeviceError.
GPUCOORD_API std::unique_ptr<PotentialMap> make_cuda_potential_map(const MapOptions &, Precision,
                                                                   int device, int nthreads,
                                                                   const MapBins & = {});

// Compute the map by plain loops over all pairs in double, as a reference for testing the backends.
GPUCOORD_API void reference_map_on_grid(const MapOptions &, const MapGrid &, const MapCharges &,
                                        const MapResults &);
GPUCOORD_API void reference_map_at_points(const MapOptions &, const MapPoints &, const MapCharges &,
                                          const MapResults &);

}    // namespace gpucoord

#endif
