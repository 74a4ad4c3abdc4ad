/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

/* ----------------------------------------------------------------------
   Contributing authors: The GPUCOORD developers
------------------------------------------------------------------------- */

#include "bias_board.h"

#include "gpucoord_one_per_lammps.h"
#include "gpucoord_variable.h"

#include "comm.h"
#include "error.h"
#include "fix.h"
#include "modify.h"
#include "update.h"

#include "gpucoord/counters.h"

#include <algorithm>
#include <iterator>
#include <new>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

std::shared_ptr<BiasBoard> BiasBoard::get(LAMMPS *lmp)
{
  return OnePerLammps<BiasBoard>::get(lmp);
}

BiasBoard::~BiasBoard()
{
  OnePerLammps<BiasBoard>::remove(lmp);
}

void BiasBoard::find_users()
{
  users.clear();
  discard_evaluation();
  for (auto *fix : modify->get_fix_list())
    if (auto *const user = dynamic_cast<VariableUser *>(fix)) users.push_back(user);
}

void BiasBoard::remove(VariableUser *user)
{
  users.erase(std::remove(users.begin(), users.end(), user), users.end());
  discard_evaluation();
}

void BiasBoard::discard_evaluation()
{
  callers.clear();
  entries.clear();
}

/* ---------------------------------------------------------------------- */

BiasBoard::Entry &BiasBoard::entry(CollectiveVariable *variable)
{
  for (Entry &known : entries)
    if (known.variable == variable) return known;
  return entries.emplace_back(Entry{variable, 0, false, 0});
}

void BiasBoard::add_with_children(CollectiveVariable *variable, unsigned want, bool on_host)
{
  ++nwalks;
  add_to_walk(variable, want, on_host);
}

// Visits each variable once, because expressions may share children.
void BiasBoard::add_to_walk(CollectiveVariable *variable, unsigned want, bool on_host)
{
  for (const Entry &known : entries)
    if (known.variable == variable && known.last_walk == nwalks) return;
  for (const VariableRef &child : variable->children()) add_to_walk(child.compute, want, on_host);
  Entry &mine = entry(variable);
  mine.want |= want;
  mine.on_host |= on_host;
  mine.last_walk = nwalks;
}

void BiasBoard::announce(VariableUser *caller, int vflag, gpucoord::Step::Phase phase, int level)
{
  // This fix was defined after the last setup (run pre no).
  if (std::find(users.begin(), users.end(), caller) == users.end()) caller->check_variables();
  // Each user calls once per force evaluation, in any order. The first one announces for all.
  const bool continues = level == level_of_callers && !callers.empty() &&
      std::find(callers.begin(), callers.end(), caller) == callers.end();
  if (!continues) discard_evaluation();
  callers.push_back(caller);
  level_of_callers = level;
  if (!continues) announce_all(caller, vflag, phase, level);
}

void BiasBoard::announce_all(VariableUser *caller, int vflag, gpucoord::Step::Phase phase,
                             int level)
{
  GPUCOORD_COUNT_TIMESTEP(update->ntimestep);
  has_taken_forces = false;
  std::vector<VariableUser *> due;
  for (VariableUser *user : users) {
    if (level != ALL_LEVELS && user->level() != level) continue;
    const bool reads_all = user->fix()->datamask_modify;
    if (user != caller && reads_all) atoms_to_host();
    const BiasNeeds needs = user->begin_evaluation(vflag, phase);
    // The data masks of a fix without KOKKOS cover all atom data. LAMMPS then considers all atom
    // data as changed on the host. A variable without KOKKOS changes forces on the host. In both
    // cases, the other variables must change forces there as well.
    const auto &mine = user->variables();
    const bool is_on_host = reads_all ||
        std::any_of(mine.begin(), mine.end(), [](const VariableRef &one) {
                              return one.compute->is_without_kokkos();
                            });
    const unsigned on_host = needs.want && is_on_host ? CollectiveVariable::ON_HOST : 0;
    const bool needs_host = needs.want && (is_on_host || needs.values_on_host);
    for (const VariableRef &one : mine)
      add_with_children(one.compute, needs.want | on_host, needs_host);
    if (needs.want) due.push_back(user);
  }
  for (Entry &mine : entries) mine.variable->announce(mine.want);
  move_to_host(due);
}

