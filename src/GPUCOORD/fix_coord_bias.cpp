/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "fix_coord_bias.h"

#include "bias_arguments.h"
#include "gpucoord_broadcast_text.h"
#include "gpucoord_variable.h"

#include "gpucoord/counters.h"
#include "gpucoord/hills_file.h"
#include "gpucoord/metadynamics.h"
#include "gpucoord/pairs.h"
#include "gpucoord/restraint.h"

#include "atom.h"
#include "comm.h"
#include "compute.h"
#include "error.h"
#include "force.h"
#include "input.h"
#include "modify.h"
#include "respa.h"
#include "update.h"
#include "variable.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>

using namespace LAMMPS_NS;
using namespace FixConst;
using gpucoord::Restraint;
using Kind = BiasArguments::Kind;

// layout of the vector: four numbers for each variable, and then
enum { S, SLOPE, CENTER, K, PER_VARIABLE };
enum { WORK, NHILLS, MAXIMUM, REWEIGHTING };

// Added to the kind in restart files with a checksum of the hills. Files of earlier versions have none.
// It is no separate field because LAMMPS does not pass the size of the state to restart(): a number
// that files of all versions have must say whether a checksum follows.
static constexpr int WITH_CHECKSUM = 1000;

/* ---------------------------------------------------------------------- */

FixCoordBias::FixCoordBias(LAMMPS *lmp, int narg, char **arg) :
    Fix(lmp, narg, arg), energy(0.0), work(0.0), nhills(0), first_step(update->ntimestep),
    last_hill_step(update->ntimestep), restart_step(-1), have_parameters(false),
    is_restarted(false), is_set_up(false), warned_of_rerun(false), metad_has_begun(false),
    ilevel_respa(0), evaluations_a_step(1), evaluations_done(0), last_step(-1),
    first_of_minimization(0)
{
  if (igroup != 0)
    error->all(FLERR, 1,
               "Fix coord/bias group must be all, not {}: forces act on the atoms of the computes' "
               "groups - use group all, and choose atoms by the groups of the computes",
               arg[1]);
  args = std::make_unique<BiasArguments>(lmp, narg, arg);
  states.resize(args->variables.size());
  for (std::size_t v = 0; v < states.size(); ++v)
    if (const auto *variable = variable_of(v)) states[v].instance = variable->instance_number();
  board = BiasBoard::of(lmp);

  scalar_flag = 1;
  extscalar = 1;
  vector_flag = 1;
  extvector = 0;
  size_vector = PER_VARIABLE * static_cast<int>(states.size()) + 1;
  if (args->kind == Kind::METAD) {
    ++size_vector;
    if (!args->metad.grid.empty()) size_vector += args->metad.kt > 0.0 ? 2 : 1;
  }
  global_freq = 1;
  energy_global_flag = virial_global_flag = virial_peratom_flag = 1;
  thermo_energy = thermo_virial = 1;
  respa_level_support = 1;
  restart_global = 1;
  time_depend = args->kind == Kind::MOVING ? 1 : 0;

  // a pressure that is asked for before the first evaluation
  std::fill(virial, virial + 6, 0.0);
}

FixCoordBias::~FixCoordBias()
{
  board->remove(this);
}

int FixCoordBias::setmask()
{
  return POST_FORCE | POST_FORCE_RESPA | MIN_POST_FORCE;
}

/* ---------------------------------------------------------------------- */

void FixCoordBias::init()
{
  find_variables();
  board->find_users();
  check_order_of_fixes();
  evaluations_a_step = 1;
  if (utils::strmatch(update->integrate_style, "^respa")) {
    const auto *respa = dynamic_cast<Respa *>(update->integrate);
    ilevel_respa = respa->nlevels - 1;
    if (respa_level >= 0) ilevel_respa = MIN(respa_level, ilevel_respa);
    for (int level = ilevel_respa; level < respa->nlevels; ++level)
      evaluations_a_step *= respa->loop[level];
  }

  if (args->kind == Kind::METAD && !metad_has_begun) begin_metad();
  if (comm->me == 0) print_setup();
  if (args->kind == Kind::METAD && !warned_of_rerun && input->command &&
      strcmp(input->command, "rerun") == 0) {
    if (comm->me == 0)
      error->warning(
          FLERR,
          "Fix coord/bias {}: rerun adds no hills, V is that of the {} hills in {} - give "
          "append yes to have those of an earlier run",
          id, nhills, args->file);
    warned_of_rerun = true;
  }
  is_set_up = true;
}

