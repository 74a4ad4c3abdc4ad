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

#include "fix_coord_bias.h"

#include "bias_arguments.h"
#include "gpucoord_variable.h"

#include "gpucoord/pairs.h"

#include "comm.h"
#include "compute.h"
#include "error.h"
#include "force.h"
#include "input.h"
#include "modify.h"
#include "timer.h"
#include "update.h"
#include "variable.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

using namespace LAMMPS_NS;
using namespace FixConst;

// First number of the state in restart files: minus the version of the format. The size of an
// Archive in bytes follows, as an int, and then the Archive, with ArchiveParts. LAMMPS does not
// pass the size of the state, so it is read in place: a wrong size is noticed before it is used.
// Parts have versions of their own.
static constexpr double ARCHIVE = -2.0;
// Largest version that a damaged number is not taken for.
static constexpr double LAST_FORMAT = 100.0;
// Before version 1.0, states began with an integer from 0 to less than this, and had no format.
static constexpr double END_OF_UNVERSIONED = 2000.0;

/* ---------------------------------------------------------------------- */

FixCoordBias::FixCoordBias(LAMMPS *lmp, int narg, char **arg) :
    FixCoordBias(lmp, narg, arg, "coord/bias", parse_bias)
{
}

FixCoordBias::FixCoordBias(LAMMPS *lmp, int narg, char **arg, const std::string &style_name,
                           const MakeBias &make_bias) :
    Fix(lmp, narg, arg),
    owner(fmt::format("Fix {} {}", style_name, id)), first_step(update->ntimestep),
    restart_step(gpucoord::BiasStart::NONE), has_begun(false), is_set_up(false),
    warned_of_rerun(false), step_of_forces(-1), strength_of_forces(0.0), is_announced(false),
    has_joined(false), respa(lmp), first_of_minimization(0)
{
  if (igroup != 0)
    error->all(FLERR, 1,
               "Fix {} group must be all, not {}: forces act on the atoms of the computes' "
               "groups - use group all, and choose atoms by the groups of the computes",
               style_name, arg[1]);
  bias = make_bias(lmp, narg, arg);
  for (int v = 0; v < bias->nvariables(); ++v) serials.push_back(variable_of(v)->serial());
  evaluation = std::make_unique<BiasEvaluation>(lmp, owner, *bias, *this);
  its_surroundings = std::make_unique<BiasSurroundings>(lmp, this, owner, *bias);

  scalar_flag = 1;
  extscalar = 1;
  vector_flag = 1;
  extvector = 0;
  size_vector = static_cast<int>(bias->outputs().size());
  global_freq = 1;
  energy_global_flag = virial_global_flag = virial_peratom_flag = 1;
  thermo_energy = thermo_virial = 1;
  respa_level_support = 1;
  restart_global = 1;
  time_depend = bias->moves() ? 1 : 0;

  // A pressure may be requested before the first evaluation.
  std::fill(virial, virial + 6, 0.0);
  print_outputs();
}

// Prints the components of the vector. A variable and the values that do not belong to a variable
// begin a line.
void FixCoordBias::print_outputs() const
{
  std::string mesg = fmt::format("{}: f_{} is V, and", owner, id);
  const auto &labels = bias->labels();
  for (std::size_t k = 0; k < bias->outputs().size(); ++k) {
    const std::string &name = bias->outputs()[k].name;
    const bool begins_line = name == "work" ||
        std::find(labels.begin(), labels.end(), name) != labels.end();
    mesg += fmt::format("{}f_{}[{}] = {}", begins_line ? "\n  " : ", ", id, k + 1, name);
  }
  if (comm->me == 0) utils::logmesg(lmp, mesg + "\n");
}

int FixCoordBias::setmask()
{
  return POST_FORCE | POST_FORCE_RESPA | MIN_POST_FORCE;
}

/* ---------------------------------------------------------------------- */

void FixCoordBias::init()
{
  is_announced = false;
  find_variables();
  evaluation->begin_run();
  surroundings().check_order_of_fixes(!is_set_up);
  if (!scaled_forces(refs).empty()) surroundings().check_scaled_forces();
  its_surroundings->begin_run();
  bias->set_walls_of_others(surroundings().walls_of_others());
  respa.find(this);
  check_energies();

  if (!has_begun) begin();
  if (comm->me == 0) print_setup();
  const std::string warning = bias->warning_of_rerun();
  if (!warning.empty() && !warned_of_rerun && is_rerun()) {
    if (comm->me == 0) error->warning(FLERR, "{}: {}", owner, warning);
    warned_of_rerun = true;
  }
  is_set_up = true;
}

