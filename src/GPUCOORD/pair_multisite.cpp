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

#include "pair_multisite.h"

#include "gpucoord/resident_multisite.h"
#include "gpucoord_backend.h"
#include "gpucoord_ghost_range.h"
#include "multisite_bodies.h"
#include "multisite_check.h"
#include "multisite_components.h"
#include "multisite_motion.h"
#include "multisite_surroundings.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "force.h"
#include "memory.h"
#include "neighbor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

using namespace LAMMPS_NS;
using gpucoord::Component;
using gpucoord::Mixing;
using gpucoord::Molecules;
using gpucoord::MultisiteModel;
using gpucoord::MultisiteResults;
using gpucoord::MultisiteSums;
using gpucoord::MultisiteWant;
using gpucoord::Precision;
using Parse::position;
using Switched = MultisiteArguments::Switched;

// Smallest loop worth parallelizing.
static constexpr int MANY = 4096;

/* ---------------------------------------------------------------------- */

PairMultisite::PairMultisite(LAMMPS *lmp) : Pair(lmp)
{
  single_enable = 0;
  reinitflag = 0;    // fix adapt is unsupported
  // Every owned molecule sums over all its neighbors. Ghost atoms get no forces.
  no_virial_fdotr_compute = 1;
  // Forces are not along the vector between two centers of mass.
  centroidstressflag = CENTROID_NOTAVAIL;
  unit_convert_flag = utils::get_supported_conversions(utils::ENERGY);
}

PairMultisite::~PairMultisite()
{
  if (copymode) return;
  if (allocated) {
    memory->destroy(setflag);
    memory->destroy(cutsq);
  }
}

void PairMultisite::allocate()
{
  allocated = 1;
  ntypes = atom->ntypes;
  memory->create(setflag, ntypes + 1, ntypes + 1, "pair:setflag");
  memory->create(cutsq, ntypes + 1, ntypes + 1, "pair:cutsq");
  for (int i = 0; i <= ntypes; ++i)
    for (int j = 0; j <= ntypes; ++j) {
      setflag[i][j] = 0;
      cutsq[i][j] = 0.0;
    }
  component_of.assign(ntypes + 1, -1);
}

/* ----------------------------------------------------------------------
   pair_style multisite rc [rcCoul] keyword value ...
------------------------------------------------------------------------- */

void PairMultisite::settings(int narg, char **arg)
{
  int device_position = Error::NOLASTLINE;
  const MultisiteArguments wanted(lmp, narg, arg,
                                  device_position);    // after an error, earlier settings remain
  backend = std::make_unique<MultisiteBackend>(lmp, wanted.device, "Pair_style multisite",
                                               device_position);
  given = wanted;
  set_switched();
  stage = Stage::CHANGED;
}

/* ----------------------------------------------------------------------
   Keywords shift and tail take precedence over pair_modify, including later pair_modify commands.
------------------------------------------------------------------------- */

void PairMultisite::set_switched()
{
  offset_flag = given.shift == Switched::PAIR ? modified_shift : given.shift == Switched::YES;
  tail_flag = given.tail == Switched::PAIR ? modified_tail : given.tail == Switched::YES;
}

void PairMultisite::modify_params(int narg, char **arg)
{
  const int offset_before = offset_flag, tail_before = tail_flag;
  offset_flag = modified_shift;
  tail_flag = modified_tail;
  Pair::modify_params(narg, arg);
  modified_shift = offset_flag;
  modified_tail = tail_flag;
  set_switched();
  if (offset_flag != offset_before || tail_flag != tail_before) stage = Stage::CHANGED;
}

/* ---------------------------------------------------------------------- */

void PairMultisite::coeff(int narg, char **arg)
{
  if (narg < 3) utils::missing_cmd_args(FLERR, "pair_coeff", error);
  if (!allocated) allocate();
  stage = Stage::CHANGED;
  if (strcmp(arg[2], "mix") == 0)
    parse_mixing(narg, arg);
  else
    set_components(narg, arg);
}

