// Part of GPUCOORD, GPL-2.0. The far field of Ewald's method on a mesh (U. Essmann et al., J. Chem.
// Phys. 103, 8577 (1995)). The far field plus the map of MapKernel::EWALD with the same alpha is
// the potential of all periodic images, with mean 0 over the box. The host functions leave the
// Fourier transforms to the caller. FarField includes them, on a GPU.
//
// Charges are spread over mesh points by cardinal B-splines. The transform of the density times
// FarFactors::at() is the transform of the potential at the mesh points. Points of a map are mesh
// points, so that the map needs no interpolation. For other points, multiply the transform by
// FarFactors::spline() as well and use interpolate_mesh().

#ifndef GPUCOORD_MAP_FAR_H
#define GPUCOORD_MAP_FAR_H

#include "gpucoord/export.h"
#include "gpucoord/potential_map.h"

#include <memory>
#include <vector>

namespace gpucoord {

// Order of the splines: a charge is spread over this many mesh points per axis.
constexpr int FAR_ORDER = 8;

// A periodic box with edges a along x, b in the xy plane, and c.
struct GPUCOORD_API FarBox {
  double origin[3] = {};     // position of mesh point 0,0,0, distance
  double edge[3][3] = {};    // a, b, c, distance
  // Returns the volume, distance^3.
  double volume() const { return edge[0][0] * edge[1][1] * edge[2][2]; }
  // Sets row k to the vector whose dot product with edge k is 1, and with the other edges 0,
  // 1/distance.
  void reciprocal(double (&vectors)[3][3]) const;
  double height(int axis) const;    // distance between the two faces of the axis
};

// Returns alpha, 1/distance, for a given error of the near field. error: root mean square of the
// potential of the neglected charges beyond the cutoff (distance), charge/distance, for charges at
// random positions (J. Kolafa and J. Perram, Mol. Simul. 9, 351 (1992)). sum_q_sq: sum of the
// squares of all charges in the box, charge^2. volume: distance^3. Throws std::invalid_argument if
// no alpha in double precision reaches this error.
GPUCOORD_API double near_alpha(double cutoff, double sum_q_sq, double volume, double error);

// Returns the volume times the constant that makes the mean of the near field of a unit charge
// zero, distance^2. It is minus the integral of erfc(alpha r)/r over a ball with the radius of the
// cutoff.
GPUCOORD_API double near_background(double cutoff, double alpha);

// Returns the root mean square error (charge/distance) of the potential on a mesh of n points, for
// charges at random positions. The cost does not grow with the mesh beyond 64 points per edge.
GPUCOORD_API double far_error(const FarBox &, const int n[3], double alpha, double sum_q_sq);

// Chooses a mesh whose error is at most 'error' (charge/distance) and that is hardly finer than
// necessary. The number of points along each axis is a multiple of multiples_of. The height of mesh
// cells is at most 'widest' (distance). Throws std::invalid_argument if the mesh needs more than
// max_points points.
struct FarMesh {
  int n[3];
  double error;
};
GPUCOORD_API FarMesh choose_far_mesh(const FarBox &, const int multiples_of[3], double alpha,
                                     double sum_q_sq, double error, double widest, int max_points);

// The part of a mesh that has the points lo to lo + n - 1 along each axis.
struct MeshBrick {
  FarBox box;
  int mesh[3] = {};    // points of the whole mesh
  int lo[3] = {}, n[3] = {};
};

// Sets density, [nz][ny][nx] (charge), to the charges spread over the points of the brick. Periodic
// images must be separate charges. Results are bitwise independent of nthreads.
GPUCOORD_API void spread_charges(const MeshBrick &, const MapCharges &, int nthreads,
                                 double *density);

// Sets at, [n] (charge/distance), to the contribution of the brick's points to the potential at n
// positions x, [n][3] (distance). potential: [nz][ny][nx] potential at the brick's points. The sum
// over all bricks is the whole potential.
GPUCOORD_API void interpolate_mesh(const MeshBrick &, const double *potential, const double *x,
                                   int n, int nthreads, double *at);

// Factors of the transform of a density at the wave vectors 2 pi (m_a/a + m_b/b + m_c/c), -mesh/2
// <= m < mesh/2.
class GPUCOORD_API FarFactors {
 public:
  FarFactors(const FarBox &, const int mesh[3], double alpha);
  // Returns the factor of the potential at mesh points, 1/distance; 0 for wave vector 0. index:
  // index of the transform along each axis, 0 to mesh - 1. Sets wave to the wave vector,
  // 1/distance. Its components along axes with m = -mesh/2 are set to 0. The factors of index and
  // of mesh - index are equal.
  double at(const int (&index)[3], double (&wave)[3]) const;
  // Returns an additional factor, for a potential that is interpolated.
  double spline(const int index[3]) const;
  // Returns the factors of one axis, [mesh]. spline() is their product over the axes.
  const std::vector<double> &splines_of_axis(int axis) const { return correction[axis]; }

 private:
  double edges[3][3];    // reciprocal vectors, 1/distance
  int n[3];
  double alpha, volume;
  std::vector<double> correction[3];    // [axis][mesh] factors of the splines
};

// A mesh over a whole box.
struct EwaldMesh {
  FarBox box;
  int n[3] = {};         // mesh points
  double alpha = 0.0;    // 1/distance
};

// The far field with its Fourier transforms, on a mesh that one process holds as a whole. Charges
// and positions are given as in spread_charges() and interpolate_mesh(). nthreads: OpenMP threads
// that copy data. Not thread-safe. Results are bitwise reproducible. Functions throw DeviceError.
class GPUCOORD_API FarField {
 public:
  virtual ~FarField() = default;
  // Computes the potential and field at every fold-th mesh point along each axis, starting at
  // 'first'. Sets phi, [nz/fold][ny/fold][nx/fold] (charge/distance), and field,
  // [nz/fold][ny/fold][nx/fold][3] (charge/distance^2).
  virtual void on_grid(const EwaldMesh &, const int fold[3], const int first[3], const MapCharges &,
                       int nthreads, const MapResults &) = 0;
  // Sets at, [n] (charge/distance), to the potential at n positions x, [n][3] (distance).
  virtual void at_positions(const EwaldMesh &, const MapCharges &, const double *x, int n,
                            int nthreads, double *at) = 0;
  // Returns the allocated memory, on the host and on the GPU.
  virtual std::size_t bytes() const = 0;
};

// Makes a far field on a GPU with cuFFT. device: -1 selects the current GPU. Throws DeviceError.
GPUCOORD_API std::unique_ptr<FarField> make_cuda_far_field(int device);
// Returns false if this build has no cuFFT. make_cuda_far_field() then throws DeviceError.
GPUCOORD_API bool has_cuda_far_field();

}    // namespace gpucoord

#endif