/* ---------------------------------------------------------------------- */

std::string FixCoordBias::compute_id(std::size_t v) const
{
  return VariableWord(bias->labels()[v]).compute_id;
}

CollectiveVariable *FixCoordBias::variable_of(std::size_t v) const
{
  return dynamic_cast<CollectiveVariable *>(modify->get_compute_by_id(compute_id(v)));
}

int FixCoordBias::groups() const
{
  int bits = 0;
  for (const VariableRef &ref : refs) bits |= ref.compute->groups();
  return bits;
}

/* ----------------------------------------------------------------------
   Variables of the input script may be redefined. Computes must not be.
------------------------------------------------------------------------- */

void FixCoordBias::find_variables()
{
  refs.clear();
  for (std::size_t v = 0; v < serials.size(); ++v) {
    const std::string name = compute_id(v);
    auto *const variable = variable_of(v);
    if (!variable)
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: compute {} no longer exists - keep it "
                 "while the fix uses it",
                 owner, name);
    if (variable->serial() != serials[v])
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: compute {} was deleted and defined again - define the fix again after the "
                 "compute",
                 owner, name);
    const std::string dynamic = variable->dynamic_group();
    if (!dynamic.empty())
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: group {} of compute {} is dynamic, so S and the bias would "
                 "jump - use a static "
                 "group, and a switching function that lets atoms in and out smoothly",
                 owner, dynamic, name);
    refs.push_back(VariableWord(bias->labels()[v]).ref(variable));
  }
  for (const auto &name : bias->caller_variables()) {
    const int ivar = input->variable->find(name.c_str());
    if (ivar < 0)
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: variable {} does not exist - define it before the run", owner, name);
    if (!input->variable->equalstyle(ivar))
      error->all(FLERR, Error::NOLASTLINE, "{}: variable {} must be of style equal or similar",
                 owner, name);
  }
}

// In the last evaluation of a timestep, the energies of other fixes must be those of this timestep.
void FixCoordBias::check_energies() const
{
  for (const auto &other : bias->caller_energies()) {
    const Fix *const fix = modify->get_fix_by_id(other);
    if (!fix)
      error->all(FLERR, Error::NOLASTLINE, "{}: fix {} does not exist - define it before this fix",
                 owner, other);
    if (!fix->scalar_flag)
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: fix {} of style {} has no energy, which is a global scalar - give keyword "
                 "extra another fix, or leave it out",
                 owner, other, fix->style);
    if (modify->find_fix(other) >= modify->find_fix(id))
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: fix {} must be defined before this fix, so that its energy is that of the "
                 "same timestep",
                 owner, other);
    if (respa.index_of(fix) > respa.index())
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: fix {} has rRESPA level {}, and this fix has level {}, which is evaluated "
                 "before it - use fix_modify {} respa {}, so that the energy is that of the same "
                 "timestep",
                 owner, other, respa.index_of(fix) + 1, respa.index() + 1, id,
                 respa.index_of(fix) + 1);
    const auto *const its = dynamic_cast<const FixCoordBias *>(fix);
    const bigint every = bias->next_set(0);
    if (its && every % its->bias->stride())
      error->all(
          FLERR, Error::NOLASTLINE,
          "{}: fix {} has stride {}, but its energy is needed every {} steps - use multiples "
          "of its stride",
          owner, other, its->bias->stride(), every);
  }
}

/* ---------------------------------------------------------------------- */

bool FixCoordBias::is_rerun() const
{
  return input->command && strcmp(input->command, "rerun") == 0;
}

// Prints once, and again after a change. rerun calls init() for each frame.
void FixCoordBias::print_setup()
{
  std::string mesg = fmt::format("{}: {} bias of", owner, bias->kind());
  for (const auto &label : bias->labels()) mesg += " " + label;
  mesg += bias->stride() == 1
      ? ", at every step\n"
      : fmt::format(", every {} steps and {} times as strong\n", bias->stride(), bias->stride());
  mesg += "  " + bias->formula(first_step) + "\n";
  if (mesg != printed) utils::logmesg(lmp, mesg);
  printed = mesg;
}

/* ---------------------------------------------------------------------- */

void FixCoordBias::begin()
{
  gpucoord::BiasStart start;
  start.is_restarted = restart_step != gpucoord::BiasStart::NONE;
  start.restart_step = restart_step;
  start.timestep = update->dt;
  start.is_rerun = is_rerun();
  its_surroundings->add_written_files(bias->written_files());
  evaluation->call_and_share([&] {
    bias->begin(start);
  });
  has_begun = true;
}

/* ---------------------------------------------------------------------- */