/* ----------------------------------------------------------------------
   pair_coeff * * FILE NAME1 ... NAMEn
------------------------------------------------------------------------- */

void PairMultisite::set_components(int narg, char **arg)
{
  if (strcmp(arg[0], "*") != 0 || strcmp(arg[1], "*") != 0)
    error->all(FLERR, position(input, arg[0]),
               "Pair multisite takes * * for the types before a file of components, not {} {}",
               arg[0], arg[1]);
  if (narg - 3 != ntypes)
    error->all(FLERR, position(input, arg[2]),
               "Pair multisite needs a component, or NULL, for each of the {} atom types, but "
               "there {} {} after the file",
               ntypes, narg - 3 == 1 ? "is" : "are", narg - 3);

  const std::string file = arg[2];
  const auto file_components =
      MultisiteComponents::read(lmp, "Pair multisite", file, position(input, arg[2]));
  std::vector<Component> used;
  std::vector<int> component_numbers(ntypes + 1, -1);
  for (int type = 1; type <= ntypes; ++type) {
    char *const name = arg[2 + type];
    if (strcmp(name, "NULL") == 0) {
      if (force->pair == this)
        error->all(FLERR, position(input, name),
                   "Pair multisite: type {} is NULL, which is for types of another style of "
                   "pair_style hybrid",
                   type);
      continue;
    }
    const int k = MultisiteComponents::find(file_components, name);
    if (k < 0)
      error->all(FLERR, position(input, name),
                 "Pair multisite: file of components {} has no component {} - it has {}", file,
                 name, MultisiteComponents::names(file_components));
    component_numbers[type] = MultisiteComponents::find(used, name);
    if (component_numbers[type] >= 0) continue;
    component_numbers[type] = static_cast<int>(used.size());
    used.push_back(file_components[k]);
  }
  const auto mixing_before = std::exchange(mixing, std::vector<Mixing>(used.size() * used.size()));
  const std::string failure = make_model(std::move(used));
  if (!failure.empty()) {
    mixing = mixing_before;
    error->all(FLERR, position(input, arg[2]), "Pair multisite: file of components {}: {}", file,
               failure);
  }
  component_of = component_numbers;
  for (int i = 1; i <= ntypes; ++i)
    for (int j = i; j <= ntypes; ++j)
      setflag[i][j] = component_of[i] >= 0 && component_of[j] >= 0 ? 1 : 0;
}

/* ----------------------------------------------------------------------
   pair_coeff I J mix XI ETA, for unlike components
------------------------------------------------------------------------- */

void PairMultisite::parse_mixing(int narg, char **arg)
{
  if (narg != 5)
    error->all(FLERR, position(input, arg[2]),
               "Pair multisite mix needs XI and ETA, for example: pair_coeff 1 2 mix 0.95 1.0");
  int ilo, ihi, jlo, jhi;
  Parse::type_range(arg[0], ntypes, ilo, ihi, error, position(input, arg[0]));
  Parse::type_range(arg[1], ntypes, jlo, jhi, error, position(input, arg[1]));
  Mixing pair_mixing;
  pair_mixing.xi = MultisiteArguments::number(lmp, "Pair multisite mix: XI", arg[3]);
  pair_mixing.eta = MultisiteArguments::number(lmp, "Pair multisite mix: ETA", arg[4]);
  if (!(pair_mixing.xi >= 0.0))
    error->all(FLERR, position(input, arg[3]), "Pair multisite mix: XI is {} but must be >= 0",
               arg[3]);
  if (!(pair_mixing.eta > 0.0))
    error->all(FLERR, position(input, arg[4]), "Pair multisite mix: ETA is {} but must be > 0",
               arg[4]);
  if (!the_model)
    error->all(
        FLERR, position(input, arg[2]),
        "Pair multisite mix: types have no components yet - give pair_coeff * * FILE ... first");

  const int n = static_cast<int>(the_model->components().size());
  bool is_any = false;
  for (int i = ilo; i <= ihi; ++i)
    for (int j = jlo; j <= jhi; ++j) {
      const int a = component_of[i], b = component_of[j];
      if (a < 0 || b < 0 || a == b) continue;
      mixing[a * n + b] = mixing[b * n + a] = pair_mixing;
      the_model->set_mixing(a, b, pair_mixing);
      is_any = true;
    }
  if (!is_any)
    error->all(
        FLERR, position(input, arg[0]),
        "Pair multisite mix: types {} {} include no pair of unlike components, and only those mix",
        arg[0], arg[1]);
}

