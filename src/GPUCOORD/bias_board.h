/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_BOARD_H
#define LMP_BIAS_BOARD_H

#include "pointers.h"

#include "gpucoord/bias.h"

#include <memory>
#include <vector>

namespace LAMMPS_NS {
class BiasEvaluation;
class CollectiveVariable;

// A fix that biases collective variables.

class VariableUser {
 public:
  virtual class Fix *fix() = 0;
  // Collective. Errors for variables that no longer exist.
  virtual void check_variables() const = 0;
  virtual const std::vector<CollectiveVariable *> &variables() const = 0;
  // Collective. Called before want() in each force evaluation.
  virtual void prepare(gpucoord::Step::Moment) {}
  // gpucoord::Want of its variables in this force evaluation; 0: none is needed.
  virtual unsigned want(int vflag) const = 0;
  // This force evaluation.
  virtual gpucoord::Step step_of(gpucoord::Step::Moment) const = 0;
  virtual const BiasEvaluation &its_evaluation() const = 0;
  // rRESPA level at which it acts.
  virtual int level() const = 0;
  // Between host and GPU, without those for its variables; -1: not all data are resident.
  virtual double bytes_copied() const { return 0.0; }

 protected:
  ~VariableUser() = default;
};

// Atom data on the host with KOKKOS, for whoever reads or changes them there. Without KOKKOS there
// is no such object, because atom data are on the host alone.

class HostAtoms {
 public:
  virtual ~HostAtoms() = default;
  virtual void update() = 0;    // copies them to the host where they have changed on the GPU
  virtual void forces_changed() = 0;
};

// Evaluates the variables of all fixes of one LAMMPS together. The first fix announces for all what
// they need; values are summed over ranks in one MPI_Allreduce; a variable of several fixes is
// evaluated once.

class BiasBoard : protected Pointers {
 public:
  // The board of this LAMMPS.
  static std::shared_ptr<BiasBoard> of(LAMMPS *);
  explicit BiasBoard(LAMMPS *lmp) : Pointers(lmp) {}
  ~BiasBoard();
  BiasBoard(const BiasBoard &) = delete;
  BiasBoard &operator=(const BiasBoard &) = delete;

  // Before each run: the users in the order of fixes.
  void find_users();
  void remove(VariableUser *);
  // A KOKKOS fix gives the board this object.
  void use(std::unique_ptr<HostAtoms> with_kokkos) { host_atoms = std::move(with_kokkos); }
  void atoms_to_host()
  {
    if (host_atoms) host_atoms->update();
  }
  void forces_changed_on_host()
  {
    if (host_atoms) host_atoms->forces_changed();
  }

  static constexpr int ALL_LEVELS = -1;
  // Each user calls this first in each force evaluation; with KOKKOS on a GPU fix coord/plumed does
  // so before the pair style. level: of rRESPA.
  void announce(VariableUser *, int vflag, gpucoord::Step::Moment, int level = ALL_LEVELS);
  // Whether the variables of this user stay on the GPU, so that the host need not wait for them.
  bool are_enqueued(const VariableUser *) const;
  // Enqueues what evaluate() will wait for, where a GPU can go on with other forces.
  void start();
  // Collective. Evaluates all announced variables on all ranks, unless they are known.
  void evaluate();
  // Collective. Evaluates one variable and its children outside of force evaluations, on the host.
  void evaluate_now(CollectiveVariable *, unsigned want);

 private:
  void forget_evaluation();
  bool has_level(const VariableUser *, int level) const;

  struct Entry {
    CollectiveVariable *variable;
    unsigned want;
    bool on_host;    // a fix needs its value there
  };
  Entry &entry(CollectiveVariable *);
  void add_with_children(CollectiveVariable *, unsigned want, bool on_host);
  std::vector<CollectiveVariable *> due_on_host() const;
  void start(const std::vector<CollectiveVariable *> &, bool is_for_forces);
  void finish(const std::vector<CollectiveVariable *> &);

  std::vector<VariableUser *> users;
  std::unique_ptr<HostAtoms> host_atoms;
  // This force evaluation: those that have called announce(), and at which level.
  std::vector<const VariableUser *> callers;
  int level_of_callers = ALL_LEVELS;
  std::vector<Entry> entries;    // children before parents
  std::vector<double> numbers, sums;
};

}    // namespace LAMMPS_NS

#endif