BiasNeeds FixCoordBias::begin_evaluation(int vflag, Phase phase)
{
  check_variables();
  announce_next();
  return {want(vflag), evaluation->needs_values(step_of(phase))};
}

void FixCoordBias::announce_next() const
{
  const bigint next = (update->ntimestep / bias->stride() + 1) * bias->stride();
  for (ScaledForces *forces : scaled_forces(refs)) forces->announce_next(next);
}

unsigned FixCoordBias::want(int vflag) const
{
  if (!is_due()) return 0;
  // Same test as in v_init(), which runs later.
  unsigned wanted = gpucoord::DERIVATIVES;
  if (!thermo_virial) return wanted;
  if (vflag & (VIRIAL_PAIR | VIRIAL_FDOTR)) wanted |= gpucoord::VIRIAL;
  if (vflag & (VIRIAL_ATOM | VIRIAL_CENTROID)) wanted |= gpucoord::VIRIAL | gpucoord::ATOM_VIRIAL;
  return wanted;
}

bool FixCoordBias::is_due() const
{
  return update->whichflag == 2 || update->ntimestep % bias->stride() == 0;
}

// LAMMPS does not call init() with run pre no.
void FixCoordBias::check_variables() const
{
  for (std::size_t v = 0; v < serials.size(); ++v)
    if (refs.empty() || !refs[v].is_alive())
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: the fix or compute {} was defined or deleted after the last "
                 "setup - use run without pre no",
                 owner, compute_id(v));
}

// Called only with KOKKOS; see setmask() of the KOKKOS fix.
void FixCoordBias::post_neighbor()
{
  check_variables();
  for (const VariableRef &ref : refs) ref.compute->reneighbored(is_due());
}

// Called only with KOKKOS on a GPU, by fix coord/bias on several ranks alone; see setmask() of the
// KOKKOS fixes. Minimizations and rRESPA do not call it.
void FixCoordBias::pre_force(int vflag)
{
  evaluation->announce(vflag, Phase::LAST_OF_STEP, BiasBoard::ALL_LEVELS);
  is_announced = true;
  evaluation->start_variables();
}

// is_announced is stale if an error ended the last timestep after pre_force(). The setup therefore
// announces in any case.
void FixCoordBias::announce(int vflag, Phase phase, int level)
{
  if (!is_announced || phase == Phase::SETUP) evaluation->announce(vflag, phase, level);
  is_announced = false;
}

/* ---------------------------------------------------------------------- */

void FixCoordBias::setup(int vflag)
{
  bias->begin_run(update->ntimestep);
  has_joined = false;
  join_run();
  respa.begin_setup();
  apply(vflag, Phase::SETUP);
  respa.end_setup();
  compare_with_restart();
  if (surroundings().has_dynamics())
    evaluation->check_frequencies(bias->stride() * respa.timestep());
}

// Collective. Other walkers wait for this one in each run, also in those with pre no, which have no
// setup.
void FixCoordBias::join_run()
{
  if (has_joined || !bias->has_walkers() || update->whichflag == 2 || is_rerun()) return;
  evaluation->call([&] {
    bias->join_run(update->firststep, update->laststep);
  });
  has_joined = true;
}

// Collective. A variable that is defined differently than in the earlier run would make S jump.
// Constraints and barostats may have moved atoms a little since.
void FixCoordBias::compare_with_restart()
{
  constexpr double SAME = 1e-3, ROUNDING = 1e-6;
  if (restart_values.empty()) return;
  if (restart_step == update->ntimestep) {
    const auto &now = evaluation->state().s;
    for (std::size_t v = 0; v < now.size(); ++v) {
      const double saved = restart_values[v];
      const double largest = MAX(std::fabs(now[v]), std::fabs(saved));
      const double limit =
          SAME * largest + ROUNDING + refs[v].compute->rounding() * MAX(1.0, largest);
      const double change = bias->period(static_cast<int>(v)).difference(now[v], saved);
      if (std::fabs(change) > limit && comm->me == 0)
        error->warning(FLERR,
                       "{}: {} is {:.6g} at the step of the restart file, but in the earlier run "
                       "it was {:.6g} - unless atoms or the box have changed since, check that the "
                       "variable and its groups are those of that run",
                       owner, bias->labels()[v], now[v], saved);
    }
  }
  restart_values.clear();
}

void FixCoordBias::min_setup(int vflag)
{
  first_of_minimization = update->ntimestep;
  apply(vflag, Phase::SETUP);
}