/* ----------------------------------------------------------------------
   Makes the model for the current settings, units and mixing. Returns why this fails, or "". After
   a failure, the previous model remains.
------------------------------------------------------------------------- */

std::string PairMultisite::make_model(std::vector<Component> components)
{
  gpucoord::MultisiteOptions options;
  options.cutoff = given.cutoff;
  options.cutoff_charge = given.cutoff_charge;
  options.site_cutoff = given.site_cutoff;
  options.shift = offset_flag != 0;
  options.reaction_field = given.reaction_field;
  options.coulomb = force->qqrd2e;
  const int n = static_cast<int>(components.size());
  try {
    auto made = std::make_unique<MultisiteModel>(std::move(components), options);
    for (int a = 0; a < n; ++a)
      for (int b = a + 1; b < n; ++b) made->set_mixing(a, b, mixing[a * n + b]);
    the_model = std::move(made);
  } catch (const std::invalid_argument &e) {
    return e.what();
  }
  return "";
}

/* ---------------------------------------------------------------------- */

void PairMultisite::init_style()
{
  stage = Stage::CHANGED;    // remains if an error ends this function
  if (!backend)
    error->all(
        FLERR, Error::NOLASTLINE,
        "Pair multisite has no settings after an earlier error - give pair_style multisite again");
  if (!MultisiteBodies(atom))
    error->all(FLERR, Error::NOLASTLINE,
               "Pair multisite needs atom_style ellipsoid, which has quaternions, but this is "
               "atom_style {}",
               atom->get_style());
  MultisiteSurroundings(lmp, component_of).check();
  set_switched();
  check_tail();
  const std::string failure =
      make_model(the_model->components());    // settings or units may have changed
  if (!failure.empty()) error->all(FLERR, Error::NOLASTLINE, "Pair multisite: {}", failure);
  check_precision();
  all_types = std::find(component_of.begin() + 1, component_of.end(), -1) == component_of.end();
  if (tail_flag) count_types();
  has_pair.assign(static_cast<std::size_t>(ntypes + 1) * (ntypes + 1), 0);
  nevaluations = 0;

  auto warnings = MultisiteMotion(lmp, the_model->components(), component_of).warnings();
  for (const auto &text : MultisiteComponents::warnings(*the_model))
    warnings.push_back("Pair multisite: " + text);
  for (const auto &warning : warnings)    // print each warning once, not in each of many runs
    if (comm->me == 0 && std::find(warned.begin(), warned.end(), warning) == warned.end())
      error->warning(FLERR, warning);
  warned = std::move(warnings);
  stage = Stage::SET_UP;
}

/* ---------------------------------------------------------------------- */

void PairMultisite::check_precision() const
{
  if (given.precision == Precision::DOUBLE) return;
  try {
    the_model->check_float();
  } catch (const std::invalid_argument &e) {
    error->all(FLERR, Error::NOLASTLINE,
               "Pair multisite: precision {}: {} - use precision double, or units real or metal",
               Parse::name_of(given.precision, Parse::PRECISIONS), e.what());
  }
}

/* ----------------------------------------------------------------------
   LAMMPS itself checks this before init_style(), except if the style is part of pair_style hybrid.
------------------------------------------------------------------------- */

