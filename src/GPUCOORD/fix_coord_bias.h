/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef FIX_CLASS
// clang-format off
FixStyle(coord/bias,FixCoordBias);
// clang-format on
#else

#ifndef LMP_FIX_COORD_BIAS_H
#define LMP_FIX_COORD_BIAS_H

#include "fix.h"

#include "bias_evaluation.h"
#include "bias_respa_level.h"
#include "bias_surroundings.h"
#include "gpucoord_variable.h"

#include "gpucoord/bias.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class CollectiveVariable;

class FixCoordBias : public Fix, public VariableUser {
 public:
  FixCoordBias(class LAMMPS *, int, char **);
  int setmask() override;
  void init() override;
  void setup(int) override;
  void min_setup(int) override;
  void post_neighbor() override;
  void min_post_neighbor() override { post_neighbor(); }
  void pre_force(int) override;
  void post_force(int) override;
  void post_force_respa(int, int, int) override;
  void min_post_force(int) override;
  void post_run() override;
  double compute_scalar() override;
  double compute_vector(int) override;
  void write_restart(FILE *) override;
  void restart(char *) override;
  double memory_usage() override;

  // Returns whether the fix has been evaluated in this timestep.
  bool has_forces_of_this_step() const;
  // Collective. Adds the forces of the last evaluation to those of the owned atoms, [nlocal][3], on
  // the host. Evaluates the gradients of the variables again. The bias does not change.
  virtual void add_forces_to(double **force);
  const BiasSurroundings &surroundings() const { return *its_surroundings; }

  Fix *fix() override { return this; }
  void check_variables() const override;
  const std::vector<VariableRef> &variables() const override { return refs; }
  // Collective. Returns the bits of groups that contain all atoms on which the bias acts.
  virtual int groups() const;
  BiasNeeds begin_evaluation(int vflag, gpucoord::Step::Phase) override;
  int level() const override { return respa.index(); }

 protected:
  using Phase = gpucoord::Step::Phase;
  using MakeBias = std::function<std::unique_ptr<gpucoord::Bias>(LAMMPS *, int, char **)>;

  FixCoordBias(class LAMMPS *, int, char **, const std::string &style_name, const MakeBias &);

  void print_outputs() const;
  void join_run();
  void compare_with_restart();
  std::string compute_id(std::size_t v) const;
  CollectiveVariable *variable_of(std::size_t v) const;    // null: no such variable
  void find_variables();
  void check_energies() const;
  void begin();
  void print_setup();

  bool is_due() const;
  void announce_next() const;
  bool is_rerun() const;
  unsigned want(int vflag) const;    // outputs of the variables in this force evaluation
  gpucoord::Step step_of(Phase) const;
  void announce(int vflag, Phase, int level);    // does nothing if pre_force() has announced
  virtual void apply(int vflag, Phase, int level = BiasBoard::ALL_LEVELS);
  double strength() const;
  void add_forces();

  const std::string owner;    // beginning of messages, "Fix coord/bias ID"
  std::unique_ptr<gpucoord::Bias> bias;
  std::vector<int> serials;         // serial() of each compute when the fix was defined
  std::vector<VariableRef> refs;    // set by init()
  std::unique_ptr<BiasEvaluation> evaluation;
  std::unique_ptr<BiasSurroundings> its_surroundings;
  bigint first_step;      // timestep of the definition of the bias, without minimizations
  bigint restart_step;    // timestep at which a restart file was read, or NONE
  std::vector<double> restart_values;    // S in that file; empty: unknown, or compared
  bool has_begun;                        // bias->begin() has been called
  bool is_set_up;                        // init() has been called
  bool warned_of_rerun;                  // in this rerun
  std::string printed;

  // The last evaluation: its timestep, and the factor of its forces, 0 if the bias did not act
  bigint step_of_forces;
  double strength_of_forces;

  bool is_announced;    // pre_force() has announced this evaluation
  bool has_joined;      // the run of other walkers
  BiasRespaLevel respa;
  bigint first_of_minimization;
};

}    // namespace LAMMPS_NS

#endif
#endif
