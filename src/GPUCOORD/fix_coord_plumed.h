/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef FIX_CLASS
// clang-format off
FixStyle(coord/plumed,FixCoordPlumed);
// clang-format on
#else

#ifndef LMP_FIX_COORD_PLUMED_H
#define LMP_FIX_COORD_PLUMED_H

#include "fix_coord_bias.h"

#include "bias_plumed.h"
#include "bias_plumed_atoms.h"

#include <functional>

namespace LAMMPS_NS {

// PLUMED biases of collective variables, and of the atoms that PLUMED requests. Only the values of
// variables and these atoms are sent to rank 0, where PLUMED runs.

class FixCoordPlumed : public FixCoordBias {
 public:
  FixCoordPlumed(class LAMMPS *, int, char **);
  void init() override;
  void min_setup(int) override;
  void pre_force(int) override;
  void post_run() override;
  void reset_dt() override;
  double memory_usage() override;
  int groups() const override;
  void add_forces_to(double **force) override;
  void restart(char *) override;

  BiasNeeds begin_evaluation(int vflag, Phase) override;
  double bytes_copied() const override { return atoms->bytes_copied(); }

 protected:
  std::unique_ptr<PlumedAtoms> atoms;

 private:
  void apply(int vflag, Phase, int level = BiasBoard::ALL_LEVELS) override;
  void check_timestep() const;
  void find_largest_id();
  void allocate(const std::function<void()> &work) const;
  void prepare_plumed();
  bool requests_all() const;
  [[noreturn]] static void fail_for_missing(int atom_id);
  void check_missing_atoms() const;
  void set_atoms_of_plumed(const std::vector<double> &results);
  PlumedBias::Matrix current_box() const;
  void evaluate_plumed(Phase, const std::vector<double> &s, bool is_same);
  void use_known_forces(const std::vector<double> &s);
  bool is_same_configuration(const std::vector<double> &s);
  bool acts_on_atoms() const;
  void add_forces_on_atoms();

  double dt;        // timestep size known to PLUMED
  bool is_first;    // PLUMED has not requested all atoms yet
  bool is_new;      // PLUMED has not been called in this process yet
  bool warned_of_all;
  PlumedBias *plumed;            // owned by FixCoordBias
  bool may_be_known;             // PLUMED may have evaluated this timestep before
  std::vector<int> needed;       // [variables] whether PLUMED needs the value
  std::vector<int> requested;    // atoms, IDs minus 1
};

}    // namespace LAMMPS_NS

#endif
#endif
