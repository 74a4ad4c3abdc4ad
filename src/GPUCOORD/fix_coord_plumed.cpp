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

#include "fix_coord_plumed.h"

#include "bias_plumed_arguments.h"
#include "gpucoord_box_edges.h"
#include "gpucoord_variable.h"

#include "gpucoord/bytes_of.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "input.h"
#include "output.h"
#include "timer.h"
#include "update.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mpi.h>
#include <new>
#include <stdexcept>

using namespace LAMMPS_NS;

FixCoordPlumed::FixCoordPlumed(LAMMPS *lmp, int narg, char **arg) :
    FixCoordBias(lmp, narg, arg, "coord/plumed", make_plumed_bias), dt(0.0), is_first(true),
    is_new(true), warned_of_all(false), plumed(static_cast<PlumedBias *>(bias.get())),
    may_be_known(false)
{
  atoms = std::make_unique<PlumedAtoms>(lmp, owner);
  needed.assign(bias->nvariables(), 1);
}

/* ---------------------------------------------------------------------- */

void FixCoordPlumed::check_timestep() const
{
  if (dt != update->dt)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: the timestep has changed from {} to {}, which PLUMED does not support - define "
               "the fix again after command timestep, with RESTART as the first command of the "
               "PLUMED file to continue its files",
               owner, dt, update->dt);
}

void FixCoordPlumed::init()
{
  if (!has_begun) {
    dt = update->dt;
    find_largest_id();
  }
  check_timestep();
  atoms->begin_run();
  FixCoordBias::init();
}

static constexpr double MANY_IDS = 1.0e6, IDS_PER_ATOM = 10.0;    // above: a warning

void FixCoordPlumed::find_largest_id()
{
  const int largest = PlumedAtoms::largest_id(lmp);
  plumed->set_natoms(MAX(1, largest));
  if (comm->me == 0 && largest > MANY_IDS &&
      largest > IDS_PER_ATOM * static_cast<double>(atom->natoms)) {
    error->warning(FLERR, "{}: there are {} atoms{}", owner, atom->natoms, plumed->memory_advice());
    // The system may end the process for lack of memory.
    utils::flush_buffers(lmp);
  }
}

// Work that all ranks do and that allocates memory for the requested atoms.
void FixCoordPlumed::allocate(const std::function<void()> &work) const
{
  try {
    work();
  } catch (const std::bad_alloc &) {
    error->one(FLERR, Error::NOLASTLINE, "{}: rank {} is out of memory{}", owner, comm->me,
               plumed->memory_advice());
  }
}

int FixCoordPlumed::groups() const
{
  constexpr int ALL = 1;
  return plumed->may_use_atoms() ? ALL : FixCoordBias::groups();
}

// PLUMED may end a run, but further runs may follow.
void FixCoordPlumed::post_run()
{
  FixCoordBias::post_run();
  evaluation->call([&] {
    plumed->read_files();
  });
  if (!plumed->atoms().stops) return;
  if (comm->me == 0) utils::logmesg(lmp, "{}: PLUMED ended the run\n", owner);
  plumed->atoms().stops = 0;
  timer->reset_timeout();
}

// Called by fixes such as dt/reset, and by command timestep.
void FixCoordPlumed::reset_dt()
{
  if (update->whichflag && dt != update->dt)    // command timestep: see init() and apply()
    error->all(FLERR, Error::NOLASTLINE,
               "{}: a fix such as dt/reset changes the timestep from {} to {}, which PLUMED does "
               "not support - use a fixed timestep",
               owner, dt, update->dt);
}

// PLUMED deposits no hills in a minimization.
void FixCoordPlumed::min_setup(int vflag)
{
  first_of_minimization = update->ntimestep;
  apply(vflag, Phase::MINIMIZATION);
}

/* ----------------------------------------------------------------------
   PLUMED announces its needs before the variables are evaluated. The setup of a continued run is an
   exception; see apply().
------------------------------------------------------------------------- */

BiasNeeds FixCoordPlumed::begin_evaluation(int vflag, Phase phase)
{
  check_variables();
  announce_next();
  const bool is_rerun = input->command && strcmp(input->command, "rerun") == 0;
  may_be_known = phase == Phase::SETUP && plumed->known_step() != PlumedBias::NONE && !is_rerun;
  std::fill(needed.begin(), needed.end(), 1);
  if (!may_be_known) prepare_plumed();
  const bool needs_any = std::any_of(needed.begin(), needed.end(), [](int is_needed) {
    return is_needed != 0;
  });
  return {needs_any ? want(vflag) : 0, true};
}

