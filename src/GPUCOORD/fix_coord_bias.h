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
class ComputeCoordGPU;

class FixCoordBias : public Fix {
 public:
  FixCoordBias(class LAMMPS *, int, char **);
  ~FixCoordBias() override;
  int setmask() override;
  void init() override;
  void setup_pre_force(int) override;
  void setup_pre_force_respa(int, int) override;
  void setup(int) override;
  void min_setup(int) override;
  void pre_force(int) override;
  void pre_force_respa(int, int, int) override;
  void min_pre_force(int) override;
  void post_force(int) override;
  void post_force_respa(int, int, int) override;
  void min_post_force(int) override;
  void post_run() override;
  double compute_scalar() override;
  double compute_vector(int) override;
  void write_restart(FILE *) override;
  void restart(char *) override;
  double memory_usage() override;

 protected:
  // State of one variable, the same on all ranks.
  struct Variable {
    ComputeCoordGPU *compute = nullptr;
    int instance = -1;              // the compute's number when the fix was defined
    double s = 0.0, slope = 0.0;    // S and dV/dS
    double s0 = 0.0, k = 0.0;       // as they are now; metad: center and height of the last hill
    double last_s0 = 0.0, last_k = 0.0;    // of the evaluation before
  };
  enum class Moment { SETUP, STEP, LAST_OF_STEP, MINIMIZATION };

  void check_order_of_fixes();
  ComputeCoordGPU *compute_of(std::size_t variable) const;    // null: none of this ID and style
  void find_variables();
  void check_variables() const;
  void begin_metad();
  void print_setup();

  unsigned want_of(int vflag) const;
  bool is_due() const;
  void apply(int vflag, Moment);
  gpucoord::Restraint restraint(std::size_t v) const;
  void move_parameters();
  double change_by_parameters() const;
  void check_continuation();
  // KOKKOS: atom data must come to the host before variables of the input script read them; S may be computed
  // where the atoms are
  virtual void atoms_to_host() {}
  virtual double value_of(std::size_t variable, unsigned want);
  virtual void evaluate_bias(unsigned want, Moment, bool moves);
  bool is_hill_due(Moment) const;
  std::string
  not_finite(double v) const;    // the error if V = v, a slope or S is not finite, or ""
  void stop_if_not_finite() const;
  void evaluate_restraints();
  void evaluate_metad(bool adds_hill);
  void add_forces(double strength);
  virtual void add_forces_of(std::size_t variable,
                             double strength);    // f -= strength * dV/dS * dS/dx
  void share_metad();
  void on_rank_0(const std::function<void()> &) const;

  std::unique_ptr<BiasArguments> args;
  std::vector<Variable> variables;
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