// If one fix needs a variable on the host, it is evaluated there for all fixes, with its parents
// and children. A fix with such a variable needs all its variables on the host.
void BiasBoard::move_to_host(const std::vector<VariableUser *> &due)
{
  for (Entry &mine : entries)
    if (mine.want && !mine.variable->can_enqueue()) mine.on_host = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (Entry &mine : entries) {
      const auto &children = mine.variable->children();
      const bool has_child_on_host =
          std::any_of(children.begin(), children.end(), [this](const VariableRef &child) {
            return entry(child.compute).on_host;
          });
      if (!mine.on_host && has_child_on_host) mine.on_host = changed = true;
    }
    for (const VariableUser *user : due) {
      if (are_enqueued(user)) continue;
      for (const VariableRef &one : user->variables()) {
        changed = changed || !entry(one.compute).on_host;
        add_with_children(one.compute, 0, true);
      }
    }
  }
}

bool BiasBoard::are_enqueued(const VariableUser *user) const
{
  const auto &mine = user->variables();
  return std::none_of(entries.begin(), entries.end(), [&mine](const Entry &one) {
    return one.on_host && std::any_of(mine.begin(), mine.end(), [&one](const VariableRef &its) {
             return its.compute == one.variable;
           });
  });
}

void BiasBoard::take_forces()
{
  if (has_taken_forces) return;
  has_taken_forces = true;
  for (const Entry &one : entries) {
    auto *const forces = dynamic_cast<ScaledForces *>(one.variable);
    if (one.want && forces) forces->take_forces();
  }
}

std::vector<CollectiveVariable *> BiasBoard::due_on_host() const
{
  std::vector<CollectiveVariable *> due;
  for (const Entry &one : entries)
    if (one.want && one.on_host && !one.variable->is_known()) due.push_back(one.variable);
  return due;
}

void BiasBoard::start()
{
  std::vector<CollectiveVariable *> some;
  for (CollectiveVariable *variable : due_on_host())
    if (variable->is_resident() && !variable->is_started()) some.push_back(variable);
  start(some, true);
}

void BiasBoard::evaluate()
{
  const std::vector<CollectiveVariable *> due = due_on_host();
  std::vector<CollectiveVariable *> others;
  std::copy_if(due.begin(), due.end(), std::back_inserter(others), [](const auto *variable) {
    return !variable->is_started();
  });
  // The data masks of a fix only cover its own variables.
  if (std::any_of(others.begin(), others.end(), [](const CollectiveVariable *variable) {
        return variable->is_without_kokkos();
      }))
    atoms_to_host();
  start(others, true);
  finish(due);
}

void BiasBoard::evaluate_now(CollectiveVariable *variable, unsigned want)
{
  const std::vector<Entry> force_entries = std::move(entries);
  entries.clear();
  add_with_children(variable, want | CollectiveVariable::ON_HOST, true);
  std::vector<CollectiveVariable *> due;
  for (const Entry &one : entries) {
    one.variable->announce(one.want);
    due.push_back(one.variable);
  }
  try {
    start(due, false);
    finish(due);
  } catch (...) {
    entries = force_entries;
    throw;
  }
  // Other fixes may still need these variables in this force evaluation. They evaluate them again.
  entries = force_entries;
  for (const Entry &one : entries)
    if (std::find(due.begin(), due.end(), one.variable) != due.end())
      one.variable->announce(one.want);
}

/* ---------------------------------------------------------------------- */

void BiasBoard::start(const std::vector<CollectiveVariable *> &due, bool is_for_forces)
{
  for (CollectiveVariable *variable : due) variable->start(is_for_forces);
}

// If a rank fails, its numbers contain an error flag. All ranks therefore reach the sum.
void BiasBoard::finish(const std::vector<CollectiveVariable *> &due)
{
  if (due.empty()) return;
  std::vector<std::size_t> begins;
  std::size_t size = 0;
  for (CollectiveVariable *variable : due) {
    begins.push_back(size);
    size += variable->nsums(entry(variable).want);
  }
  local_sums.resize(size);
  sums.resize(size);
  for (std::size_t k = 0; k < due.size(); ++k) due[k]->get_local_sums(&local_sums[begins[k]]);
  MPI_Allreduce(local_sums.data(), sums.data(), static_cast<int>(size), MPI_DOUBLE, MPI_SUM, world);
  // If finish() communicates, other ranks may wait for this one.
  const auto fail = [this](const char *what) {
    error->one(FLERR, Error::NOLASTLINE, "A collective variable failed on rank {}: {}", comm->me,
               what);
  };
  try {
    for (std::size_t k = 0; k < due.size(); ++k) due[k]->finish(&sums[begins[k]]);
  } catch (const std::bad_alloc &) {
    fail("out of memory");
  } catch (const gpucoord::DeviceError &e) {
    fail(e.what());
  }
}