/* ----------------------------------------------------------------------
   Variables of the input script may be redefined, computes must not.
------------------------------------------------------------------------- */

CollectiveVariable *FixCoordBias::variable_of(std::size_t v) const
{
  return dynamic_cast<CollectiveVariable *>(modify->get_compute_by_id(args->variables[v]));
}

void FixCoordBias::find_variables()
{
  computes.clear();
  for (std::size_t v = 0; v < states.size(); ++v) {
    const auto &name = args->variables[v];
    auto *const compute = variable_of(v);
    if (!compute)
      error->all(FLERR, Error::NOLASTLINE,
                 "Fix coord/bias {}: compute {} of style coord/gpu no longer exists - keep it "
                 "while the fix uses it",
                 id, name);
    if (compute->instance_number() != states[v].instance)
      error->all(
          FLERR, Error::NOLASTLINE,
          "Fix coord/bias {}: compute {} is not the one that the fix was defined with, which "
          "was deleted - define the fix again after the compute, or give the new compute "
          "another ID",
          id, name);
    const std::string dynamic = compute->dynamic_group();
    if (!dynamic.empty())
      error->all(FLERR, Error::NOLASTLINE,
                 "Fix coord/bias {}: group {} of compute {} is dynamic, so S and the bias would "
                 "jump - use a static "
                 "group, and a switching function that lets atoms in and out smoothly",
                 id, dynamic, name);
    computes.push_back(compute);
  }
  for (const auto *list : {&args->k, &args->s0})
    for (const auto &parameter : *list) {
      if (parameter.variable.empty()) continue;
      const int ivar = input->variable->find(parameter.variable.c_str());
      if (ivar < 0)
        error->all(FLERR, Error::NOLASTLINE,
                   "Fix coord/bias {}: variable {} does not exist - define it before the run", id,
                   parameter.variable);
      if (!input->variable->equalstyle(ivar))
        error->all(FLERR, Error::NOLASTLINE,
                   "Fix coord/bias {}: variable {} must be of style equal or similar", id,
                   parameter.variable);
    }
}

/* ----------------------------------------------------------------------
   Barostats ask for the pressure in their setup, which must find the virial
   of this fix. Constraints are to act on all forces.
------------------------------------------------------------------------- */

void FixCoordBias::check_order_of_fixes()
{
  const char *const barostats[] = {
      "^nph",  "^npt",    "^press/berendsen", "^press/langevin", "^deform/pressure",
      "^msst", "^qbmsst", "^tgnp[ht]/drude",  "^rigid.*/np[ht]", "^box/relax"};
  const bool warns = !is_set_up && comm->me == 0;
  for (const auto *fix : modify->get_fix_list()) {
    if (fix == this) return;
    const std::string style = fix->style;
    const bool is_barostat =
        std::any_of(std::begin(barostats), std::end(barostats), [&style](const char *barostat) {
          return utils::strmatch(style, barostat);
        });
    if (thermo_virial && is_barostat)
      error->all(FLERR, Error::NOLASTLINE,
                 "Fix coord/bias {} must be defined before fix {} of style {}, which needs its "
                 "virial - define it first",
                 id, fix->id, style);
    // fix deform does not use the pressure
    const bool changes_box = (fix->box_change & (BOX_CHANGE_SIZE | BOX_CHANGE_SHAPE)) &&
        style != "deform" && !utils::strmatch(style, "^deform/kk");
    if (thermo_virial && warns && changes_box)
      error->warning(
          FLERR,
          "Fix coord/bias {} is defined after fix {} of style {}, which changes the box: the "
          "pressure "
          "at its setup lacks the virial of the bias - define fix {} first, or use fix_modify {} "
          "virial no",
          id, fix->id, style, id, id);
    if (warns && (utils::strmatch(style, "^shake") || utils::strmatch(style, "^rattle")))
      error->warning(FLERR,
                     "Fix coord/bias {} is defined after fix {} of style {}, which does not see "
                     "its forces - define it first",
                     id, fix->id, style);
  }
}

