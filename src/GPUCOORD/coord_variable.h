/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_VARIABLE_H
#define LMP_COORD_VARIABLE_H

#include "compute.h"

#include "coord_ghost_numbers.h"
#include "gpucoord_variable.h"

#include <string>

namespace LAMMPS_NS {

// Base class of all styles of collective variables: a compute with the scalar S, a vector that
// begins with W, and an array that has dS/dx. This class has the state of an evaluation and the
// output; a style evaluates.

class CoordVariable : public Compute, public CollectiveVariable {
 public:
  ~CoordVariable() override;
  void init() override;
  // Called by each fix at the end of a run, where it may wait. Prints what was counted since the
  // last call.
  virtual void end_run() {}
  double compute_scalar() override;
  void compute_vector() override;
  void compute_array() override;
  void compute_peratom() override;
  int pack_forward_comm(int, int *, double *, int, int *) override;
  void unpack_forward_comm(int, int, double *) override;
  double memory_usage() override;

  bool begin_setup() override;
  void end_setup() override;
  void announce(unsigned want) override;
  bool is_started() const override { return state == State::STARTED; }
  bool is_known() const override { return state == State::DEVICE || state == State::HOST; }
  double value(int /*item*/ = 0) const override { return known_value; }
  bool is_without_kokkos() const override { return !kokkosable; }
  // Makes this variable a part of another one of the same name, which prints.
  void be_part() { is_part = true; }

 protected:
  // The constructor of a style calls one of these; the last call counts. With several values, the
  // vector has the values, the global array rows of S and W, and the per-atom array their dS/dx,
  // three columns each.
  CoordVariable(class LAMMPS *, int, char **);
  void set_outputs(int vector_size, int array_columns);
  void set_outputs_of_values(int nvalues);

  // State of the value and the gradients in this force evaluation. UNKNOWN: not evaluated.
  // ENQUEUED: on the GPU. STARTED: evaluation started. DEVICE: value on the host, gradients on the
  // GPU. HOST: both on the host.
  enum class State { UNKNOWN, ENQUEUED, STARTED, DEVICE, HOST };

  // Collective. Evaluates the values outside of force evaluations, with these outputs, and returns
  // the first one.
  virtual double evaluate_now(unsigned want);
  // Raises an error before init().
  void need_init() const;
  // Called by compute_peratom(). Warns about the frame of the derivatives.
  void begin_peratom();
  // Makes room for the owned atoms in array_atom.
  void reserve_array();
  // Collective. Prints a text once, and again after a change. rerun calls init() for each frame. S
  // must then be printed, also if only the groups have changed.
  void print_once(const std::string &text, const std::string &groups = "");

  const std::string name;    // 'Compute coord/gpu ID', beginning of messages
  unsigned wanted;           // announced outputs, with ON_HOST
  State state;
  double known_value;       // S
  bool must_print_value;    // the setup line has changed; the same on all ranks
  bool is_in_setup;         // between begin_setup() and end_setup()
  bool is_part = false;     // of another variable
  GhostNumbers ghosts;      // for styles whose ghost atoms get numbers from their owners

 private:
  std::string printed, printed_groups;
  int nmax;    // rows of array_atom
};

}    // namespace LAMMPS_NS

#endif
