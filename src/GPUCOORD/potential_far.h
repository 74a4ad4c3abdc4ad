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

// The far field of compute potential/grid. Every rank has the mesh points in its part of the box, among them its points of the grid,
// and spreads to them all charges that are near, ghost atoms being the periodic images: nothing is sent but by LAMMPS' Fourier
// transforms. Where one rank has all points and a GPU, that does all of it.

class PotentialFar : protected Pointers {
 public:
  // error: root mean square of the potential, charge/distance. Throws std::runtime_error where there are no transforms.
  PotentialFar(LAMMPS *, const DeviceChoice &, double cutoff, double error, const int n[3],
               bool at_corners);
  ~PotentialFar() override;

  // Collective. For the box and these charges: of the squares of all, and their sum. Whether alpha or the mesh are others
  // than before. Throws std::invalid_argument, on all ranks.
  bool prepare(double sum_q_sq, double sum_q);
  // Points of this rank, hi included, have changed, and its part of the box, as fractions of the edges. Collective.
  void set_points(const int *lo, const int *hi, const double *from, const double *to);

  double alpha() const { return the_alpha; }
  const gpucoord::FarMesh &mesh() const { return the_mesh; }
  double
  bytes(bool with_field) const;    // of the host that this rank needs; 0 before there is a mesh
  // Then the two functions below throw gpucoord::DeviceError.
  bool is_on_gpu() const { return on_gpu; }

  // Collective. Of these charges at this rank's points. with_field: the same on all ranks
  void on_grid(const gpucoord::MapCharges &, double *phi, bool with_field, double *field);
  // Collective. What this rank's points add at n places, after on_grid() or alone: their sum over ranks is the potential.
  void at_places(const gpucoord::MapCharges &, const double *x, int n, double *phi);
  // The same everywhere: of the background that makes charges neutral, with the near field.
  double background() const;
  // What a charge of 1 adds in its own place.
  double of_itself() const;

 private:
  gpucoord::FarBox box_now() const;
  int fold(int axis) const
  {
    return the_mesh.n[axis] / points[axis];
  }    // mesh points for a point of the grid
  int place_in_fold(int axis) const;
  int first_beyond(int axis, double fraction, int point) const;
  gpucoord::MeshBrick brick() const;
  double reach() const;
  void choose(const gpucoord::FarBox &, double sum_q_sq);
  gpucoord::MeshBrick spread(const gpucoord::MapCharges &);    // and transforms; returns brick()
  template <class Use> void by_gpu(const Use &);

  const bool on_gpu;
  const int device;
  const double cutoff, error_wanted;
  int points[3];
  const bool at_corners;
  int lo[3], hi[3];         // of this rank, in points of the grid
  double from[3], to[3];    // its part of the box

  double the_alpha = 0.0, charge = 0.0;
  double chosen_sum_q_sq = 0.0;
  gpucoord::FarBox chosen_box;    // for which alpha and mesh were chosen
  gpucoord::FarMesh the_mesh = {};

  class Transform;
  std::unique_ptr<Transform> transform;
  std::unique_ptr<gpucoord::FarField> of_gpu;
  std::vector<double> values;    // of the mesh points of this rank
};

}    // namespace LAMMPS_NS

#endif