/* ---------------------------------------------------------------------- */

// once, and again where it has changed: rerun comes here for each frame
void FixCoordBias::print_setup()
{
  std::string mesg = fmt::format("Fix coord/bias {}: {} bias of", id, args->kind_name);
  for (const auto &name : args->variables) mesg += " c_" + name;
  mesg += args->stride == 1
      ? ", at every step\n"
      : fmt::format(", every {} steps and {} times as strong\n", args->stride, args->stride);
  mesg += "  " + args->formula(first_step) + "\n";
  if (args->kind == Kind::METAD)
    mesg += fmt::format("  hills file {}: units {}, heights{}\n", args->file, update->unit_style,
                        args->metad.biasfactor > 1.0 ? " times biasfactor/(biasfactor - 1)"
                                                     : " of the bias");
  if (mesg != printed) utils::logmesg(lmp, mesg);
  printed = mesg;
}

/* ----------------------------------------------------------------------
   runs what only rank 0 can do; its failure is an error on all ranks
------------------------------------------------------------------------- */

void FixCoordBias::on_rank_0(const std::function<void()> &work_of_rank_0) const
{
  std::string failure;
  if (comm->me == 0) {
    try {
      work_of_rank_0();
    } catch (const std::bad_alloc &) {
      failure = args->metad.grid.empty() ? "out of memory" : "out of memory - use a smaller grid";
    } catch (const std::exception &e) {
      failure = e.what();
    }
  }
  broadcast_text(failure, 0, world);
  if (!failure.empty()) error->all(FLERR, Error::NOLASTLINE, "Fix coord/bias {}: {}", id, failure);
}

/* ---------------------------------------------------------------------- */

// what v_init() will find in vflag, before it may be called
unsigned FixCoordBias::want(int vflag) const
{
  if (!is_due()) return 0;
  unsigned wanted = gpucoord::DERIVATIVES;
  if (!thermo_virial) return wanted;
  if (vflag & (VIRIAL_PAIR | VIRIAL_FDOTR)) wanted |= gpucoord::VIRIAL;
  if (vflag & (VIRIAL_ATOM | VIRIAL_CENTROID)) wanted |= gpucoord::VIRIAL | gpucoord::ATOM_VIRIAL;
  return wanted;
}

bool FixCoordBias::is_due() const
{
  return update->whichflag == 2 || update->ntimestep % args->stride == 0;
}

// run pre no calls no init()
void FixCoordBias::check_variables() const
{
  for (std::size_t v = 0; v < states.size(); ++v) {
    // not by address: a later compute may have that of a deleted one
    const auto *const compute = variable_of(v);
    if (!compute || v >= computes.size() || compute->instance_number() != states[v].instance)
      error->all(FLERR, Error::NOLASTLINE,
                 "Fix coord/bias {}: the fix or compute {} was defined or deleted after the last "
                 "setup - use "
                 "run without pre no",
                 id, args->variables[v]);
  }
}

/* ---------------------------------------------------------------------- */

void FixCoordBias::setup(int vflag)
{
  evaluations_done = 0;
  last_hill_step = update->ntimestep;
  auto *respa = dynamic_cast<Respa *>(update->integrate);
  if (respa) respa->copy_flevel_f(ilevel_respa);
  apply(vflag, Evaluation::SETUP);
  if (respa) respa->copy_f_flevel(ilevel_respa);
}

void FixCoordBias::min_setup(int vflag)
{
  first_of_minimization = update->ntimestep;
  apply(vflag, Evaluation::SETUP);
}

// k and s0 move in time, and a minimization takes none
void FixCoordBias::post_run()
{
  if (update->whichflag == 2) first_step += update->ntimestep - first_of_minimization;
}

void FixCoordBias::post_force(int vflag)
{
  apply(vflag, Evaluation::LAST_OF_STEP);
}