void PairMultisite::check_tail() const
{
  if (force->pair !=
      this)    // pair_style hybrid also adds outdated corrections of styles without tail
    for (Pair *const style : MultisiteSurroundings::sub_styles(force->pair))
      if (!style->tail_flag) style->etail_ij = style->ptail_ij = 0.0;
  if (!tail_flag) return;
  if (offset_flag)
    error->all(FLERR, Error::NOLASTLINE,
               "Pair multisite: a long-range correction is for Lennard-Jones terms that are not "
               "shifted - use shift no or "
               "tail no");
  if (domain->dimension == 2)
    error->all(FLERR, Error::NOLASTLINE,
               "Pair multisite: a long-range correction needs 3 dimensions - use tail no");
  if (force->pair != this) {
    // The hybrid style adds the corrections of those sub-styles that have one.
    if (!force->pair->tail_flag && domain->nonperiodic && comm->me == 0)
      error->warning(FLERR,
                     "Pair multisite: a long-range correction in a box that is not periodic");
    force->pair->tail_flag = 1;
  }
}

void PairMultisite::count_types()
{
  std::vector<double> mine(ntypes + 1, 0.0);
  for (int i = 0; i < atom->nlocal; ++i) mine[atom->type[i]] += 1.0;
  ntype.resize(ntypes + 1);
  MPI_Allreduce(mine.data(), ntype.data(), ntypes + 1, MPI_DOUBLE, MPI_SUM, world);
}

/* ---------------------------------------------------------------------- */

double PairMultisite::init_one(int i, int j)
{
  const int a = component_of[i], b = component_of[j];
  if (a < 0 || b < 0)    // pair_style hybrid keeps the types of an earlier pair_coeff
    error->all(FLERR, Error::NOLASTLINE,
               "Pair multisite: pair_style hybrid gives it types {} and {}, but the last "
               "pair_coeff gives type {} no "
               "component - give pair_style again",
               i, j, a < 0 ? i : j);
  has_pair[i * (ntypes + 1) + j] = has_pair[j * (ntypes + 1) + i] = 1;
  etail_ij = ptail_ij = 0.0;
  if (tail_flag) {
    try {
      const gpucoord::TailCorrection tail = the_model->tail(a, b);
      etail_ij = ntype[i] * ntype[j] * tail.energy;
      ptail_ij = ntype[i] * ntype[j] * tail.virial;
    } catch (const std::invalid_argument &e) {
      error->all(FLERR, Error::NOLASTLINE, "Pair multisite: {}", e.what());
    }
  }
  const double range = the_model->range(a, b);
  const std::string why = GhostRange::why_too_long(range + neighbor->skin, atom, comm, domain);
  if (!why.empty())
    error->all(FLERR, Error::NOLASTLINE,
               "Pair multisite: the range {} of types {} and {} {} - use a shorter cutoff", range,
               i, j, why);
  const std::string why_ghosts = GhostRange::why_comm_cutoff_too_long(atom, comm, domain, force);
  if (!why_ghosts.empty()) error->all(FLERR, Error::NOLASTLINE, "Pair multisite: {}", why_ghosts);
  return range;
}

/* ----------------------------------------------------------------------
   Completes the setup after init_one() was called for all pairs of types. Collective.
------------------------------------------------------------------------- */

void PairMultisite::begin_run()
{
  for (int i = 1; i <= ntypes; ++i)
    for (int j = i; j <= ntypes; ++j)
      if (component_of[i] >= 0 && component_of[j] >= 0 && !has_pair[i * (ntypes + 1) + j])
        error->all(FLERR, Error::NOLASTLINE,
                   "Pair multisite computes all pairs of its molecules, but pair_style hybrid "
                   "gives types {} and {} to another "
                   "style or none - use hybrid/overlay to add to it, or give one of them to "
                   "another style altogether",
                   i, j);
  self_energy.resize(the_model->components().size());
  for (std::size_t c = 0; c < self_energy.size(); ++c)
    self_energy[c] = the_model->self_energy(static_cast<int>(c));
  backend->reset();
  backend->init(*the_model, given.precision, "Pair multisite");
  const bool is_by_reference = !backend->is_cuda() && given.precision == Precision::DOUBLE;
  host_double.reset();
  if (given.check_every && !is_by_reference)
    host_double = gpucoord::make_host_multisite(*the_model, Precision::DOUBLE, comm->nthreads);
  stage = Stage::READY;
  if (comm->me != 0) return;
  const std::string text = setup_text();
  if (text != printed) utils::logmesg(lmp, text);
  printed = text;
}

