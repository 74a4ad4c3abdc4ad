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

#include "gpucoord/bias.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
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
  using Moment = gpucoord::Step::Moment;
  struct Variable {
    ComputeCoordGPU *compute = nullptr;
    int instance = -1;    // the compute's number when the fix was defined
  };

  void check_order_of_fixes();
  ComputeCoordGPU *compute_of(std::size_t variable) const;    // null: none of this ID and style
  void find_variables();
  void check_variables() const;
  void begin();
  void print_setup();

  unsigned want_of(int vflag) const;
  bool is_due() const;
  void apply(int vflag, Moment);
  gpucoord::Step step_of(Moment) const;
  void set_parameters(const gpucoord::Step &);
  // KOKKOS: atom data must come to the host before variables of the input script read them; S may be computed
  // where the atoms are
  virtual void atoms_to_host() {}
  virtual double value_of(std::size_t variable, unsigned want);
  virtual void evaluate_bias(unsigned want, const gpucoord::Step &);
  void evaluate_at(const gpucoord::Step &, const std::vector<double> &s);
  void call_bias(const std::function<void()> &) const;
  void share_state();
  void stop_if_not_finite() const;
  void add_forces(double strength);
  virtual void add_forces_of(std::size_t variable,
                             double strength);    // f -= strength * dV/dS * dS/dx

  std::unique_ptr<gpucoord::Bias> bias;
  std::vector<Variable> variables;
  bigint first_step;      // where the bias was defined; iterations of minimizations do not count
  bigint restart_step;    // where a restart file was read, or BiasStart::NONE
  bool has_begun;         // bias->begin() was called
  bool is_set_up;         // init() has been called
  bool warned_of_rerun;
  std::string printed;

  int ilevel_respa;
  int evaluations_a_step, evaluations_done;    // rRESPA: of this fix's level
  bigint last_step;
  bigint first_of_minimization;
};

}    // namespace LAMMPS_NS

#endif
#endif
