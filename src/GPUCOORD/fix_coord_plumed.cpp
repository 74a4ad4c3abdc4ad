/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "fix_coord_plumed.h"

#include "bias_arguments.h"
#include "bias_plumed.h"
#include "bias_plumed_input.h"
#include "gpucoord_box_edges.h"
#include "gpucoord_broadcast_text.h"
#include "gpucoord_variable.h"

#include "gpucoord/pairs.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "force.h"
#include "input.h"
#include "output.h"
#include "timer.h"
#include "universe.h"
#include "update.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mpi.h>
#include <stdexcept>
#include <system_error>

using namespace LAMMPS_NS;

/* ----------------------------------------------------------------------
   fix ID all coord/plumed [c_ID [as NAME] ...] plumedfile FILE [outfile FILE] [kernel FILE]
   [temp T]
------------------------------------------------------------------------- */

static constexpr int FIRST_VARIABLE = 3;    // position of its argument

// PLUMED's units of MD programs, in kJ/mol, nm and ps, as in fix plumed.
static void set_units(LAMMPS *lmp, PlumedBias::Settings &settings)
{
  const std::string style = lmp->update->unit_style;
  settings.has_natural_units = style == "lj";
  if (settings.has_natural_units) return;
  const std::pair<const char *, double> energies[] = {{"real", 4.184},
                                                      {"metal", 96.48530749925792},
                                                      {"si", 6.02214076e20},
                                                      {"cgs", 6.0221418e13},
                                                      {"electron", 2625.5257}};
  for (const auto &energy : energies)
    if (style == energy.first) {
      settings.energy_unit = energy.second;
      settings.length_unit = 0.1 / lmp->force->angstrom;
      settings.time_unit = 0.001 / lmp->force->femtosecond;
      return;
    }
  lmp->error->all(FLERR, Error::NOLASTLINE,
                  "Fix coord/plumed knows no units of PLUMED for units {} - use units lj, real, "
                  "metal, si, cgs or electron",
                  style);
}

static void parse_variables(LAMMPS *lmp, int &iarg, int narg, char **arg,
                            gpucoord::BiasContext &context, std::vector<std::string> &names)
{
  auto *const error = lmp->error;
  for (; iarg < narg && utils::strmatch(arg[iarg], "^c_"); ++iarg) {
    const std::string compute_id =
        parse_variable(lmp, iarg, arg, "Fix coord/plumed", "takes", context.names);
    context.names.push_back(compute_id);
    context.labels.emplace_back(arg[iarg]);
    std::string name = compute_id;
    if (iarg + 1 < narg && strcmp(arg[iarg + 1], "as") == 0) {
      if (iarg + 2 >= narg) utils::missing_cmd_args(FLERR, "fix coord/plumed as", error);
      iarg += 2;
      name = arg[iarg];
    }
    if (std::find(names.begin(), names.end(), name) != names.end())
      error->all(FLERR, iarg,
                 "Fix coord/plumed: the name {} is given twice - give each variable another name, "
                 "as c_ID as NAME",
                 name);
    names.push_back(name);
  }
}

// PLUMED takes the standard output where it cannot write its log. A file that does not exist yet is
// left so, because PLUMED keeps an existing one as a backup.
static void check_log(const std::string &file)
{
  if (file.empty()) return;
  std::error_code ignored;
  const bool existed = std::filesystem::exists(file, ignored);
  FILE *const opened = fopen(file.c_str(), "a");
  if (!opened)
    throw std::runtime_error("PLUMED's log " + file + " cannot be written: " + strerror(errno) +
                             " - give a file in another folder after outfile");
  fclose(opened);
  if (!existed) platform::unlink(file);
}

// PLUMED's atoms are those of the IDs from 1 to this one. Collective.
static int largest_id(LAMMPS *lmp)
{
  const auto *const atom = lmp->atom;
  bigint mine = 0, largest;
  for (int i = 0; i < atom->nlocal && atom->tag_enable; ++i)
    mine = MAX(mine, static_cast<bigint>(atom->tag[i]));
  MPI_Allreduce(&mine, &largest, 1, MPI_LMP_BIGINT, MPI_MAX, lmp->world);
  if (largest > MAXSMALLINT)
    lmp->error->all(FLERR, Error::NOLASTLINE,
                    "Fix coord/plumed: the largest ID of an atom is {}, and PLUMED takes at most "
                    "{} - use command reset_atoms id",
                    largest, MAXSMALLINT);
  return static_cast<int>(largest);
}