void FixCoordPlumed::prepare_plumed()
{
  const bool is_checkpoint = update->ntimestep == output->next_restart ||
      update->ntimestep == update->laststep;
  // The variables that PLUMED needs, the number of atoms, and whether the atoms have changed
  std::vector<double> results(needed.size() + 2);
  evaluation->call(
      [&] {
        const auto &needs = plumed->prepare(update->ntimestep, current_box(), is_checkpoint);
        double *next = std::copy(needs.variables.begin(), needs.variables.end(), results.data());
        *next++ = static_cast<double>(needs.atoms.size());
        *next = requested == needs.atoms ? 0.0 : 1.0;
        requested = needs.atoms;
      },
      results);
  for (std::size_t v = 0; v < needed.size(); ++v) needed[v] = results[v] != 0.0;
  const int n = static_cast<int>(results[needed.size()]);
  if (results.back() != 0.0) {
    allocate([&] {
      requested.resize(n);
    });
    MPI_Bcast(requested.data(), n, MPI_INT, 0, world);
  }
  const bool needs_all = !is_first && n > 1 && n == plumed->natoms();
  if (needs_all && !warned_of_all && comm->me == 0)
    utils::logmesg(lmp,
                   "{}: PLUMED requests all {} atoms, which then pass through rank 0 in each such "
                   "timestep, as with fix plumed\n",
                   owner, n);
  warned_of_all |= needs_all;
  allocate([&] {
    atoms->request(requested, requests_all());
    atoms->start();
  });
}

PlumedBias::Matrix FixCoordPlumed::current_box() const
{
  double edges[3][3];
  get_box_edges(domain, edges);
  PlumedBias::Matrix box;
  for (int a = 0; a < 3; ++a) std::copy_n(edges[a], 3, box[a].begin());
  return box;
}

/* ---------------------------------------------------------------------- */

void FixCoordPlumed::pre_force(int vflag)
{
  plumed->set_known_step(PlumedBias::NONE);    // until all ranks have the results
  FixCoordBias::pre_force(vflag);
}

void FixCoordPlumed::apply(int vflag, Phase phase, int level)
{
  // With run pre no, init() is not called.
  if (phase != Phase::MINIMIZATION) check_timestep();
  announce(vflag, phase, level);
  v_init(vflag);
  evaluation->evaluate_variables();
  std::vector<double> s = bias->state().s;
  for (std::size_t v = 0; v < refs.size(); ++v)
    if (refs[v].compute->is_known()) s[v] = refs[v].value();

  const bool is_same = may_be_known && is_same_configuration(s);
  const bool is_known = is_same && plumed->known_step() == update->ntimestep;
  if (!is_known)
    evaluate_plumed(phase, s, is_same);
  else if (is_new) {
    // PLUMED evaluates the first timestep of a restarted run, but the forces are the known ones.
    const gpucoord::BiasState state = bias->state();
    const PlumedBias::Atoms known = plumed->atoms();
    evaluate_plumed(phase, s, is_same);
    bias->set_state(state);
    plumed->atoms() = known;
    plumed->set_known_step(update->ntimestep);
  }
  if (is_known) use_known_forces(s);
  add_forces();
  add_forces_on_atoms();
  if (plumed->atoms().stops) timer->force_timeout();
}

// Collective. is_same: PLUMED has already evaluated this configuration
void FixCoordPlumed::evaluate_plumed(Phase phase, const std::vector<double> &s, bool is_same)
{
  plumed->set_known_step(PlumedBias::NONE);    // until all ranks have the results
  if (may_be_known) prepare_plumed();
  const auto step = step_of(phase);
  allocate([&] {
    atoms->collect();
  });
  auto &used = plumed->atoms();
  std::vector<double> results;
  allocate([&] {
    results.resize(6 * requested.size() + 2 * 9 + 1);
  });
  evaluation->call_and_share(
      [&] {
        for (std::size_t k = 0; k < requested.size() && !requests_all(); ++k)
          if (!atoms->exists(k)) fail_for_missing(requested[k] + 1);
        plumed->set_atoms(atoms->x(), atoms->mass(), atoms->charge());
        // PLUMED deposits no hills in its first timestep, which a restarted run repeats. A
        // configuration that PLUMED has already evaluated is not a new timestep, whatever its
        // number (reset_timestep).
        plumed->update_at_setup(is_new || (!is_same && !plumed->is_done(step.timestep)));
        bias->evaluate(step, s.data());
        check_missing_atoms();
        double *next = std::copy(used.x.begin(), used.x.end(), results.data());
        next = std::copy(used.force.begin(), used.force.end(), next);
        for (const auto *matrix : {&used.box, &used.virial})
          for (const auto &row : *matrix) next = std::copy(row.begin(), row.end(), next);
        *next = used.stops;
      },
      results);
  allocate([&] {
    set_atoms_of_plumed(results);
  });
  if (requests_all())
    is_first = false;
  else
    plumed->set_known_step(update->ntimestep);
  is_new = false;
}

