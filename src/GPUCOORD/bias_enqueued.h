/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_ENQUEUED_H
#define LMP_BIAS_ENQUEUED_H

#include "pointers.h"

#include "gpucoord/resident_bias.h"
#include "gpucoord/variable.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class CollectiveVariable;

// Evaluates a bias on the GPU, behind the evaluations of its variables, on one rank. The host does
// not wait for S: the state that it knows of the bias is that of an earlier step until wait().

class EnqueuedBias : protected Pointers {
 public:
  // owner: begins messages, "Fix coord/bias ID".
  EnqueuedBias(LAMMPS *, std::string owner, gpucoord::Bias &,
               const std::vector<CollectiveVariable *> &);

  // Before a run.
  void begin_run();
  // Whether the GPU can evaluate the bias in this step.
  bool can_evaluate(const gpucoord::Step &) const;
  // Enqueues the variables and the bias. strength: forces are this many times those of V.
  void evaluate(const gpucoord::Step &, double strength);
  // Enqueues the forces of one variable, after evaluate().
  void add_forces(std::size_t variable, double strength);
  // Waits, if the GPU has the state of the bias, which takes it then.
  void wait();
  // The host has evaluated the bias.
  void host_has_evaluated() { holder = Holder::HOST; }

  double bytes_copied() const;    // between host and GPU

 private:
  using State = gpucoord::ResidentBias::State;
  void take(const State &);
  void raise_errors(const State &);
  void call(const std::function<void()> &);

  const std::string owner;
  gpucoord::Bias &bias;
  const std::vector<CollectiveVariable *> &variables;
  std::unique_ptr<gpucoord::ResidentBias> resident;
  gpucoord::Step last_step;
  gpucoord::DeviceStream stream = nullptr;    // last one; the variables may be gone
  // Holder of the state of the last evaluation.
  enum class Holder { HOST, DEVICE, BOTH } holder = Holder::HOST;
};

}    // namespace LAMMPS_NS

#endif
