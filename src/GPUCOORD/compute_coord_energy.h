/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/energy,ComputeCoordEnergy);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_ENERGY_H
#define LMP_COMPUTE_COORD_ENERGY_H

#include "coord_variable.h"

#include <memory>
#include <vector>

namespace LAMMPS_NS {

// The potential energy without that of fixes. Its gradients are the forces of the force field with
// the opposite sign, which are known before a fix adds other forces.

class ComputeCoordEnergy : public CoordVariable, public ScaledForces {
 public:
  ComputeCoordEnergy(class LAMMPS *, int, char **);
  void init() override;
  double memory_usage() override;

  std::string dynamic_group() const override { return ""; }
  int groups() const override;
  void announce_next(bigint next) override { addstep(next); }
  void take_forces() override;
  void start(bool /*is_for_forces*/) override { state = State::STARTED; }
  int nsums(unsigned /*want*/) const override { return 0; }
  void get_local_sums(double * /*local_sums*/) override {}
  void finish(const double *sums) override;
  void add_forces(const gpucoord::ItemFactors &) override;
  void add_virial(const gpucoord::ItemFactors &, double *virial) const override;
  void add_atom_virial(const gpucoord::ItemFactors &, double **vatom) const override;
  void add_gradients(const gpucoord::ItemFactors &, double **array,
                     int first_column) const override;

 protected:
  // KOKKOS changes these functions.

  virtual void forces_to_host();
  // Called when the derivatives of this timestep are needed on the host.
  virtual void taken_to_host() {}

  std::vector<double> forces;    // [nlocal][3] of the force field
  bigint step_of_forces;         // timestep of these forces

 private:
  std::unique_ptr<Compute> part(const std::string &style, const std::string &arguments) const;
  void need_forces();

  // Computes of LAMMPS that only this compute knows.
  std::unique_ptr<Compute> energy, pressure, stress;
  double virial[6];    // W
};

}    // namespace LAMMPS_NS

#endif
#endif