std::string PairMultisite::data_path() const
{
  return backend->is_cuda() ? "owned and ghost molecules copied to the GPU"
                            : "owned and ghost molecules";
}

std::string PairMultisite::setup_text() const
{
  std::string mesg =
      fmt::format("Pair multisite: {}, precision {}, engine cells, {}\n", backend->description(),
                  Parse::name_of(given.precision, Parse::PRECISIONS), data_path());
  mesg += fmt::format(
      "  cutoffs {:.10g} (Lennard-Jones) and {:.10g} (charges, dipoles, quadrupoles) between {}\n",
      given.cutoff, given.cutoff_charge, given.site_cutoff ? "sites" : "centers of mass");
  const std::string field = given.reaction_field == 1.0
      ? "no reaction field"
      : fmt::format("reaction field of dielectric constant {:.10g}", given.reaction_field);
  mesg +=
      fmt::format("  Lennard-Jones {} at the cutoff, {} long-range correction; {}\n",
                  offset_flag ? "shifted to 0" : "not shifted", tail_flag ? "with" : "no", field);
  const auto &components = the_model->components();
  const int n = static_cast<int>(components.size());
  for (const Component &one : components)
    mesg += fmt::format("  {}: {} Lennard-Jones centers, {} charges, {} dipoles, {} quadrupoles\n",
                        one.name, one.centers.size(), one.charges.size(), one.dipoles.size(),
                        one.quadrupoles.size());
  for (int a = 0; a < n; ++a)
    for (int b = a + 1; b < n; ++b) {
      const Mixing &pair_mixing = mixing[a * n + b];
      if (pair_mixing.xi != 1.0 || pair_mixing.eta != 1.0)
        mesg += fmt::format("  {} and {}: xi {:.10g}, eta {:.10g}\n", components[a].name,
                            components[b].name, pair_mixing.xi, pair_mixing.eta);
    }
  if (given.check_every)
    mesg +=
        fmt::format("  check every {} evaluations against {}\n", given.check_every,
                    host_double ? "the host in double precision" : "plain loops over all pairs");
  return mesg;
}

/* ----------------------------------------------------------------------
   Selects the molecules of this rank and its ghosts: the atoms of types with components.
------------------------------------------------------------------------- */

void PairMultisite::select_molecules()
{
  const int nlocal = atom->nlocal, nall = nlocal + atom->nghost;
  index.clear();
  x_copy.clear();
  nowned = 0;
  for (int i = 0; i < nall; ++i) {
    if (component_of[atom->type[i]] < 0) continue;
    index.push_back(i);
    x_copy.insert(x_copy.end(), atom->x[i], atom->x[i] + 3);
    if (i < nlocal) ++nowned;
  }
}