// Uses the forces of a run without interruption, in which a hill of this timestep acts from the
// next timestep on. S may be rounded differently than in the last evaluation.
void FixCoordPlumed::use_known_forces(const std::vector<double> &s)
{
  gpucoord::BiasState state = bias->state();
  for (std::size_t v = 0; v < s.size(); ++v)
    state.energy += state.dVdS[v] * bias->period(static_cast<int>(v)).difference(s[v], state.s[v]);
  state.s = s;
  bias->set_state(state);
}

// Collective. Returns whether variables, atoms and box are those of the last evaluation.
bool FixCoordPlumed::is_same_configuration(const std::vector<double> &s)
{
  int differs = current_box() == plumed->atoms().box ? 0 : 1;
  for (std::size_t v = 0; v < s.size(); ++v)
    if (!(std::fabs(bias->period(static_cast<int>(v)).difference(s[v], bias->state().s[v])) <=
          refs[v].compute->rounding() * std::max(1.0, std::fabs(s[v]))))
      differs = 1;
  if (!atoms->are_at(plumed->atoms().id, plumed->atoms().x)) differs = 1;
  int any;
  MPI_Allreduce(&differs, &any, 1, MPI_INT, MPI_MAX, world);
  return !any;
}

/* ---------------------------------------------------------------------- */

// Returns true only in the first evaluation.
bool FixCoordPlumed::requests_all() const
{
  return is_first && !requested.empty() && static_cast<int>(requested.size()) == plumed->natoms();
}

void FixCoordPlumed::fail_for_missing(int atom_id)
{
  throw std::runtime_error(
      "PLUMED requests the atom with ID " + std::to_string(atom_id) +
      ", which does not exist - use other atoms in the PLUMED file, or command "
      "reset_atoms id before the fix");
}

// In the first evaluation, PLUMED requests all IDs, but uses only some of them.
void FixCoordPlumed::check_missing_atoms() const
{
  const auto &used = plumed->atoms();
  for (std::size_t k = 0; k < used.id.size() && requests_all(); ++k)
    for (int a = 0; a < 3; ++a)
      if (!atoms->exists(k) && used.force[3 * k + a] != 0.0) fail_for_missing(used.id[k] + 1);
}

// Takes what rank 0 has sent in evaluate_plumed().
void FixCoordPlumed::set_atoms_of_plumed(const std::vector<double> &results)
{
  auto &used = plumed->atoms();
  used.id = requested;
  const double *next = results.data();
  for (auto *column : {&used.x, &used.force}) {
    column->assign(next, next + 3 * requested.size());
    next += 3 * requested.size();
  }
  for (auto *matrix : {&used.box, &used.virial})
    for (auto &row : *matrix)
      for (double &number : row) number = *next++;
  used.stops = static_cast<int>(*next);
}

bool FixCoordPlumed::acts_on_atoms() const
{
  const auto &force = plumed->atoms().force;
  return std::any_of(force.begin(), force.end(), [](double f) {
    return f != 0.0;
  });
}

// PLUMED may not have needed S in the timestep of the restart file.
void FixCoordPlumed::restart(char *buf)
{
  FixCoordBias::restart(buf);
  restart_values.clear();
}

void FixCoordPlumed::add_forces_to(double **force)
{
  FixCoordBias::add_forces_to(force);
  if (acts_on_atoms()) atoms->add_forces_to(force, plumed->atoms().id, plumed->atoms().force);
}

void FixCoordPlumed::add_forces_on_atoms()
{
  const auto &used = plumed->atoms();
  if (acts_on_atoms()) atoms->add_forces(used.id, used.force);
  if (!vflag_global || comm->me != 0) return;
  constexpr int ROW[] = {0, 1, 2, 0, 0, 1}, COLUMN[] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 6; ++k) virial[k] -= used.virial[COLUMN[k]][ROW[k]];
}

double FixCoordPlumed::memory_usage()
{
  return FixCoordBias::memory_usage() + atoms->memory_usage() +
      static_cast<double>(gpucoord::bytes_of(needed, requested));
}
