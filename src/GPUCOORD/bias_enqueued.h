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
struct VariableRef;

// Evaluates a bias on the GPU, after the evaluations of its variables, on one rank. The host does
// not wait for S. Until wait(), it knows the state of the bias in an earlier timestep.

class EnqueuedBias : protected Pointers {
 public:
  // owner: beginning of messages, "Fix coord/bias ID"
  EnqueuedBias(LAMMPS *, std::string owner, gpucoord::Bias &, const std::vector<VariableRef> &);

  // Called before a run.
  void begin_run();
  // Returns whether the GPU can evaluate the bias in this timestep.
  bool can_evaluate(const gpucoord::Step &) const;
  // Enqueues the variables and the bias. strength: factor of the forces
  void evaluate(const gpucoord::Step &, double strength);
  // Enqueues the forces. Call after evaluate().
  void add_forces(double strength);
  // If the GPU has the state of the bias, waits and copies the state to the bias.
  void wait();
  // Call this when the host has evaluated the bias.
  void host_has_evaluated() { holder = Holder::HOST; }

  std::size_t bytes() const { return resident ? resident->bytes() : 0; }    // on the GPU
  double bytes_copied() const;    // bytes copied between host and GPU

 private:
  using State = gpucoord::ResidentBias::State;
  void choose_stream();
  void set_state(const State &);
  void raise_errors(const State &);
  void call(const std::function<void()> &);

  const std::string owner;
  gpucoord::Bias &bias;
  const std::vector<VariableRef> &variables;
  std::unique_ptr<gpucoord::ResidentBias> resident;
  gpucoord::DeviceTerms terms;    // of the last evaluation
  gpucoord::Step last_step;
  gpucoord::DeviceStream stream = nullptr;    // stored, because the variables may be deleted
  // Location of the state of the last evaluation.
  enum class Holder { HOST, DEVICE, BOTH } holder = Holder::HOST;
};

}    // namespace LAMMPS_NS

#endif