Molecules PairMultisite::gather()
{
  Molecules in;
  if (all_types) {
    in.x = atom->nmax ? &atom->x[0][0] : nullptr;
    in.nlocal = atom->nlocal;
    in.nall = atom->nlocal + atom->nghost;
  } else {
    select_molecules();
    in.x = x_copy.data();
    in.nlocal = nowned;
    in.nall = static_cast<int>(index.size());
  }
  quaternion.resize(4 * static_cast<std::size_t>(in.nall));
  component.resize(in.nall);
  const MultisiteBodies bodies(atom);
  int bad = -1;
#pragma omp parallel for schedule(static) num_threads(comm->nthreads) if (in.nall > MANY) \
    reduction(max                                                                         \
              : bad)
  for (int k = 0; k < in.nall; ++k) {
    const int i = row(k);
    const double *const x = atom->x[i];
    if (!bodies.has(i) || !std::isfinite(x[0]) || !std::isfinite(x[1]) || !std::isfinite(x[2])) {
      bad = MAX(bad, i);
      continue;
    }
    const double *const q = bodies.quaternion(i);
    std::copy(q, q + 4, &quaternion[4 * static_cast<std::size_t>(k)]);
    component[k] = component_of[atom->type[i]];
    if (!(std::fabs(MultisiteBodies::length(q) - 1.0) <= gpucoord::QUATERNION_TOLERANCE))
      bad = MAX(bad, i);
  }
  if (bad >= 0) refuse_molecule(bad);
  in.quaternion = quaternion.data();
  in.component = component.data();
  return in;
}

void PairMultisite::refuse_molecule(int bad) const
{
  const std::string name = atom->tag_enable ? fmt::format("atom ID {}", atom->tag[bad]) : "an atom";
  const MultisiteBodies bodies(atom);
  if (!bodies.has(bad))
    error->one(FLERR, Error::NOLASTLINE,
               "Pair multisite: {} of type {} is a molecule, but has no ellipsoid and therefore no "
               "quaternion - use set_multisite or set shape before the run; fixes that insert "
               "atoms create no ellipsoids",
               name, atom->type[bad]);
  const double *const x = atom->x[bad], *const q = bodies.quaternion(bad);
  if (!std::isfinite(x[0]) || !std::isfinite(x[1]) || !std::isfinite(x[2]))
    error->one(FLERR, Error::NOLASTLINE,
               "Pair multisite: the position of {} is not a finite number - the simulation is "
               "unstable, or positions were set "
               "wrongly",
               name);
  error->one(FLERR, Error::NOLASTLINE,
             "Pair multisite: the quaternion of {}, {} {} {} {}, has length {} but must have "
             "length 1 - the simulation is unstable, or quaternions were set wrongly",
             name, q[0], q[1], q[2], q[3], MultisiteBodies::length(q));
}

/* ---------------------------------------------------------------------- */

void PairMultisite::begin_evaluation()
{
  if (stage == Stage::CHANGED)
    error->all(FLERR, Error::NOLASTLINE,
               "Pair multisite has changed since the last setup - use run without pre no");
  if (stage == Stage::SET_UP) begin_run();
}

void PairMultisite::compute(int eflag, int vflag)
{
  ev_init(eflag, vflag);
  begin_evaluation();
  const MultisiteWant want = eflag_either || vflag_either ? MultisiteWant::ALL
                                                          : MultisiteWant::FORCES;
  const bool is_checked = is_check_due();
  const Molecules in = gather();

  // If all atoms are molecules, write directly into LAMMPS' arrays.
  const bool by_copies = !all_types || is_checked;
  const std::size_t n = in.nlocal;
  MultisiteResults out;
  if (by_copies) {
    results_copy.assign(13 * n, 0.0);
    double *const first = results_copy.data();
    out = {first, first + 3 * n, nullptr, nullptr};
    if (want == MultisiteWant::ALL) {
      out.energy = first + 6 * n;
      out.virial = first + 7 * n;
    }
  } else if (n > 0) {
    out = {&atom->f[0][0], &atom->torque[0][0], eflag_atom ? eatom : nullptr,
           vflag_atom ? &vatom[0][0] : nullptr};
  }

  const MultisiteSums sums = evaluate(in, want, out);
  if (is_checked && want == MultisiteWant::ALL) check(in, sums, out);
  // A second evaluation, so that keyword check does not change a run.
  if (is_checked && want == MultisiteWant::FORCES) {
    std::vector<double> force(3 * n, 0.0), torque(3 * n, 0.0);
    check(in, evaluate(in, MultisiteWant::ALL, {force.data(), torque.data(), nullptr, nullptr}),
          out);
  }
  if (by_copies) add_copies(in.nlocal, out);
  tally(sums);
}

