/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_POTENTIAL_FAR_H
#define LMP_POTENTIAL_FAR_H

#include "pointers.h"

#include "gpucoord/map_far.h"

#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class DeviceChoice;

// Far field of compute potential/grid. Every rank has the mesh points in its part of the box, which
// include its grid points. It spreads all charges near this part; ghost atoms serve as periodic
// images. Only LAMMPS' Fourier transforms communicate. If one rank has all points and a GPU, the
// GPU computes the far field.

class PotentialFar : protected Pointers {
 public:
  // error: root mean square of the potential, charge/distance. Throws std::runtime_error if LAMMPS
  // has no Fourier transforms.
  PotentialFar(LAMMPS *, const DeviceChoice &, double cutoff, double error, const int n[3],
               bool at_corners);
  ~PotentialFar() override;

  // Collective. Prepares for the current box and these charges. sum_q_sq, sum_q: sum of their
  // squares and their sum. Returns whether alpha or the mesh has changed. Throws
  // std::invalid_argument on all ranks.
  bool prepare(double sum_q_sq, double sum_q);
  // Collective. Sets new points of this rank, including hi, and its part of the box, as fractions
  // of the edges.
  void set_points(const int *lo, const int *hi, const double *from, const double *to);

  double alpha() const { return the_alpha; }
  const gpucoord::FarMesh &mesh() const { return the_mesh; }
  double bytes(bool with_field) const;    // on the host for this rank; 0 before a mesh is chosen
  double memory_usage(bool with_field) const;    // on the host or on the GPU
  // If true, on_grid() and at_positions() throw gpucoord::DeviceError.
  bool is_on_gpu() const { return on_gpu; }

  // Collective. Computes the far field of these charges at this rank's points. with_field: the same
  // on all ranks.
  void on_grid(const gpucoord::MapCharges &, double *phi, bool with_field, double *field);
  // Collective. Computes the contributions of this rank's points at n positions, after on_grid() or
  // without it. The potential is their sum over ranks.
  void at_positions(const gpucoord::MapCharges &, const double *x, int n, double *phi);
  // Returns the potential of the background that neutralizes the charges, including that of the
  // near field. It is constant in space.
  double background() const;
  // Returns the potential of a unit charge at its own position.
  double self_potential() const;

 private:
  gpucoord::FarBox box_now() const;
  int fold(int axis) const
  {
    return the_mesh.n[axis] / points[axis];
  }    // mesh points per grid point
  int offset_in_fold(int axis) const;
  int first_beyond(int axis, double fraction, int point) const;
  gpucoord::MeshBrick brick() const;
  double reach() const;
  void choose(const gpucoord::FarBox &, double sum_q_sq);
  gpucoord::MeshBrick spread(const gpucoord::MapCharges &);    // also transforms; returns brick()
  template <class Use> void by_gpu(const Use &);

  const bool on_gpu;
  const int device;
  const double cutoff, error_wanted;
  int points[3];
  const bool at_corners;
  int lo[3], hi[3];         // bounds of this rank's grid points
  double from[3], to[3];    // this rank's part of the box

  double the_alpha = 0.0, charge = 0.0;
  double chosen_sum_q_sq = 0.0;
  gpucoord::FarBox chosen_box;    // box for which alpha and mesh were chosen
  gpucoord::FarMesh the_mesh = {};

  class Transform;
  std::unique_ptr<Transform> transform;
  std::unique_ptr<gpucoord::FarField> gpu_field;
  std::vector<double> values;    // at the mesh points of this rank
};

}    // namespace LAMMPS_NS

#endif