// An error of rank 0 ends all ranks.
static std::unique_ptr<gpucoord::Bias> make_plumed_bias(LAMMPS *lmp, int narg, char **arg)
{
  auto *const error = lmp->error;
  gpucoord::BiasContext context;
  PlumedBias::Settings settings;
  int iarg = FIRST_VARIABLE;
  parse_variables(lmp, iarg, narg, arg, context, settings.names);

  const std::string id = arg[0];
  context.say = [lmp, id](const std::string &text) {
    if (lmp->comm->me == 0) utils::logmesg(lmp, "Fix coord/plumed {}: {}\n", id, text);
  };

  std::string kernel_file;
  int position_of_file = Error::COMMAND, position_of_kernel = Error::COMMAND;
  int position_of_log = Error::COMMAND;
  for (; iarg < narg; iarg += 2) {
    const std::string keyword = arg[iarg];
    if (keyword != "plumedfile" && keyword != "outfile" && keyword != "kernel" && keyword != "temp")
      error->all(FLERR, iarg,
                 "Unknown fix coord/plumed keyword: {} - known are plumedfile, outfile, kernel, "
                 "temp, after variables, as c_ID or c_ID as NAME",
                 keyword);
    if (iarg + 1 >= narg) utils::missing_cmd_args(FLERR, "fix coord/plumed " + keyword, error);
    const std::string value = arg[iarg + 1];
    if (keyword == "plumedfile") {
      settings.file = value;
      position_of_file = iarg + 1;
    } else if (keyword == "outfile") {
      settings.log_file = value;
      // as fix plumed
      if (lmp->universe->existflag) settings.log_file += fmt::format(".{}", lmp->universe->iworld);
      position_of_log = iarg + 1;
    } else if (keyword == "kernel") {
      kernel_file = value;
      position_of_kernel = iarg + 1;
    } else {
      const double temperature = utils::numeric(FLERR, value, false, lmp);
      if (!(temperature > 0.0))
        error->all(FLERR, iarg + 1, "Fix coord/plumed temp is {} but must be > 0", temperature);
      settings.kbt = lmp->force->boltz * temperature;
    }
  }
  if (settings.file.empty())
    error->all(FLERR, Error::COMMAND,
               "Fix coord/plumed needs PLUMED's input - give it by plumedfile FILE");
  set_units(lmp, settings);
  settings.natoms = largest_id(lmp);

  std::shared_ptr<const PlumedKernel> kernel;
  std::unique_ptr<gpucoord::Bias> bias;
  std::string failure;
  int position = position_of_kernel;
  if (lmp->comm->me == 0) {
    try {
      kernel = std::make_shared<const PlumedKernel>(kernel_file,
                                                    reinterpret_cast<const void *>(&MPI_Init));
      position = position_of_log;
      check_log(settings.log_file);
      position = position_of_file;
      const PlumedInput input(settings.file);
      settings.checksum = input.checksum();
      bias = std::make_unique<PlumedBias>(context, settings, kernel, &input);
    } catch (const std::exception &e) {
      failure = e.what();
    }
  }
  broadcast_text(failure, 0, lmp->world);
  MPI_Bcast(&position, 1, MPI_INT, 0, lmp->world);
  if (!failure.empty()) error->all(FLERR, position, "Fix coord/plumed: {}", failure);
  bigint checksum = settings.checksum;
  MPI_Bcast(&checksum, 1, MPI_LMP_BIGINT, 0, lmp->world);
  settings.checksum = checksum;
  if (!bias) bias = std::make_unique<PlumedBias>(context, settings, nullptr, nullptr);
  return bias;
}

FixCoordPlumed::FixCoordPlumed(LAMMPS *lmp, int narg, char **arg) :
    FixCoordBias(lmp, narg, arg, "coord/plumed", make_plumed_bias), dt(0.0), is_first(true),
    is_new(true), warned_of_all(false), plumed(static_cast<PlumedBias *>(bias.get())),
    may_be_known(false)
{
  needed.assign(bias->nvariables(), 1);
}

/* ---------------------------------------------------------------------- */