// rerun calls this after the last frame.
void FixCoordBias::post_run()
{
  evaluation->end_run();
  if (bias->has_walkers()) {
    join_run();    // pre no without a timestep
    std::vector<double> must_end(1);
    evaluation->call(
        [&] {
          must_end[0] = bias->leave_run(update->ntimestep);
        },
        must_end);
    if (must_end[0] != 0.0) timer->force_timeout();
    has_joined = false;
  }
  std::string summary;
  evaluation->call([&] {
    summary = bias->summary();
  });
  if (!summary.empty() && comm->me == 0) utils::logmesg(lmp, "{}: {}\n", owner, summary);
  warned_of_rerun = false;
  // k and s0 move in time, and time does not advance in a minimization.
  if (update->whichflag == 2) first_step += update->ntimestep - first_of_minimization;
}

void FixCoordBias::post_force(int vflag)
{
  join_run();
  apply(vflag, Phase::LAST_OF_STEP);
  its_surroundings->check_thermostats();
}

void FixCoordBias::post_force_respa(int vflag, int ilevel, int /*iloop*/)
{
  if (ilevel != respa.index()) return;
  const bool is_last = respa.is_last_evaluation();
  apply(vflag, is_last ? Phase::LAST_OF_STEP : Phase::STEP, ilevel);
  if (is_last) its_surroundings->check_thermostats();
}

void FixCoordBias::min_post_force(int vflag)
{
  apply(vflag, Phase::MINIMIZATION);
}

/* ---------------------------------------------------------------------- */

void FixCoordBias::apply(int vflag, Phase phase, int level)
{
  announce(vflag, phase, level);
  v_init(vflag);
  if (!is_due()) {
    step_of_forces = update->ntimestep;
    strength_of_forces = 0.0;
    // Variables of the input script may need computes. These must be announced one evaluation
    // earlier.
    if (phase == Phase::SETUP && (bias->moves() || !bias->caller_variables().empty()))
      modify->addstep_compute_all(bias->next_set(update->ntimestep));
    return;
  }
  const auto step = step_of(phase);
  try {
    evaluation->set_parameters(step);
    evaluation->evaluate(step, strength());
  } catch (const std::exception &e) {
    // Other walkers stop with this error, also where LAMMPS is a library and aborts nobody.
    const std::string begin = "ERROR: ", text = e.what();
    if (bias->has_walkers() && comm->me == 0)
      bias->fail(utils::trim(text.rfind(begin, 0) == 0 ? text.substr(begin.size()) : text));
    throw;
  }
  add_forces();
}

gpucoord::Step FixCoordBias::step_of(Phase phase) const
{
  gpucoord::Step step;
  step.phase = phase;
  step.timestep = update->ntimestep;
  step.elapsed = update->ntimestep - first_step;
  step.time =
      update->atime + static_cast<double>(update->ntimestep - update->atimestep) * update->dt;
  return step;
}

/* ---------------------------------------------------------------------- */

// A bias that acts every n-th timestep is n times as strong.
double FixCoordBias::strength() const
{
  return update->whichflag == 2 ? 1.0 : bias->stride();
}

void FixCoordBias::add_forces()
{
  step_of_forces = update->ntimestep;
  strength_of_forces = strength();
  evaluation->add_forces(strength());
  if (!vflag_global && !vflag_atom) return;
  for_each_compute(
      refs, bias->factors(strength()),
      [this](const CollectiveVariable *variable, const gpucoord::ItemFactors &factors) {
        // W is the sum over all ranks. LAMMPS adds the virials of the ranks.
        if (vflag_global && comm->me == 0) variable->add_virial(factors, virial);
        if (vflag_atom) variable->add_atom_virial(factors, vatom);
      });
}

/* ---------------------------------------------------------------------- */

bool FixCoordBias::has_forces_of_this_step() const
{
  return step_of_forces == update->ntimestep;
}

void FixCoordBias::add_forces_to(double **force)
{
  check_variables();
  std::vector<double> dVdS = evaluation->state().dVdS;
  // All ranks must agree on the variables to evaluate.
  MPI_Bcast(dVdS.data(), static_cast<int>(dVdS.size()), MPI_DOUBLE, 0, world);
  const auto board = BiasBoard::get(lmp);
  for (double &number : dVdS) number *= -strength_of_forces;
  for_each_compute(refs, dVdS,
                   [&](CollectiveVariable *variable, const gpucoord::ItemFactors &factors) {
                     board->evaluate_now(variable, gpucoord::DERIVATIVES);
                     variable->add_gradients(factors, force, 0);
                   });
}

/* ---------------------------------------------------------------------- */

double FixCoordBias::compute_scalar()
{
  return evaluation->state().energy;
}