void FixCoordBias::post_force_respa(int vflag, int ilevel, int /*iloop*/)
{
  if (ilevel != ilevel_respa) return;
  if (update->ntimestep != last_step) evaluations_done = 0;
  last_step = update->ntimestep;
  ++evaluations_done;
  apply(vflag, evaluations_done == evaluations_a_step ? Evaluation::LAST_OF_STEP : Evaluation::STEP,
        ilevel);
}

void FixCoordBias::min_post_force(int vflag)
{
  apply(vflag, Evaluation::MINIMIZATION);
}

/* ---------------------------------------------------------------------- */

void FixCoordBias::apply(int vflag, Evaluation moment, int level)
{
  board->announce(this, vflag, moment, level);
  v_init(vflag);
  if (!is_due()) {
    // a run that starts between: variables of the next evaluation may need computes that are told before
    if (moment == Evaluation::SETUP && args->kind == Kind::MOVING)
      modify->addstep_compute_all((update->ntimestep / args->stride + 1) * args->stride);
    return;
  }

  // in a minimization they stay
  const bool parameters_move = args->kind == Kind::MOVING && moment != Evaluation::MINIMIZATION;
  if (parameters_move || !have_parameters) move_parameters();
  if (moment == Evaluation::SETUP) check_continuation();

  const bool moves = parameters_move && have_parameters;
  have_parameters = true;
  evaluate_bias(moment, moves);
  add_forces(update->whichflag == 2 ? 1.0 : args->stride);
}

/* ----------------------------------------------------------------------
   S, V and dV/dS; moves: k and s0 are not those of the evaluation before.
   Work is what V changes by where k and s0 change: half of it at the S before and half at the S after, as a time
   step of velocity Verlet has it (Jarzynski, PRL 78, 2690 (1997); Crooks, J. Stat. Phys. 90, 1481 (1998)).
------------------------------------------------------------------------- */

void FixCoordBias::evaluate_bias(Evaluation moment, bool moves)
{
  if (moves) work += 0.5 * change_by_parameters();
  board->evaluate();
  for (std::size_t v = 0; v < states.size(); ++v) states[v].s = computes[v]->value();
  if (moves) work += 0.5 * change_by_parameters();
  if (args->kind == Kind::METAD)
    evaluate_metad(is_hill_due(moment));
  else
    evaluate_restraints();
}

/* ----------------------------------------------------------------------
   k and s0 of this step
------------------------------------------------------------------------- */

void FixCoordBias::move_parameters()
{
  if (args->kind == Kind::METAD) return;
  bool asks_variables = false;
  for (std::size_t v = 0; v < states.size(); ++v)
    asks_variables = asks_variables || !args->k[v].variable.empty() ||
        !args->s0[v].variable.empty();
  if (asks_variables) {
    atoms_to_host();
    modify->clearstep_compute();
  }

  double fraction = 0.0;
  if (args->steps)
    // rerun may have steps before the first one
    fraction = static_cast<double>(
                   std::min(std::max(update->ntimestep - first_step, bigint(0)), args->steps)) /
        static_cast<double>(args->steps);
  const auto now = [this, fraction](const BiasArguments::Parameter &parameter) {
    if (parameter.variable.empty())
      return parameter.start + fraction * (parameter.stop - parameter.start);
    const double value =
        input->variable->compute_equal(input->variable->find(parameter.variable.c_str()));
    if (!std::isfinite(value))
      error->all(FLERR, Error::NOLASTLINE,
                 "Fix coord/bias {}: variable {} is {}, not a finite number", id,
                 parameter.variable, value);
    return value;
  };
  for (std::size_t v = 0; v < states.size(); ++v) {
    auto &variable = states[v];
    variable.last_k = variable.k;
    variable.last_s0 = variable.s0;
    variable.k = now(args->k[v]);
    if (variable.k < 0.0 && !args->k[v].variable.empty())
      error->all(FLERR, Error::NOLASTLINE,
                 "Fix coord/bias {}: variable {} makes k {}, but it must be >= 0", id,
                 args->k[v].variable, variable.k);
    variable.s0 = now(args->s0[v]);
  }
  if (asks_variables) modify->addstep_compute(update->ntimestep + args->stride);
}