MultisiteSums PairMultisite::evaluate(const Molecules &in, MultisiteWant want,
                                      const MultisiteResults &out)
{
  try {
    return (*backend)->evaluate(in, want, out);
  } catch (const gpucoord::DeviceError &e) {
    backend->reset();    // the next run makes a new backend
    error->one(FLERR, Error::NOLASTLINE,
               "Pair multisite: rank {} failed with {} owned and {} ghost molecules: {} - use "
               "device host, more GPUs or fewer "
               "ranks per GPU",
               comm->me, in.nlocal, in.nall - in.nlocal, e.what());
  } catch (const std::bad_alloc &) {
    error->one(FLERR, Error::NOLASTLINE,
               "Pair multisite: out of memory on rank {} with {} owned and {} ghost molecules - "
               "use more ranks or a smaller "
               "cutoff",
               comm->me, in.nlocal, in.nall - in.nlocal);
  }
}

/* ---------------------------------------------------------------------- */

void PairMultisite::check(const Molecules &in, const MultisiteSums &sums,
                          const MultisiteResults &out) const
{
  std::vector<tagint> ids(in.nlocal, 0);
  for (int k = 0; k < in.nlocal && atom->tag_enable; ++k) ids[k] = atom->tag[row(k)];
  MultisiteCheck(lmp, *the_model, host_double.get(), given.precision, given.check_tolerance)
      .compare(in, sums, out, ids);
}

void PairMultisite::add_copies(int n, const MultisiteResults &from)
{
  for (int k = 0; k < n; ++k) {
    const int i = row(k);
    for (int c = 0; c < 3; ++c) {
      atom->f[i][c] += from.force[3 * k + c];
      atom->torque[i][c] += from.torque[3 * k + c];
    }
    if (eflag_atom) eatom[i] += from.energy[k];
    for (int c = 0; c < 6 && vflag_atom; ++c) vatom[i][c] += from.virial[6 * k + c];
  }
}

void PairMultisite::tally(const MultisiteSums &sums)
{
  if (eflag_global) {
    eng_vdwl += sums.lennard_jones;
    eng_coul += sums.electrostatic + sums.reaction_field;
  }
  if (vflag_global)
    for (int c = 0; c < 6; ++c) virial[c] += sums.virial[c];
  if (!eflag_either || !has_self_energy()) return;
  for (int i = 0; i < atom->nlocal; ++i) {
    const int c = component_of[atom->type[i]];
    if (c < 0) continue;
    if (eflag_global) eng_coul += self_energy[c];
    if (eflag_atom) eatom[i] += self_energy[c];
  }
}

bool PairMultisite::has_self_energy() const
{
  return std::any_of(self_energy.begin(), self_energy.end(), [](double self) {
    return self != 0.0;
  });
}

/* ---------------------------------------------------------------------- */

std::vector<const Component *> PairMultisite::components_of_types(LAMMPS *lmp)
{
  std::vector<const Component *> found;
  for (Pair *const style : MultisiteSurroundings::sub_styles(lmp->force->pair)) {
    const auto *const pair = dynamic_cast<PairMultisite *>(style);
    if (!pair || !pair->the_model) continue;
    found.resize(lmp->atom->ntypes + 1, nullptr);
    for (int type = 1; type <= lmp->atom->ntypes; ++type)
      if (!found[type] && pair->component_of[type] >= 0)
        found[type] = &pair->the_model->components()[pair->component_of[type]];
  }
  return found;
}

double PairMultisite::memory_usage()
{
  return Pair::memory_usage() + (backend ? backend->bytes() : 0.0) +
      static_cast<double>(gpucoord::bytes_of(quaternion, component, index, x_copy, results_copy) +
                          (host_double ? host_double->bytes() : 0));
}