double FixCoordBias::compute_vector(int n)
{
  return evaluation->output(n);
}

/* ---------------------------------------------------------------------- */

void FixCoordBias::write_restart(FILE *fp)
{
  evaluation->state();    // waits for the last evaluation
  if (comm->me != 0) return;
  gpucoord::Archive own, archive;
  own.write(bias->kind());
  own.write(static_cast<std::int64_t>(bias->nvariables()));
  own.write(static_cast<std::int64_t>(first_step));
  gpucoord::ArchiveParts parts;
  parts.add("fix", 1, own);
  bias->save(parts);
  // S in the state is that of this timestep.
  if (step_of_forces == update->ntimestep && strength_of_forces != 0.0)
    parts.add("current", 1, gpucoord::Archive());
  parts.write(archive);
  const int size_of_archive = static_cast<int>(archive.bytes().size());
  const int size = static_cast<int>(sizeof(ARCHIVE) + sizeof(int)) + size_of_archive;
  fwrite(&size, sizeof(int), 1, fp);
  fwrite(&ARCHIVE, sizeof(ARCHIVE), 1, fp);
  fwrite(&size_of_archive, sizeof(int), 1, fp);
  fwrite(archive.bytes().data(), 1, archive.bytes().size(), fp);
}

void FixCoordBias::restart(char *buf)
{
  struct {
    std::string kind;
    std::int64_t nvariables = 0, first_step = 0;
    bool has_values = false;
    gpucoord::ArchiveParts parts;
  } saved;
  double begin;
  memcpy(&begin, buf, sizeof(begin));
  try {
    const bool is_unversioned = begin >= 0.0 && begin < END_OF_UNVERSIONED;
    const bool is_format = begin < 0.0 && begin >= -LAST_FORMAT && begin == std::floor(begin);
    if (is_unversioned || (is_format && begin != ARCHIVE))
      throw std::runtime_error(fmt::format(
          "the restart file has its state in {}, but this version of GPUCOORD needs format {} - "
          "continue with the version that wrote it, or use another fix ID",
          is_unversioned ? "a format from before version 1.0" : fmt::format("format {}", -begin),
          -ARCHIVE));
    int size;
    memcpy(&size, buf + sizeof(begin), sizeof(size));
    if (begin != ARCHIVE || size < 0) throw gpucoord::ArchiveParts::damaged();
    auto state = gpucoord::Archive::of_bytes(buf + sizeof(begin) + sizeof(size), size);
    saved.parts = gpucoord::ArchiveParts(state);
    saved.parts.take("fix", 1, [&saved](gpucoord::Archive &own) {
      saved.kind = own.read_text();
      saved.nvariables = own.read_integer();
      saved.first_step = own.read_integer();
    });
    saved.has_values = saved.parts.has("current");
    if (saved.has_values)
      saved.parts.take("current", 1, [](gpucoord::Archive &) {
      });
    if (!utils::strmatch(saved.kind, "^[a-zA-Z/]+$")) throw gpucoord::ArchiveParts::damaged();
  } catch (const std::runtime_error &e) {
    error->all(FLERR, Error::NOLASTLINE, "{}: {}", owner, e.what());
  }
  if (saved.kind != bias->kind() || saved.nvariables != bias->nvariables())
    error->all(
        FLERR, Error::NOLASTLINE,
        "{}: the restart file has kind {} with {} variable{} for this fix ID, but the command "
        "has kind {} with {} - use the command of the earlier run, or another fix ID",
        owner, saved.kind, saved.nvariables, saved.nvariables == 1 ? "" : "s", bias->kind(),
        bias->nvariables());
  try {
    bias->load(saved.parts);
    saved.parts.check_all_are_taken();
  } catch (const std::runtime_error &e) {
    error->all(FLERR, Error::NOLASTLINE, "{}: {}", owner, e.what());
  }
  first_step = saved.first_step;
  if (first_step > update->ntimestep)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: in the run that wrote the restart file the bias began at step "
               "{}, which is "
               "after the present step {} - leave out reset_timestep, or use another fix ID",
               owner, first_step, update->ntimestep);
  restart_step = update->ntimestep;
  if (saved.has_values) restart_values = bias->state().s;

  // A restart file written during a run contains the time at the beginning of that run. The next
  // run would use it as the time of the restarted timestep, and the times of hills would go back.
  update->update_time();
}

/* ---------------------------------------------------------------------- */

double FixCoordBias::memory_usage()
{
  return static_cast<double>(maxvatom) * 6 * sizeof(double) +
      static_cast<double>(bias->bytes() + evaluation->bytes());
}