void FixCoordPlumed::init()
{
  if (!has_begun) dt = update->dt;
  if (dt != update->dt)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: the timestep has changed from {} to {}, which PLUMED cannot take - define the "
               "fix again after command timestep, with RESTART as the first command of the PLUMED "
               "file to go on with its files",
               owner, dt, update->dt);
  FixCoordBias::init();
}

// A run that PLUMED has ended is not the last one.
void FixCoordPlumed::post_run()
{
  FixCoordBias::post_run();
  if (!plumed->atoms().stops) return;
  if (comm->me == 0) utils::logmesg(lmp, "{}: PLUMED ended the run\n", owner);
  plumed->atoms().stops = 0;
  timer->reset_timeout();
}

// fix dt/reset
void FixCoordPlumed::reset_dt()
{
  if (update->whichflag && dt != update->dt)    // not command timestep: see init()
    error->all(FLERR, Error::NOLASTLINE,
               "{}: a fix such as dt/reset changes the timestep from {} to {}, which PLUMED cannot "
               "take - use a fixed timestep",
               owner, dt, update->dt);
}

// PLUMED deposits nothing in a minimization.
void FixCoordPlumed::min_setup(int vflag)
{
  first_of_minimization = update->ntimestep;
  apply(vflag, Moment::MINIMIZATION);
}

/* ----------------------------------------------------------------------
   PLUMED says what it needs before the variables are evaluated, except at the setup of a run that
   goes on: see apply().
------------------------------------------------------------------------- */

void FixCoordPlumed::prepare(Moment moment)
{
  const bool is_rerun = input->command && strcmp(input->command, "rerun") == 0;
  may_be_known = moment == Moment::SETUP && plumed->known_step() != PlumedBias::NONE && !is_rerun;
  std::fill(needed.begin(), needed.end(), 1);
  if (!may_be_known) prepare_plumed();
}

void FixCoordPlumed::prepare_plumed()
{
  const bool is_checkpoint = update->ntimestep == output->next_restart ||
      update->ntimestep == update->laststep;
  call_bias([&] {
    const auto &needs = plumed->prepare(update->ntimestep, current_box(), is_checkpoint);
    needed = needs.variables;
    requested = needs.atoms;
  });
  MPI_Bcast(needed.data(), static_cast<int>(needed.size()), MPI_INT, 0, world);
  int n = static_cast<int>(requested.size());
  MPI_Bcast(&n, 1, MPI_INT, 0, world);
  requested.resize(n);
  MPI_Bcast(requested.data(), n, MPI_INT, 0, world);
  const bool needs_all = !is_first && n > 1 && n == plumed->natoms();
  if (needs_all && !warned_of_all && comm->me == 0)
    utils::logmesg(
        lmp,
        "{}: PLUMED asks for all {} atoms, which pass through rank 0 in each timestep in "
        "which it does, as with fix plumed\n",
        owner, n);
  warned_of_all |= needs_all;
  collect_atoms();
}

PlumedBias::Matrix FixCoordPlumed::current_box() const
{
  double edges[3][3];
  get_box_edges(domain, edges);
  PlumedBias::Matrix box;
  for (int a = 0; a < 3; ++a) std::copy_n(edges[a], 3, box[a].begin());
  return box;
}

unsigned FixCoordPlumed::want(int vflag) const
{
  const bool needs_any = std::any_of(needed.begin(), needed.end(), [](int is_needed) {
    return is_needed != 0;
  });
  return needs_any ? FixCoordBias::want(vflag) : 0;
}

/* ---------------------------------------------------------------------- */

void FixCoordPlumed::apply(int vflag, Moment moment, int level)
{
  board->announce(this, vflag, moment, level);
  v_init(vflag);
  board->evaluate(this);
  std::vector<double> s = bias->state().s;
  for (std::size_t v = 0; v < found.size(); ++v)
    if (found[v]->is_known()) s[v] = found[v]->value();

  const bool is_same = may_be_known && is_same_configuration(s);
  const bool is_known = is_same && plumed->known_step() == update->ntimestep;
  if (!is_known)
    evaluate_plumed(moment, s, is_same);
  else if (is_new) {
    // PLUMED gets the first step of a restarted run, but its forces are those that are known.
    const gpucoord::BiasState state = bias->state();
    const PlumedBias::Atoms atoms = plumed->atoms();
    evaluate_plumed(moment, s, is_same);
    bias->take(state);
    plumed->atoms() = atoms;
    plumed->set_known_step(update->ntimestep);
  }
  if (is_known) take_known_forces(s);
  is_enqueued = false;
  add_forces();
  add_forces_on_atoms();
  if (plumed->atoms().stops) timer->force_timeout();
}

