/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/volume,ComputeCoordVolume);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_VOLUME_H
#define LMP_COMPUTE_COORD_VOLUME_H

#include "coord_variable.h"

namespace LAMMPS_NS {

// The volume of the box, or its area in 2d. It has no gradients.

class ComputeCoordVolume : public CoordVariable {
 public:
  ComputeCoordVolume(class LAMMPS *, int, char **);
  void init() override;

  std::string dynamic_group() const override { return ""; }
  int groups() const override { return 0; }
  void start(bool /*is_for_forces*/) override { state = State::STARTED; }
  int nsums(unsigned /*want*/) const override { return 0; }
  void get_local_sums(double * /*local_sums*/) override {}
  void finish(const double *sums) override;
  void add_forces(const gpucoord::ItemFactors &) override {}
  void add_virial(const gpucoord::ItemFactors &, double *virial) const override;
  void add_atom_virial(const gpucoord::ItemFactors &, double **vatom) const override;
  void add_gradients(const gpucoord::ItemFactors &, double ** /*array*/,
                     int /*first_column*/) const override
  {
  }
  double bytes_copied() const override { return lmp->kokkos ? 0.0 : -1.0; }
};

}    // namespace LAMMPS_NS

#endif
#endif
