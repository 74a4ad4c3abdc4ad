// Part of GPUCOORD, GPL-2.0. The far field of Ewald's method on a mesh (U. Essmann et al., J. Chem. Phys. 103, 8577 (1995)): with
// the map of MapKernel::EWALD of the same alpha it is the potential of all periodic images, whose mean over the box is 0. On the
// host all but the Fourier transforms; on a GPU with them.
//
// Charges are spread over mesh points by cardinal B-splines. Its transform times far_factor() is the transform of the
// potential at these points, where nothing has to be interpolated: points of a map are points of the mesh.
// At other points interpolate_mesh() gives it, once more times the same spline's factor.

#ifndef GPUCOORD_MAP_FAR_H
#define GPUCOORD_MAP_FAR_H

#include "gpucoord/export.h"
#include "gpucoord/potential_map.h"

#include <memory>
#include <vector>

namespace gpucoord {

constexpr int FAR_ORDER =
    8;    // of the splines: mesh points along each axis to which a charge is spread

// A periodic box: edges a along x, b in the xy plane, c.
struct GPUCOORD_API FarBox {
  double origin[3] = {};     // of mesh point 0,0,0, distance
  double edge[3][3] = {};    // a, b, c, distance
  double volume() const { return edge[0][0] * edge[1][1] * edge[2][2]; }
  // Of axis k the vector whose product with edge k is 1 and with the others 0, 1/distance.
  void reciprocal(double (&of_axis)[3][3]) const;
  double height(int axis) const;    // distance between its two faces
};

// alpha for which charges beyond the cutoff add a potential of this root mean square, as if they were spread at random
// (J. Kolafa and J. Perram, Mol. Simul. 9, 351 (1992)). sum_q_sq: of the squares of all charges in the box. Throws
// std::invalid_argument where there is none.
GPUCOORD_API double near_alpha(double cutoff, double sum_q_sq, double volume, double error);

// What makes the mean of the near field of a charge of 1 zero, times the volume, distance^2: minus the integral of
// erfc(alpha r)/r over the ball of the cutoff.
GPUCOORD_API double near_background(double cutoff, double alpha);

// Root mean square of what a mesh of n points adds to the potential by mistake, of charges at random places. Takes no longer
// for meshes of more than 64 points along each edge.
GPUCOORD_API double far_error(const FarBox &, const int n[3], double alpha, double sum_q_sq);

// A mesh of multiples of these numbers of points with an error no larger, and hardly finer than it must be, but of cells no
// higher than 'widest'. Throws std::invalid_argument where it would have more points than 'most'.
struct FarMesh {
  int n[3];
  double error;
};
GPUCOORD_API FarMesh choose_far_mesh(const FarBox &, const int multiples_of[3], double alpha,
                                     double sum_q_sq, double error, double widest, int most);

// Points lo to lo + n - 1 of a mesh.
struct MeshBrick {
  FarBox box;
  int mesh[3] = {};    // points of the whole
  int lo[3] = {}, n[3] = {};
};

// Charges that are spread to points of the brick, periodic images being charges of their own. density [nz][ny][nx] is set. The
// bits do not depend on the number of threads.
GPUCOORD_API void spread_charges(const MeshBrick &, const MapCharges &, int nthreads,
                                 double *density);

// What points of the brick add to the potential at n places x [n][3]; sums over all bricks are the potential.
GPUCOORD_API void interpolate_mesh(const MeshBrick &, const double *potential, const double *x,
                                   int n, int nthreads, double *at);

// Factors of the transform of a density at wave vectors 2 pi (m_a/a + m_b/b + m_c/c), -mesh/2 <= m < mesh/2.
class GPUCOORD_API FarFactors {
 public:
  FarFactors(const FarBox &, const int mesh[3], double alpha);
  // index: of a transform, 0 to mesh - 1, along each axis. wave: the wave vector, 1/distance, of which components along axes
  // where m = -mesh/2 are 0. Returns the factor for potentials at mesh points: 0 for wave vector 0. That of an index and of
  // mesh - index are the same.
  double at(const int (&index)[3], double (&wave)[3]) const;
  double spline(const int index[3]) const;    // once more this where the potential is interpolated
  const std::vector<double> &splines_of_axis(int axis) const
  {
    return correction[axis];
  }    // [mesh], of which that is the product

 private:
  double edges[3][3];    // reciprocal
  int n[3];
  double alpha, volume;
  std::vector<double> correction[3];    // of the splines
};

// A mesh over a whole box.
struct EwaldMesh {
  FarBox box;
  int n[3] = {};         // mesh points
  double alpha = 0.0;    // 1/distance
};

// All of this with its Fourier transforms, of a mesh that one process has as a whole. Charges and places are those of
// spread_charges() and interpolate_mesh(); threads copy. Not thread-safe. Repeated calls have the same bits.
class GPUCOORD_API FarField {
 public:
  virtual ~FarField() = default;
  // at every fold-th mesh point from a first one on along each axis, [nz/fold][ny/fold][nx/fold]
  virtual void on_grid(const EwaldMesh &, const int fold[3], const int first[3], const MapCharges &,
                       int nthreads, const MapResults &) = 0;
  // at n places x [n][3]
  virtual void at_places(const EwaldMesh &, const MapCharges &, const double *x, int n,
                         int nthreads, double *at) = 0;
};

// On a GPU by cuFFT, -1: the current one. Throws, also from its functions, DeviceError.
GPUCOORD_API std::unique_ptr<FarField> make_cuda_far_field(int device);
GPUCOORD_API bool has_cuda_far_field();    // false: built without cuFFT, and the above throws

}    // namespace gpucoord

#endif
