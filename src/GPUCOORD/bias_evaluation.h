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

namespace LAMMPS_NS {

// Evaluates the bias of a fix and its variables. They are evaluated on the GPU, without a wait of
// the host, if all of them can be, and otherwise on the host. The fix does not know which.

class BiasEvaluation : protected Pointers {
 public:
  using Moment = gpucoord::Step::Moment;

  // owner: begins messages, "Fix coord/bias ID".
  BiasEvaluation(LAMMPS *, std::string owner, gpucoord::Bias &, VariableUser &);
  ~BiasEvaluation();
  BiasEvaluation(const BiasEvaluation &) = delete;
  BiasEvaluation &operator=(const BiasEvaluation &) = delete;

  // Before and after a run.
  void begin_run();
  void end_run();

  // Collective, first in each force evaluation: see BiasBoard.
  void announce(int vflag, Moment moment, int level)
  {
    board->announce(&user, vflag, moment, level);
  }
  // Sets the parameters of this evaluation, also from variables of the input script.
  void set_parameters(const gpucoord::Step &);
  // Collective. strength: forces are this many times those of V.
  void evaluate(const gpucoord::Step &, double strength);
  // For a bias that is evaluated on the host: starts the variables, which is optional, and
  // evaluates them. Collective.
  void start_variables() { board->start(); }
  void evaluate_variables();
  // Adds the forces of the last evaluation.
  void add_forces(double strength);

  // These functions wait for the last evaluation.
  const gpucoord::BiasState &state();
  double output(int n);    // collective

  // Collective. Calls the bias on the ranks that evaluate it. Its failure is an error on all ranks.
  void call(const std::function<void()> &) const;
  // Collective. Sends the state of a bias on rank 0 to all ranks.
  void share_state();

  // Whether the host must have the values of the variables to evaluate the bias in this step.
  bool needs_values(const gpucoord::Step &step) const { return !enqueued.can_evaluate(step); }

 private:
  double bytes_copied() const;

  const std::string owner;
  gpucoord::Bias &bias;
  VariableUser &user;
  const std::shared_ptr<BiasBoard> board;
  EnqueuedBias enqueued;
  bool is_enqueued;        // in this force evaluation
  bigint nevaluations;     // in this run
  double copied_before;    // between host and GPU before this run, bytes; -1: not all is resident
};

}    // namespace LAMMPS_NS

#endif
