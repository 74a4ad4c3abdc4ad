/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_EVALUATOR_KOKKOS_H
#define LMP_COORD_EVALUATOR_KOKKOS_H

#include "coord_evaluator.h"
#include "gpucoord_device_kokkos.h"

#include "gpucoord/resident_function.h"

#include <cstdint>
#include <memory>
#include <string>

namespace LAMMPS_NS {

// Evaluates the contribution of one rank to a variable of pairs on the GPU, if its atoms are
// resident there. A derived class has the variable of the library.

class ResidentEvaluator : protected Pointers {
 public:
  ResidentEvaluator(LAMMPS *, CoordPairData &);
  virtual ~ResidentEvaluator();

  // Returns the variable on the GPU, or null before init().
  virtual gpucoord::ResidentPairVariable *variable() const = 0;
  // Enqueues an evaluation on one rank. May throw DeviceError.
  virtual void enqueue(const gpucoord::Request &) = 0;
  // Collective. Enqueues an evaluation and the copies of its results. Does not throw DeviceError,
  // but sets local.failed.
  virtual void start(LocalEvaluation &, const gpucoord::Request &) = 0;
  // Waits for the results. Sets local.failed and bad_atom. May throw bad_alloc.
  virtual void finish(LocalEvaluation &);
  // Copies the elements of the vector after W.
  virtual void set_vector(double * /*to*/) const {}
  // Returns whether S is the sum of a function over atoms. Ghost atoms then get numbers from their
  // owners in an evaluation.
  virtual bool is_sum_of_function() const { return data.function != nullptr; }

  // Called by functions of the compute with these names, begin_run() at the beginning of init().
  virtual void begin_run();
  virtual void setup() {}
  virtual void init_list(class NeighList *) {}
  // Called at the end of init(), when all ranks have made their variables.
  virtual void request_neighbors(class Compute *) {}
  // Returns whether LAMMPS' neighbor list, a copy of the pair style's, has the pairs.
  virtual bool uses_neighbors() const { return false; }

  bool can_evaluate(CoordPaths::Path path) const
  {
    return path == CoordPaths::Path::CELLS && (!data.function || function_is_resident) &&
        (!data.within || has_resident_weights());
  }
  // Makes the variable and the function. May throw DeviceError.
  void make();
  // Rebuilds the pairs, unless they belong to the current neighbor lists. Returns the atoms.
  gpucoord::DeviceAtoms rebuild();
  gpucoord::DeviceValue device_value() const;
  // Collective. Finds the center of the weights, before start().
  void find_center(LocalEvaluation &) const;
  // Returns 1 over the sum of the weights of an enqueued evaluation, in device memory, by which S
  // and the forces are multiplied; null: they are not.
  const double *one_over_weights() const;
  // Adds the forces of the gradients of the weights. May throw DeviceError.
  void add_weight_forces(const gpucoord::DeviceForces &, const gpucoord::Factor &,
                         bool is_enqueued);
  // Then adds those on the atoms of the center. factor: of S on the host
  void add_center_forces(double factor, bool is_enqueued);
  // Returns the error message of a rank whose GPU failed.
  std::string failure(const char *what) const;
  void warn_of_moved_atoms();
  double bytes_copied() const;
  double memory_usage() const;

  // Copies atom data to the host.
  static void atoms_to_host(class AtomKokkos *);

  const std::shared_ptr<KokkosDevice> device;

 protected:
  virtual void make_variable() = 0;
  virtual gpucoord::DeviceNeighbors neighbors() const { return {}; }
  virtual bool reads_types() const { return data.table->ntypes() > 0; }

  // Runs work unless this rank has failed.
  template <class Work> void attempt(LocalEvaluation &local, const Work &work) const
  {
    if (!local.failed.empty()) return;
    try {
      work();
    } catch (const gpucoord::DeviceError &e) {
      local.failed = failure(e.what());
    }
  }
  const int *owners() const;
  // Enqueues the weights of the atoms and the function.
  void evaluate_function();

  CoordPairData &data;
  // The function; null: there is no function, or the host evaluates it.
  std::unique_ptr<gpucoord::ResidentFunction> function_on_device;

 private:
  void begin_function(const gpucoord::DeviceAtoms &, std::int64_t version);
  bool has_resident_weights() const;
  void fetch_function(LocalEvaluation &);
  void add_within(LocalEvaluation &);
  std::string dSds_too_large(int row, double s, double dSds) const;

  const bool function_is_resident;
  std::int64_t function_version = 0;    // version of the selected atoms; 0: no atoms are selected
  double skin = 0.0;                    // neighbor skin of the run
  bool warned_moved = false;
};

}    // namespace LAMMPS_NS

#endif