// a restarted moving bias has its k and s0 of the same step, unless the command is another one
void FixCoordBias::check_continuation()
{
  if (restart_step != update->ntimestep) return;
  restart_step = -1;
  for (std::size_t v = 0; v < states.size(); ++v) {
    const auto &variable = states[v];
    const bool other_k = args->k[v].variable.empty() && variable.k != variable.last_k;
    const bool other_s0 = args->s0[v].variable.empty() && variable.s0 != variable.last_s0;
    if (comm->me == 0 && (other_k || other_s0))
      error->warning(FLERR,
                     "Fix coord/bias {}: c_{} goes on with s0 {} and k {}, but the restart file "
                     "had {} and {} - were "
                     "the values of this command others in that run?",
                     id, args->variables[v], variable.s0, variable.k, variable.last_s0,
                     variable.last_k);
  }
}

// V now minus V with the k and s0 of the evaluation before, both at the present S
double FixCoordBias::change_by_parameters() const
{
  double change = 0.0, slope;
  for (std::size_t v = 0; v < states.size(); ++v) {
    auto term = restraint(v);
    change += term.evaluate(states[v].s, slope);
    term.k = states[v].last_k;
    term.s0 = states[v].last_s0;
    change -= term.evaluate(states[v].s, slope);
  }
  return change;
}

/* ---------------------------------------------------------------------- */

Restraint FixCoordBias::restraint(std::size_t v) const
{
  Restraint term;
  switch (args->kind) {
    case Kind::LINEAR:
      term.kind = Restraint::Kind::LINEAR;
      break;
    case Kind::UPPER_WALL:
      term.kind = Restraint::Kind::UPPER_WALL;
      break;
    case Kind::LOWER_WALL:
      term.kind = Restraint::Kind::LOWER_WALL;
      break;
    default:
      term.kind = Restraint::Kind::HARMONIC;
  }
  term.k = states[v].k;
  term.s0 = states[v].s0;
  term.exponent = args->exponent[v];
  term.offset = args->offset[v];
  return term;
}

std::string FixCoordBias::not_finite(double v) const
{
  const double strength = args->stride;
  if (std::isfinite(v) &&
      std::all_of(states.begin(), states.end(), [strength](const Variable &variable) {
        return std::isfinite(variable.s) && std::isfinite(strength * variable.slope);
      }))
    return "";
  std::string text = fmt::format("the bias is not a finite number: V = {}", v);
  for (std::size_t k = 0; k < states.size(); ++k)
    text +=
        fmt::format(", dV/dS = {} at c_{} = {}", states[k].slope, args->variables[k], states[k].s);
  const bool is_wall = args->kind == Kind::UPPER_WALL || args->kind == Kind::LOWER_WALL;
  return text + " - use a smaller " +
      (args->kind == Kind::METAD ? "height"
           : is_wall             ? "k, s0, exponent or offset"
                                 : "k or s0");
}

void FixCoordBias::evaluate_restraints()
{
  GPUCOORD_COUNT(RESTRAINTS);
  energy = 0.0;
  for (std::size_t v = 0; v < states.size(); ++v)
    energy += restraint(v).evaluate(states[v].s, states[v].slope);
  stop_if_not_finite();
}

void FixCoordBias::stop_if_not_finite() const
{
  const std::string problem = not_finite(energy);
  if (!problem.empty()) error->all(FLERR, Error::NOLASTLINE, "Fix coord/bias {}: {}", id, problem);
}

/* ---------------------------------------------------------------------- */

void FixCoordBias::add_forces(double strength)
{
  for (std::size_t v = 0; v < states.size(); ++v) {
    const double factor = strength * states[v].slope;
    computes[v]->add_forces({factor});
    // W is that of all ranks; LAMMPS adds the virials of the ranks
    if (vflag_global && comm->me == 0) computes[v]->add_virial(factor, virial);
    if (vflag_atom) computes[v]->add_atom_virial(factor, vatom);
  }
}

