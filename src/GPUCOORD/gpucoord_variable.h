/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_VARIABLE_H
#define LMP_GPUCOORD_VARIABLE_H

#include "gpucoord/variable.h"

#include <string>
#include <vector>

namespace LAMMPS_NS {

// A collective variable: a compute with a value S, gradients dS/dx on its atoms, and a virial
// W = dS/d(strain). Biases know this interface and nothing else of the compute. The compute decides
// where its data are.
//
// A force evaluation goes in this order: announce(), then either enqueue(), or start(), share() and
// finish() with one sum over ranks in between; then the add functions. BiasBoard calls them.

class CollectiveVariable {
 public:
  // Added to gpucoord::Want: a style without KOKKOS reads and changes atom data on the host.
  static constexpr unsigned ON_HOST = 1u << 16;
  // Numbers of one rank that are summed over ranks.
  static constexpr int NSHARED = 13;

  CollectiveVariable(const CollectiveVariable &) = delete;
  CollectiveVariable &operator=(const CollectiveVariable &) = delete;

  // Tells a variable from a later one at the same address.
  int number() const { return my_number; }
  // Whether the variable of this address and number exists.
  static bool is_alive(const CollectiveVariable *, int number);
  // Name of a group of the variable that is dynamic, or "".
  virtual std::string dynamic_group() const = 0;

  // Variables that this one is a function of: evaluated before it, for what it is wanted for.
  virtual const std::vector<CollectiveVariable *> &children() const;

  // Before each force evaluation, on all ranks: drops the value of the evaluation before. want: the
  // union of the needs of all fixes; 0: nothing is needed. No timestep tells evaluations apart,
  // because line searches and rRESPA evaluate forces many times in one timestep.
  virtual void announce(unsigned want) = 0;
  // LAMMPS has rebuilt its neighbor lists. due: the next force evaluation needs the variable.
  virtual void reneighbored(bool /*due*/) {}

  // Whether value and gradients are on a GPU, in the present box, unless a fix needs them on the
  // host.
  virtual bool is_resident() const { return false; }
  // Whether enqueue() can evaluate what was announced without a wait of the host.
  virtual bool can_enqueue() const { return false; }
  // Enqueues the evaluation on stream(), unless it is enqueued already.
  virtual gpucoord::DeviceValue enqueue() { return {}; }
  virtual gpucoord::DeviceStream stream() const { return nullptr; }
  // After a wait: ends in an error, or warns, for what the GPU found in enqueued evaluations.
  virtual void raise_device_errors(bool /*has_moved*/, bool /*is_not_finite*/) {}

  // Whether value() and the add functions can be used.
  virtual bool is_known() const = 0;
  // Starts the evaluation of this rank. Never throws for a failure of one rank: share() tells.
  // is_for_forces: in a force evaluation, where ghost atoms are current.
  virtual void start(bool is_for_forces) = 0;
  // Whether it has been started and not yet finished; an output in between drops what was started.
  virtual bool is_started() const { return false; }
  // Waits, and gives this rank's numbers.
  virtual void share(double *numbers) = 0;
  // Takes the sums over ranks, and ends in an error on all ranks where one has failed.
  virtual void finish(const double *sums) = 0;
  virtual double value() const = 0;    // S
  // How far values of the same positions may differ, because sums have another order: a fraction of
  // the larger of 1 and |value()|. The default is for sums of double terms.
  virtual double rounding() const { return 1e-10; }

  // Returns why the variable cannot be biased, or "".
  virtual std::string why_no_bias() const { return ""; }

  // Whether the variable reads atoms and changes forces on the host without telling KOKKOS.
  virtual bool is_without_kokkos() const = 0;
  // Adds -factor dS/dx to the forces of the owned atoms, wherever they are up to date.
  virtual void add_forces(gpucoord::Factor factor) = 0;
  // Adds factor W, of all ranks, order xx yy zz xy xz yz.
  virtual void add_virial(double factor, double *virial) const = 0;
  // Adds factor times the contributions of the owned atoms to W, [nlocal][6].
  virtual void add_atom_virial(double factor, double **vatom) const = 0;
  // Adds factor dS/dx of the owned atoms to three columns of an array; after an evaluation ON_HOST.
  virtual void add_gradients(double factor, double **array, int first_column) const = 0;

  // Bytes copied between host and GPU since the start, without those of children; -1: not all data
  // are resident on the GPU.
  virtual double bytes_copied() const { return -1.0; }

 protected:
  CollectiveVariable();
  ~CollectiveVariable();    // not deleted through this interface

 private:
  const int my_number;
};

}    // namespace LAMMPS_NS

#endif