// Collective. is_same: PLUMED has had this configuration.
void FixCoordPlumed::evaluate_plumed(Moment moment, const std::vector<double> &s, bool is_same)
{
  plumed->set_known_step(PlumedBias::NONE);    // until all ranks have the results
  if (may_be_known) prepare_plumed();
  const auto step = step_of(moment);
  call_bias([&] {
    // PLUMED deposits nothing in its first step, which a restarted run repeats. A configuration
    // that PLUMED has had is not a new timestep, whatever its number (reset_timestep).
    plumed->update_at_setup(is_new || (!is_same && !plumed->is_done(step.number)));
    bias->evaluate(step, s.data());
    check_missing_atoms();
  });
  share_state();
  share_atoms();
  if (asks_for_all())
    is_first = false;
  else
    plumed->set_known_step(update->ntimestep);
  is_new = false;
}

// The forces are those of an unbroken run, in which a hill of this timestep acts from the next one
// on. S may have another rounding than in the last evaluation.
void FixCoordPlumed::take_known_forces(const std::vector<double> &s)
{
  gpucoord::BiasState state = bias->state();
  for (std::size_t v = 0; v < s.size(); ++v) state.energy += state.dVdS[v] * (s[v] - state.s[v]);
  state.s = s;
  bias->take(state);
}

// Collective. Whether variables, atoms and box are those of the last evaluation.
bool FixCoordPlumed::is_same_configuration(const std::vector<double> &s)
{
  constexpr double ROUNDING = 1e-12, ROUNDING_OF_S = 1e-6;    // sums of float terms
  int differs = current_box() == plumed->atoms().box ? 0 : 1;
  for (std::size_t v = 0; v < s.size(); ++v)
    if (!(std::fabs(s[v] - bias->state().s[v]) <= ROUNDING_OF_S * std::max(1.0, std::fabs(s[v]))))
      differs = 1;
  const auto &atoms = plumed->atoms();
  if (!atoms.id.empty()) atoms_to_host();
  for (std::size_t k = 0; k < atoms.id.size(); ++k) {
    const int i = atom->map(atoms.id[k] + 1);
    if (i < 0 || i >= atom->nlocal) continue;
    double d[3];
    for (int a = 0; a < 3; ++a) d[a] = atom->x[i][a] - atoms.x[3 * k + a];
    domain->minimum_image(FLERR, d[0], d[1], d[2]);
    for (const double component : d)
      if (!(std::fabs(component) <= ROUNDING * domain->xprd)) differs = 1;
  }
  int any;
  MPI_Allreduce(&differs, &any, 1, MPI_INT, MPI_MAX, world);
  return !any;
}

/* ----------------------------------------------------------------------
   Atoms that PLUMED asks for: x, mass and charge of each come from its owner.
------------------------------------------------------------------------- */

// In the first evaluation.
bool FixCoordPlumed::asks_for_all() const
{
  return is_first && !requested.empty() && static_cast<int>(requested.size()) == plumed->natoms();
}

