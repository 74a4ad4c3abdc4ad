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

#include "bias_board.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpucoord {
class HillsFile;
class Metadynamics;
struct Restraint;
}    // namespace gpucoord

namespace LAMMPS_NS {
class BiasArguments;
class CollectiveVariable;

class FixCoordBias : public Fix, public VariableUser {
 public:
  FixCoordBias(class LAMMPS *, int, char **);
  ~FixCoordBias() override;
  int setmask() override;
  void init() override;
  void setup(int) override;
  void min_setup(int) override;
  void post_force(int) override;
  void post_force_respa(int, int, int) override;
  void min_post_force(int) override;
  void post_run() override;
  double compute_scalar() override;
  double compute_vector(int) override;
  void write_restart(FILE *) override;
  void restart(char *) override;
  double memory_usage() override;

  Fix *fix() override { return this; }
  void check_variables() const override;
  const std::vector<CollectiveVariable *> &variables() const override { return computes; }
  unsigned want(int vflag) const override;
  bool needs_host(Evaluation) const override;
  int level() const override { return ilevel_respa; }

 protected:
  // State of one variable, the same on all ranks.
  struct Variable {
    int instance = -1;              // the compute's number when the fix was defined
    double s = 0.0, slope = 0.0;    // S and dV/dS
    double s0 = 0.0, k = 0.0;       // as they are now; metad: center and height of the last hill
    double last_s0 = 0.0, last_k = 0.0;    // of the evaluation before
  };

  void check_order_of_fixes();
  CollectiveVariable *variable_of(std::size_t) const;    // null: no compute of this ID is one
  void find_variables();
  void begin_metad();
  void print_setup();

  bool is_due() const;
  void apply(int vflag, Evaluation, int level = BiasBoard::ALL_LEVELS);
  gpucoord::Restraint restraint(std::size_t v) const;
  void move_parameters();
  double change_by_parameters() const;
  void check_continuation();
  // KOKKOS: atom data must come to the host before variables of the input script read them; S may be computed
  // where the atoms are
  virtual void atoms_to_host() {}
  virtual void evaluate_bias(Evaluation, bool moves);
  bool is_hill_due(Evaluation) const;
  std::string
  not_finite(double v) const;    // the error if V = v, a slope or S is not finite, or ""
  void stop_if_not_finite() const;
  void evaluate_restraints();
  void evaluate_metad(bool adds_hill);
  void add_forces(double strength);
  void share_metad();
  void on_rank_0(const std::function<void()> &) const;

  std::unique_ptr<BiasArguments> args;
  std::shared_ptr<BiasBoard> board;
  std::vector<CollectiveVariable *> computes;    // one a variable, from init() on
  std::vector<Variable> states;
  double energy;
  double work;    // sum of what V changes by when it changes itself
  bigint nhills;
  std::optional<std::uint64_t> hills_checksum;    // rank 0 only; restart: none in earlier versions
  bigint first_step;    // where moving parameters start; iterations of minimizations do not count
  bigint last_hill_step;    // or where the run began: no hill is added there
  bigint restart_step;      // of the restart file, until its parameters are compared; -1: none
  bool have_parameters;     // s, s0 and k are those of an earlier evaluation
  bool is_restarted;
  bool is_set_up;    // init() has been called
  bool warned_of_rerun;
  std::string printed;

  // metad, on rank 0
  std::unique_ptr<gpucoord::Metadynamics> metad;
  std::unique_ptr<gpucoord::HillsFile> hills;
  bool metad_has_begun;

  int ilevel_respa;
  int evaluations_a_step, evaluations_done;    // rRESPA: of this fix's level
  bigint last_step;
  bigint first_of_minimization;
};

}    // namespace LAMMPS_NS

#endif
#endif
