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

#include <cstdint>
#include <memory>
#include <vector>

namespace LAMMPS_NS {
class CollectiveVariable;
struct VariableRef;

// What a fix needs in a force evaluation.
struct BiasNeeds {
  unsigned want = 0;             // outputs (gpucoord::Want) of its variables; 0: nothing
  bool values_on_host = true;    // the host must know the values to evaluate the bias
};

// A fix that biases collective variables.

class VariableUser {
 public:
  virtual class Fix *fix() = 0;
  virtual const std::vector<VariableRef> &variables() const = 0;
  // Collective. Called once in each force evaluation, before any variable is evaluated. Raises an
  // error if a variable no longer exists.
  virtual BiasNeeds begin_evaluation(int vflag, gpucoord::Step::Phase) = 0;
  // Collective. Raises an error if a variable no longer exists.
  virtual void check_variables() const = 0;
  // Returns the rRESPA level at which the fix acts.
  virtual int level() const = 0;
  // Returns the bytes copied between host and GPU, without those for its variables; -1: not all
  // data are resident.
  virtual double bytes_copied() const { return 0.0; }

 protected:
  ~VariableUser() = default;
};

// Host copies of atom data with KOKKOS, for styles that read or change the data on the host.
// Without KOKKOS this object does not exist, because all atom data are on the host.

class HostAtoms {
 public:
  virtual ~HostAtoms() = default;
  virtual void update() = 0;    // copies data to the host that have changed on the GPU
  virtual void forces_changed() = 0;
};

// Evaluates the variables of all fixes of one LAMMPS instance together. The first fix announces the
// needs of all fixes. Values are summed over ranks in one MPI_Allreduce. A variable of several
// fixes is evaluated once.

class BiasBoard : protected Pointers {
 public:
  // Returns the board of this LAMMPS instance.
  static std::shared_ptr<BiasBoard> get(LAMMPS *);
  explicit BiasBoard(LAMMPS *lmp) : Pointers(lmp) {}
  ~BiasBoard();
  BiasBoard(const BiasBoard &) = delete;
  BiasBoard &operator=(const BiasBoard &) = delete;

  // Called before each run. Lists the users in the order of fixes.
  void find_users();
  void remove(VariableUser *);
  // Called by a KOKKOS fix.
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
  // Each user calls this first in each force evaluation. With KOKKOS on a GPU, fixes may call it
  // before the pair style. level: rRESPA level
  void announce(VariableUser *, int vflag, gpucoord::Step::Phase, int level = ALL_LEVELS);
  // Returns whether the variables of this user are resident on the GPU, so that the host need not
  // wait for them.
  bool are_enqueued(const VariableUser *) const;
  // Collective. Enqueues the variables that evaluate() will wait for, if a GPU can compute other
  // forces meanwhile.
  void start();
  // Each user calls this before it adds forces, and when those of the force field are known.
  void take_forces();
  // Collective. Evaluates all announced variables on all ranks, except those that are already
  // known.
  void evaluate();
  // Collective. Evaluates one variable and its children on the host, outside of force evaluations.
  void evaluate_now(CollectiveVariable *, unsigned want);

 private:
  void discard_evaluation();
  void announce_all(VariableUser *caller, int vflag, gpucoord::Step::Phase, int level);
  void move_to_host(const std::vector<VariableUser *> &);

  struct Entry {
    CollectiveVariable *variable;
    unsigned want;
    bool on_host;               // a fix needs the value on the host
    std::uint64_t last_walk;    // last walk over a variable and its children that visited it
  };
  Entry &entry(CollectiveVariable *);
  void add_with_children(CollectiveVariable *, unsigned want, bool on_host);
  void add_to_walk(CollectiveVariable *, unsigned want, bool on_host);
  std::vector<CollectiveVariable *> due_on_host() const;
  void start(const std::vector<CollectiveVariable *> &, bool is_for_forces);
  void finish(const std::vector<CollectiveVariable *> &);

  std::vector<VariableUser *> users;
  std::unique_ptr<HostAtoms> host_atoms;
  // Users that have called announce() in this force evaluation, and their level.
  std::vector<const VariableUser *> callers;
  int level_of_callers = ALL_LEVELS;
  bool has_taken_forces = false;    // in this force evaluation
  std::vector<Entry> entries;       // children before parents
  std::uint64_t nwalks = 0;
  std::vector<double> local_sums, sums;
};

}    // namespace LAMMPS_NS

#endif