void FixCoordPlumed::collect_atoms()
{
  constexpr int COLUMNS = 6;
  const std::size_t n = requested.size();
  if (n > static_cast<std::size_t>(MAXSMALLINT / COLUMNS))
    error->all(
        FLERR, Error::NOLASTLINE,
        "{}: PLUMED asks for {} atoms, and MPI takes at most {} - use command reset_atoms id, "
        "or fewer atoms",
        owner, n, MAXSMALLINT / COLUMNS);
  std::vector<double> mine(COLUMNS * n, 0.0), all(COLUMNS * n);
  const auto put = [&](int i, std::size_t k) {
    double *const row = &mine[COLUMNS * k];
    std::copy_n(atom->x[i], 3, row);
    row[3] = atom->rmass_flag ? atom->rmass[i] : atom->mass[atom->type[i]];
    row[4] = atom->q_flag ? atom->q[i] : 0.0;
    row[5] = 1.0;    // it exists
  };
  if (n) atoms_to_host();
  const bool has_all = asks_for_all();
  if (has_all) {
    // in the order of their IDs, also of those that do not exist
    for (int i = 0; i < atom->nlocal && atom->tag_enable; ++i)
      if (atom->tag[i] <= static_cast<tagint>(n))
        put(i, static_cast<std::size_t>(atom->tag[i]) - 1);
  } else if (n) {
    if (atom->map_style == Atom::MAP_NONE) fail_without_map();
    for (std::size_t k = 0; k < n; ++k) {
      const int i = atom->map(requested[k] + 1);
      if (i >= 0 && i < atom->nlocal) put(i, k);
    }
  }
  MPI_Reduce(mine.data(), all.data(), static_cast<int>(COLUMNS * n), MPI_DOUBLE, MPI_SUM, 0, world);
  std::vector<double> x(3 * n), mass(n), charge(n);
  exists.assign(n, 1);
  for (std::size_t k = 0; k < n; ++k) {
    std::copy_n(&all[COLUMNS * k], 3, &x[3 * k]);
    mass[k] = all[COLUMNS * k + 3];
    charge[k] = all[COLUMNS * k + 4];
    exists[k] = all[COLUMNS * k + 5] == 1.0;
  }
  call_bias([&] {
    for (std::size_t k = 0; k < n && !has_all; ++k)
      if (!exists[k]) fail_for_missing(requested[k] + 1);
    plumed->give_atoms(x, mass, charge);
  });
}

void FixCoordPlumed::fail_without_map() const
{
  error->all(
      FLERR, Error::NOLASTLINE,
      "{}: PLUMED asks for atoms, which are found by their IDs - use atom_modify map array or "
      "hash, or leave atoms out of the PLUMED file",
      owner);
}

void FixCoordPlumed::fail_for_missing(int atom_id)
{
  throw std::runtime_error(
      "PLUMED asks for the atom of ID " + std::to_string(atom_id) +
      ", which does not exist - use other atoms in the PLUMED file, or command "
      "reset_atoms id before the fix");
}

// In the first evaluation PLUMED asks for all IDs, and uses some of them.
void FixCoordPlumed::check_missing_atoms() const
{
  const auto &atoms = plumed->atoms();
  for (std::size_t k = 0; k < atoms.id.size() && asks_for_all(); ++k)
    for (int a = 0; a < 3; ++a)
      if (!exists[k] && atoms.force[3 * k + a] != 0.0) fail_for_missing(atoms.id[k] + 1);
}

void FixCoordPlumed::share_atoms()
{
  auto &atoms = plumed->atoms();
  if (comm->me != 0) {
    atoms.id = requested;
    atoms.x.resize(3 * requested.size());
    atoms.force.resize(3 * requested.size());
  }
  const int n = static_cast<int>(atoms.x.size());
  MPI_Bcast(atoms.x.data(), n, MPI_DOUBLE, 0, world);
  MPI_Bcast(atoms.force.data(), n, MPI_DOUBLE, 0, world);
  MPI_Bcast(&atoms.box, 9, MPI_DOUBLE, 0, world);
  MPI_Bcast(&atoms.virial, 9, MPI_DOUBLE, 0, world);
  MPI_Bcast(&atoms.stops, 1, MPI_INT, 0, world);
}

void FixCoordPlumed::add_forces_on_atoms()
{
  const auto &atoms = plumed->atoms();
  const bool acts = std::any_of(atoms.force.begin(), atoms.force.end(), [](double f) {
    return f != 0.0;
  });
  if (acts && atom->map_style == Atom::MAP_NONE) fail_without_map();
  if (acts) {
    atoms_to_host();
    for (std::size_t k = 0; k < atoms.id.size(); ++k) {
      const int i = atom->map(atoms.id[k] + 1);
      if (i < 0 || i >= atom->nlocal) continue;
      for (int a = 0; a < 3; ++a) atom->f[i][a] += atoms.force[3 * k + a];
    }
    forces_changed_on_host();
  }
  if (!vflag_global || comm->me != 0) return;
  constexpr int ROW[] = {0, 1, 2, 0, 0, 1}, COLUMN[] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 6; ++k) virial[k] -= atoms.virial[COLUMN[k]][ROW[k]];
}

double FixCoordPlumed::memory_usage()
{
  return FixCoordBias::memory_usage() +
      7.0 * static_cast<double>(requested.size()) * sizeof(double);
}