/* ---------------------------------------------------------------------- */

double FixCoordBias::compute_scalar()
{
  return energy;
}

double FixCoordBias::compute_vector(int n)
{
  const int at = n - PER_VARIABLE * static_cast<int>(states.size());
  if (at < 0) {
    const auto &variable = states[n / PER_VARIABLE];
    const double values[PER_VARIABLE] = {variable.s, variable.slope, variable.s0, variable.k};
    return values[n % PER_VARIABLE];
  }
  if (at == WORK) return work;
  if (at == NHILLS) return static_cast<double>(nhills);

  double value = 0.0;
  on_rank_0([&] {
    if (metad) value = at == MAXIMUM ? metad->maximum() : metad->reweighting_offset();
  });
  MPI_Bcast(&value, 1, MPI_DOUBLE, 0, world);
  return value;
}

/* ---------------------------------------------------------------------- */

void FixCoordBias::write_restart(FILE *fp)
{
  if (comm->me != 0) return;
  std::vector<double> list = {static_cast<double>(static_cast<int>(args->kind) + WITH_CHECKSUM),
                              static_cast<double>(states.size()),
                              static_cast<double>(first_step),
                              static_cast<double>(nhills),
                              work,
                              energy,
                              have_parameters ? 1.0 : 0.0};
  for (const auto &variable : states)
    list.insert(list.end(), {variable.s, variable.slope, variable.s0, variable.k});
  // in two halves, because a double does not hold 64 bits
  const std::uint64_t checksum = hills_checksum.value_or(0);
  list.insert(list.end(),
              {hills_checksum ? 1.0 : 0.0, static_cast<double>(checksum >> 32),
               static_cast<double>(checksum & 0xffffffffu)});
  const int size = static_cast<int>(list.size() * sizeof(double));
  fwrite(&size, sizeof(int), 1, fp);
  fwrite(list.data(), sizeof(double), list.size(), fp);
}

void FixCoordBias::restart(char *buf)
{
  const auto *list = reinterpret_cast<const double *>(buf);
  const bool has_checksum = list[0] >= WITH_CHECKSUM;
  const int kind = static_cast<int>(list[0]) - (has_checksum ? WITH_CHECKSUM : 0);
  if (kind != static_cast<int>(args->kind) || list[1] != static_cast<double>(states.size()))
    error->all(
        FLERR, Error::NOLASTLINE,
        "Fix coord/bias {}: the restart file has a fix of this ID of kind {} with {} variable{}, "
        "not of kind {} with {} - use the command of the earlier run, or another fix ID",
        id, BiasArguments::name_of(static_cast<Kind>(kind)), list[1], list[1] == 1.0 ? "" : "s",
        args->kind_name, states.size());
  first_step = static_cast<bigint>(list[2]);
  nhills = static_cast<bigint>(list[3]);
  work = list[4];
  energy = list[5];
  have_parameters = list[6] != 0.0;
  const double *next = list + 7;
  for (auto &variable : states) {
    variable.s = next[0];
    variable.slope = next[1];
    variable.s0 = next[2];
    variable.k = next[3];
    next += 4;
  }
  if (has_checksum && next[0] != 0.0)
    hills_checksum =
        static_cast<std::uint64_t>(next[1]) << 32 | static_cast<std::uint64_t>(next[2]);
  if (first_step > update->ntimestep)
    error->all(FLERR, Error::NOLASTLINE,
               "Fix coord/bias {}: in the run that wrote the restart file the bias began at step "
               "{}, which is "
               "after the present step {} - leave out reset_timestep, or use another fix ID",
               id, first_step, update->ntimestep);
  is_restarted = true;
  if (args->kind == Kind::MOVING && have_parameters) restart_step = update->ntimestep;

  // A restart file that was written in the course of a run has the time of the run's begin, which the next
  // run takes for that of the restarted step: times of hills would go back.
  update->update_time();
}

/* ---------------------------------------------------------------------- */

double FixCoordBias::memory_usage()
{
  return static_cast<double>(maxvatom) * 6 * sizeof(double) +
      (metad ? static_cast<double>(metad->bytes()) : 0.0);
}
