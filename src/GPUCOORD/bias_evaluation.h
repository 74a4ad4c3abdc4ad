/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_EVALUATION_H
#define LMP_BIAS_EVALUATION_H

#include "bias_board.h"
#include "bias_enqueued.h"
#include "pointers.h"

#include "gpucoord/bias.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Evaluates the bias of a fix and its variables. If all variables can be evaluated on the GPU, the
// bias is evaluated there, too, without a wait of the host. Otherwise it is evaluated on the host.
// The fix does not depend on this choice.

class BiasEvaluation : protected Pointers {
 public:
  using Phase = gpucoord::Step::Phase;

  // owner: beginning of messages, "Fix coord/bias ID"
  BiasEvaluation(LAMMPS *, std::string owner, gpucoord::Bias &, VariableUser &);
  ~BiasEvaluation();
  BiasEvaluation(const BiasEvaluation &) = delete;
  BiasEvaluation &operator=(const BiasEvaluation &) = delete;

  // Called before and after a run.
  void begin_run();
  void end_run();

  // Collective. Must be called first in each force evaluation; see BiasBoard.
  void announce(int vflag, Phase phase, int level) { board->announce(&user, vflag, phase, level); }
  // Sets the parameters of this evaluation, including those from variables of the input script.
  void set_parameters(const gpucoord::Step &);
  // Collective. strength: factor of the forces
  void evaluate(const gpucoord::Step &, double strength);
  // Collective. Optional: starts the evaluation of variables that the host will wait for.
  void start_variables() { board->start(); }
  // Collective. Evaluates the variables of a bias that the caller evaluates on the host.
  void evaluate_variables();
  // Adds the forces of the last evaluation.
  void add_forces(double strength);

  // Collective. Warns, in the first run, if a variable would move too fast in the bias. timestep:
  // between two evaluations. Called in the setup; on a GPU, it evaluates the gradients again, on
  // the host.
  void check_frequencies(double timestep);

  // These functions wait for the last evaluation.
  const gpucoord::BiasState &state();
  double output(int n);    // collective

  // Collective. Calls the bias on the ranks that evaluate it. A failure is raised as an error on
  // all ranks. results: of the same size on all ranks. Those of rank 0 are sent to all ranks if the
  // bias is on rank 0, with the failure in one message.
  void call(const std::function<void()> &, std::vector<double> &results) const;
  void call(const std::function<void()> &) const;
  // The same. The state of the bias is sent, too.
  void call_and_share(const std::function<void()> &, std::vector<double> &results) const;
  void call_and_share(const std::function<void()> &) const;

  // Returns whether the host needs the values of the variables to evaluate the bias in this
  // timestep.
  bool needs_values(const gpucoord::Step &step) const { return !enqueued.can_evaluate(step); }
  std::size_t bytes() const { return enqueued.bytes(); }    // on the GPU

 private:
  double bytes_copied() const;
  double inverse_mass(const VariableRef &);

  const std::string owner;
  gpucoord::Bias &bias;
  VariableUser &user;
  const std::shared_ptr<BiasBoard> board;
  EnqueuedBias enqueued;
  bool is_enqueued;        // the bias of this force evaluation is enqueued
  bigint nevaluations;     // number of evaluations in this run
  double copied_before;    // bytes copied before this run; -1: not all data are resident
  bool has_checked_frequencies;
};

}    // namespace LAMMPS_NS

#endif
