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

#include "pair_coord.h"

#include "coord_switch.h"
#include "gpucoord_backend.h"
#include "gpucoord_ghost_range.h"
#include "gpucoord_lammps_compat.h"

#include "atom.h"
#include "comm.h"
#include "force.h"
#include "memory.h"
#include "neigh_list.h"
#include "neighbor.h"
#include "respa.h"
#include "update.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

using namespace LAMMPS_NS;
using gpucoord::ATOM_VIRIAL;
using gpucoord::DERIVATIVES;
using gpucoord::Switch;
using gpucoord::SwitchInfo;
using gpucoord::SwitchOptions;
using gpucoord::SwitchTable;
using gpucoord::VALUE;
using gpucoord::VIRIAL;
using gpucoord::Window;
using gpucoord::WINDOWED;
using Parse::position;

// Smallest loop worth parallelizing.
static constexpr int MANY = 4096;

// The name is 'neigh' because 'list' is a pair style, which pair_style hybrid would recognize.
const std::vector<Parse::Choice<PairCoord::Engine>> PairCoord::ENGINES = {
    {"auto", Engine::AUTO}, {"cells", Engine::CELLS}, {"neigh", Engine::NEIGH}};

/* ---------------------------------------------------------------------- */

PairCoord::PairCoord(LAMMPS *lmp) : Pair(lmp)
{
  // Without it, LAMMPS refuses run_style respa with the levels inner, middle and outer.
  respa_enable = LammpsCompat::knows_respa_split<Respa> ? 1 : 0;
  writedata = 1;
  // Every owned atom sums over all its neighbors. Ghost atoms get no forces.
  no_virial_fdotr_compute = 1;
}

PairCoord::~PairCoord()
{
  if (copymode) return;
  if (allocated) {
    memory->destroy(setflag);
    memory->destroy(cutsq);
    memory->destroy(epsilon);
  }
}

void PairCoord::allocate()
{
  allocated = 1;
  ntypes = atom->ntypes;
  memory->create(setflag, ntypes + 1, ntypes + 1, "pair:setflag");
  memory->create(cutsq, ntypes + 1, ntypes + 1, "pair:cutsq");
  memory->create(epsilon, ntypes + 1, ntypes + 1, "pair:epsilon");
  for (int i = 0; i <= ntypes; ++i)
    for (int j = 0; j <= ntypes; ++j) {
      setflag[i][j] = 0;
      cutsq[i][j] = epsilon[i][j] = 0.0;
    }
  coefficients.resize(static_cast<std::size_t>(ntypes + 1) * (ntypes + 1));
}

/* ----------------------------------------------------------------------
   pair_style coord keyword value ...
------------------------------------------------------------------------- */

void PairCoord::settings(int narg, char **arg)
{
  // Values of this command. After an error, the values of an earlier command remain valid.
  Engine new_engine = Engine::AUTO;
  auto new_precision = gpucoord::Precision::DOUBLE;
  auto new_device = Parse::Device::AUTO;
  int device_position = Error::NOLASTLINE;
  for (int iarg = 0; iarg < narg; iarg += 2) {
    const std::string keyword = arg[iarg];
    if (keyword == "engine")
      new_engine = Parse::choose("pair_style coord engine", iarg, narg, arg, ENGINES, input, error);
    else if (keyword == "precision")
      new_precision = Parse::choose("pair_style coord precision", iarg, narg, arg,
                                    Parse::PRECISIONS, input, error);
    else if (keyword == "device") {
      new_device =
          Parse::choose("pair_style coord device", iarg, narg, arg, Parse::DEVICES, input, error);
      device_position = position(input, arg[iarg + 1]);
    } else
      error->all(FLERR, position(input, arg[iarg]),
                 "Unknown pair_style coord keyword: {} - known are engine, precision, device",
                 keyword);
  }
  make_backends(new_device, "Pair_style coord", device_position);
  wanted_engine = new_engine;
  precision = new_precision;
  device = new_device;
}

void PairCoord::make_backends(Parse::Device wanted, const std::string &style, int argument)
{
  for (Level &level : levels)
    level.backend = std::make_unique<Backend>(lmp, wanted, style, argument);
  table_words.clear();
  changed = true;
}

/* ----------------------------------------------------------------------
   pair_coeff I J epsilon NAME [r0] keyword value ..., or pair_coeff I J none
------------------------------------------------------------------------- */

void PairCoord::coeff(int narg, char **arg)
{
  const bool is_none = narg > 2 && strcmp(arg[2], CoordSwitch::NONE) == 0;
  if (narg < 4 && !is_none)
    error->all(FLERR, Error::NOPOINTER,
               "Pair coord needs epsilon and a switching function, for example: pair_coeff 1 1 2.0 "
               "cubic dmax 2.5");
  if (!allocated) allocate();
  int ilo, ihi, jlo, jhi;
  Parse::type_range(arg[0], ntypes, ilo, ihi, error, position(input, arg[0]));
  Parse::type_range(arg[1], ntypes, jlo, jhi, error, position(input, arg[1]));
  CoordSwitch::OptionsOrNone options;
  double one = 0.0;
  if (is_none || strcmp(arg[3], CoordSwitch::NONE) == 0) {
    if (narg > 3)
      error->all(
          FLERR, position(input, arg[3]),
          "Pair coord: none takes no epsilon and no other words - write pair_coeff {} {} none",
          arg[0], arg[1]);
  } else {
    if (!utils::is_double(arg[2]))
      error->all(FLERR, position(input, arg[2]), "Pair coord epsilon must be a number, not '{}'",
                 arg[2]);
    one = utils::numeric(FLERR, arg[2], false, lmp);
    int iarg = 2;
    options =
        CoordSwitch(lmp, "Pair coord", "Unknown pair coord keyword").parse(iarg, narg, arg, {});
    const std::string why = CoordSwitch::why_no_potential(Switch(*options));
    if (!why.empty()) error->all(FLERR, position(input, arg[3]), "Pair coord {} {}", arg[3], why);
  }

  int count = 0;
  for (int i = ilo; i <= ihi; ++i)
    for (int j = MAX(jlo, i); j <= jhi; ++j) {
      epsilon[i][j] = one;
      coefficients_at(i, j).options = options;
      setflag[i][j] = 1;
      ++count;
    }
  if (count == 0)
    error->all(FLERR, position(input, arg[0]),
               "Pair coord: types {} {} include no pair of types I <= J - swap them", arg[0],
               arg[1]);
}

/* ---------------------------------------------------------------------- */

void PairCoord::init_style()
{
  if (!levels[WHOLE].backend)
    error->all(FLERR, Error::NOLASTLINE,
               "Pair coord has no settings after an earlier error - give pair_style coord again");
  cut_respa = nullptr;
  bool has_levels = false;
  levels[WHOLE].is_used = true;
  levels[INNER].is_used = levels[MIDDLE].is_used = false;
  if (update->whichflag == 1 && utils::strmatch(update->integrate_style, "^respa")) {
    const auto split = LammpsCompat::respa_split(static_cast<Respa *>(update->integrate));
    levels[INNER].is_used = split.has_inner;
    levels[MIDDLE].is_used = split.has_middle;
    has_levels = levels[INNER].is_used || levels[MIDDLE].is_used;
    if (has_levels) cut_respa = split.cutoff;
  }
  const std::string why = why_cells_differ();
  by_cells = wanted_engine == Engine::CELLS ||
      (wanted_engine == Engine::AUTO && levels[WHOLE].backend->is_cuda() && why.empty() &&
       !has_levels);
  if (by_cells && !why.empty())
    error->all(FLERR, Error::NOLASTLINE, "Pair coord: engine cells {} - use engine neigh", why);
  if (by_cells && has_levels)
    error->all(FLERR, Error::NOLASTLINE,
               "Pair coord: engine cells cannot split forces into the levels inner, middle and "
               "outer of run_style respa - use engine neigh, or level pair");
  if (!by_cells) {
    // LAMMPS derives half lists from any full list with the same pairs. It has no code for half
    // lists that other styles of a hybrid split into levels. It does not derive lists from a list
    // that includes neighbors of ghost atoms.
    const bool may_be_taken = has_levels && utils::strmatch(force->pair_style, "^hybrid");
    neighbor->add_request(this, NeighConst::REQ_FULL | (may_be_taken ? NeighConst::REQ_GHOST : 0));
  }

  // init_one() sets the pairs of types of this style again. The neighbor lists are new.
  for (auto &one : coefficients) one.function.reset();
  changed = true;
}

/* ----------------------------------------------------------------------
   Cutoff bins include all atoms, but neighbor lists exclude or mark some pairs. Returns the
   difference, or "".
------------------------------------------------------------------------- */

std::string PairCoord::why_cells_differ() const
{
  const double *const special = force->special_lj;
  if (neighbor->nex_type || neighbor->nex_group || neighbor->nex_mol)
    return "would count the pairs that neigh_modify exclude removes from the neighbor list";
  if (neighbor->includegroup)
    return "would count the atoms that neigh_modify include leaves out of the neighbor list";
  if (atom->molecular != Atom::ATOMIC &&
      (special[1] != 1.0 || special[2] != 1.0 || special[3] != 1.0))
    return fmt::format(
        "ignores bonds, but special_bonds lj gives bonded pairs the weights {} {} {}", special[1],
        special[2], special[3]);
  if (utils::strmatch(force->pair_style, "^hybrid/molecular"))
    return "ignores molecules, by which pair_style hybrid/molecular selects pairs";
  return "";
}

/* ---------------------------------------------------------------------- */

double PairCoord::init_one(int i, int j)
{
  if (setflag[i][j] == 0) mix(i, j);
  epsilon[j][i] = epsilon[i][j];
  Coefficients &c = coefficients_at(i, j);
  if (!c.options) {    // no pairs
    c.function.reset();
    changed = true;
    return 0.0;
  }
  SwitchOptions options = *c.options;
  options.shifted = offset_flag != 0;
  const std::string words = CoordSwitch::words(options) + (options.shifted ? " shifted" : "");
  // Fix adapt also calls init_one(), but keeps the function.
  if (!c.function || c.words != words) {
    c.function = std::make_unique<gpucoord::SwitchEvaluator>(Switch(options));
    c.words = words;
  }
  const Switch &function = c.function->function;
  changed = true;
  etail_ij = ptail_ij = 0.0;    // no tail correction: the function is 0 beyond dmax
  if (cut_respa && function.dmax() < cut_respa[3])
    error->all(FLERR, Error::NOLASTLINE,
               "Pair coord: dmax {:.10g} of types {} and {} is less than {:.10g}, where the last "
               "inner level of run_style "
               "respa ends - use shorter levels, or level pair",
               function.dmax(), i, j, cut_respa[3]);
  std::string why = function.why_imprecise(precision);
  if (!why.empty())
    error->all(FLERR, Error::NOLASTLINE, "Pair coord '{}' of types {} and {}: {}", words, i, j,
               why);
  why = GhostRange::why_too_long(function.dmax() + neighbor->skin, atom, comm, domain);
  if (!why.empty())
    error->all(FLERR, Error::NOLASTLINE,
               "Pair coord: dmax {:.10g} of types {} and {} {} - give a smaller dmax",
               function.dmax(), i, j, why);
  why = GhostRange::why_comm_cutoff_too_long(atom, comm, domain, force);
  if (!why.empty()) error->all(FLERR, Error::NOLASTLINE, "Pair coord: {}", why);
  return function.dmax();
}

/* ----------------------------------------------------------------------
   Mixes functions of the same form: epsilon and lengths follow pair_modify mix.
------------------------------------------------------------------------- */

void PairCoord::mix(int i, int j)
{
  const auto &given_a = coefficients_at(i, i).options, &given_b = coefficients_at(j, j).options;
  const auto refuse = [&](const std::string &why) {
    error->all(FLERR, Error::NOLASTLINE,
               "Pair coord: types {} and {} do not mix: {} - give pair_coeff {} {}", i, j, why, i,
               j);
  };
  if (!given_a && !given_b) {    // none
    epsilon[i][j] = 0.0;
    coefficients_at(i, j).options.reset();
    return;
  }
  if (!given_a || !given_b) refuse(fmt::format("the function of type {} is none", given_a ? j : i));
  const SwitchOptions &a = *given_a, &b = *given_b;
  const Switch full_a(a), full_b(b);
  const SwitchOptions &fa = full_a.options(), &fb = full_b.options();
  const auto form = [](SwitchOptions o) {    // copies all options except lengths
    o.r0 = SwitchOptions::NOT_GIVEN;
    for (const auto &p : SwitchInfo::get(o.kind).parameters)
      if (p.length_power != 0) o.*(p.value) = SwitchOptions::NOT_GIVEN;
    return CoordSwitch::words(o);
  };
  if (form(fa) != form(fb))
    refuse(fmt::format("their functions differ in more than lengths, '{}' and '{}'",
                       CoordSwitch::words(a), CoordSwitch::words(b)));
  if (epsilon[i][i] * epsilon[j][j] < 0.0)
    refuse(fmt::format("epsilon {} and {} differ in sign", epsilon[i][i], epsilon[j][j]));

  SwitchOptions mixed = a;
  const auto mix_lengths = [&](double SwitchOptions::*length, bool is_inverse = false) {
    if (std::isnan(a.*length) && std::isnan(b.*length)) return;
    // If only one is given, mix it with the default of the other.
    mixed.*length = is_inverse ? 1.0 / mix_distance(1.0 / fa.*length, 1.0 / fb.*length)
                               : mix_distance(fa.*length, fb.*length);
  };
  const SwitchInfo &function = SwitchInfo::get(a.kind);
  mix_lengths(&SwitchOptions::r0);
  for (const auto &p : function.parameters)
    if (p.length_power != 0) mix_lengths(p.value, p.length_power < 0);
  const double size_a = fa.*(function.size), size_b = fb.*(function.size);
  const double magnitude = mix_energy(fabs(epsilon[i][i]), fabs(epsilon[j][j]), size_a, size_b);
  std::string why;
  try {
    why = CoordSwitch::why_no_potential(Switch(mixed));
  } catch (const gpucoord::SwitchError &e) {
    why = e.what();
  }
  if (!why.empty()) refuse(fmt::format("'{}': {}", CoordSwitch::words(mixed), why));
  epsilon[i][j] = epsilon[i][i] < 0.0 || epsilon[j][j] < 0.0 ? -magnitude : magnitude;
  coefficients_at(i, j).options = mixed;
}

/* ----------------------------------------------------------------------
   Makes the functions and weights of all pairs of types, after init_one() was called for all of
   them. Fix adapt changes only epsilon, which requires no new functions. Collective.
------------------------------------------------------------------------- */

void PairCoord::make_table()
{
  changed = false;
  ++ntables;
  table = std::make_unique<SwitchTable>(ntypes);
  weight.assign(static_cast<std::size_t>(ntypes + 1) * (ntypes + 1), 0.0);
  interacts.assign(ntypes + 1, 0);
  std::string all_words = by_cells ? "cells\n" : "neigh\n";
  std::map<std::string, int> indices;    // [words] index of the function
  for (int i = 1; i <= ntypes; ++i)
    for (int j = i; j <= ntypes; ++j) {
      const auto &function = coefficients_at(i, j).function;
      if (!function) continue;
      const std::string &words = coefficients_at(i, j).words;
      if (!indices.count(words)) indices[words] = table->add(function->function);
      table->set(i, j, indices[words]);
      weight[table->index(i, j)] = weight[table->index(j, i)] = epsilon[i][j];
      interacts[i] = interacts[j] = 1;
      all_words += fmt::format("{} {} {}\n", i, j, words);
    }
  if (indices.empty())
    error->all(FLERR, Error::NOLASTLINE,
               "Pair coord: all pairs of types are none - give pair_coeff with a function for one "
               "of them");
  const bool is_new = all_words != table_words;
  if (is_new)    // includes levels that only a later run may use
    for (Level &level : levels) level.backend->reset();
  for (Level &level : levels)
    if (level.is_used) level.backend->init(*table, precision, "Pair coord");
  table_words = all_words;    // set only if init() raised no error
  if (comm->me != 0 || !update->setupflag) return;
  const std::string text = setup_text();
  if (text != printed) utils::logmesg(lmp, text);
  printed = text;
}

std::string PairCoord::data_path() const
{
  return std::string(by_cells ? "owned and ghost atoms" : "full neighbor list") +
      (levels[WHOLE].backend->is_cuda() ? " copied to the GPU" : "");
}

std::string PairCoord::setup_text() const
{
  const Backend &backend = *levels[WHOLE].backend;
  std::string mesg = fmt::format(
      "Pair coord: {}, precision {}, engine {}, {}\n", backend.description(),
      Parse::name_of(precision, Parse::PRECISIONS), by_cells ? "cells" : "neigh", data_path());
  // A jump at dmax violates energy conservation. Find the pairs of types with the largest jumps.
  struct {
    double size = 0.0;
    int i = 0, j = 0;
    void meet(double jump, int type_i, int type_j)
    {
      if (fabs(jump) <= size) return;
      size = fabs(jump);
      i = type_i;
      j = type_j;
    }
  } force_jump, energy_jump;
  for (int i = 1; i <= ntypes; ++i)
    for (int j = i; j <= ntypes; ++j) {
      const int index = table->function_of(i, j);
      if (index == SwitchTable::NONE) continue;
      const Switch &function = table->functions()[index];
      // Derivatives of the order of rounding errors are treated as zero.
      const double derivative = function.derivative_at_dmax();
      if (fabs(derivative) * function.dmax() > 1e-12)
        force_jump.meet(epsilon[i][j] * derivative, i, j);
      if (fabs(function.value_at_dmax()) > 1e-12)
        energy_jump.meet(epsilon[i][j] * function.value_at_dmax(), i, j);
    }
  if (force_jump.size > 0.0)
    mesg += fmt::format("  forces jump to 0 at dmax, by {:.6g} between types {} and {}\n",
                        force_jump.size, force_jump.i, force_jump.j);
  else
    mesg += "  forces go to 0 at dmax\n";
  if (energy_jump.size > 0.0)
    mesg += fmt::format("  energies jump to 0 at dmax, by {:.6g} between types {} and {}: "
                        "pair_modify shift yes avoids it\n",
                        energy_jump.size, energy_jump.i, energy_jump.j);
  return mesg;
}

/* ---------------------------------------------------------------------- */

void PairCoord::check_positions() const
{
  const int nall = atom->nlocal + atom->nghost;
  double **const x = atom->x;
  int bad = -1;
#pragma omp parallel for schedule(static) num_threads(comm->nthreads) if (nall > MANY) \
    reduction(max                                                                      \
              : bad)
  for (int i = 0; i < nall; ++i)
    if (!std::isfinite(x[i][0]) || !std::isfinite(x[i][1]) || !std::isfinite(x[i][2]))
      bad = MAX(bad, i);
  if (bad >= 0)
    error->one(FLERR, Error::NOLASTLINE,
               "Pair coord: the position of {} is not a finite number - the simulation is "
               "unstable, or positions were "
               "set wrongly",
               atom->tag_enable ? fmt::format("atom ID {}", atom->tag[bad]) : "an atom");
}

void PairCoord::select_atoms()
{
  const int nlocal = atom->nlocal, nall = nlocal + atom->nghost;
  // All types interact.
  if (std::find(interacts.begin() + 1, interacts.end(), 0) == interacts.end()) {
    nowned = nlocal;
    index.resize(nall);
#pragma omp parallel for schedule(static) num_threads(comm->nthreads) if (nall > MANY)
    for (int i = 0; i < nall; ++i) index[i] = i;
    return;
  }
  last_index.swap(index);
  index.clear();
  for (int i = 0; i < nall; ++i) {
    if (i == nlocal) nowned = static_cast<int>(index.size());
    if (interacts[atom->type[i]]) index.push_back(i);
  }
  if (nall == nlocal) nowned = static_cast<int>(index.size());
  if (index != last_index) ++levels[WHOLE].list_version;    // types have changed
}

/* ----------------------------------------------------------------------
   Selects the neighbors that can come into range before LAMMPS rebuilds its list. Until then, each
   atom moves by at most half the skin from its position at the last rebuild. A pair distance
   therefore changes by at most twice the skin from its current value.
------------------------------------------------------------------------- */

void PairCoord::shorten_list(Level &level, double range) const
{
  const double reach = range + 2.0 * neighbor->skin, reach_sq = reach * reach;
  double **const x = atom->x;
  level.neighbors.clear();
  level.numneigh.assign(atom->nlocal, 0);
  level.firstneigh.assign(atom->nlocal, nullptr);
  std::vector<std::size_t> first(atom->nlocal, 0);
  for (int ii = 0; ii < list->inum; ++ii) {
    const int i = list->ilist[ii];
    first[i] = level.neighbors.size();
    for (int k = 0; k < list->numneigh[i]; ++k) {
      const double *const xj = x[list->firstneigh[i][k] & NEIGHMASK];
      const double dx = xj[0] - x[i][0], dy = xj[1] - x[i][1], dz = xj[2] - x[i][2];
      if (dx * dx + dy * dy + dz * dz <= reach_sq)
        level.neighbors.push_back(list->firstneigh[i][k]);
    }
    level.numneigh[i] = static_cast<int>(level.neighbors.size() - first[i]);
  }
  for (int i = 0; i < atom->nlocal; ++i) level.firstneigh[i] = level.neighbors.data() + first[i];
}

/* ----------------------------------------------------------------------
   Returns this rank's contribution to energy and virial. The sums of its atoms are in 'sums'.
   Collective if coefficients changed.
------------------------------------------------------------------------- */

gpucoord::Contribution PairCoord::evaluate(Level &level, unsigned want, const Window *window)
{
  if (changed) make_table();
  const std::int64_t nsums =
      static_cast<std::int64_t>(gpucoord::peratom_columns(want)) * atom->nlocal;
  sums.resize(nsums);
#pragma omp parallel for schedule(static) num_threads(comm->nthreads) if (nsums > MANY)
  for (std::int64_t k = 0; k < nsums; ++k) sums[k] = 0.0;
  const double *const x = atom->nmax ? &atom->x[0][0] : nullptr;
  gpucoord::Contribution mine;
  check_positions();
  try {
    if (by_cells) {
      select_atoms();
      gpucoord::CellsInput in;
      in.x = x;
      in.a = {index.data(), static_cast<int>(index.size()), nowned};
      in.types = {atom->type, weight.data()};
      in.version = level.list_version;
      in.skin = neighbor->skin;
      mine = (*level.backend)->cells(in, want, sums.data());
    } else {
      gpucoord::ListInput in;
      in.x = x;
      in.nall = atom->nlocal + atom->nghost;
      in.a = {list->ilist, list->inum, list->inum};
      const bool is_short = &level != &levels[WHOLE];
      in.numneigh = is_short ? level.numneigh.data() : list->numneigh;
      in.firstneigh = is_short ? level.firstneigh.data() : list->firstneigh;
      in.neighmask = NEIGHMASK;
      in.version = level.list_version;
      in.types = {atom->type, weight.data()};
      // 2: neighbors of this kind are marked; other values exclude them or keep all.
      const int *const flag = neighbor->special_flag;
      if (atom->molecular != Atom::ATOMIC && (flag[1] == 2 || flag[2] == 2 || flag[3] == 2))
        in.special = force->special_lj;
      if (window) in.window = *window;
      mine = (*level.backend)->list(in, want, sums.data());
    }
  } catch (const gpucoord::DeviceError &e) {
    level.backend->reset();    // the next run makes a new backend
    error->one(FLERR, Error::NOLASTLINE,
               "Pair coord: rank {} failed with {} owned and {} ghost atoms: {} - use device host, "
               "more GPUs or fewer "
               "ranks per GPU",
               comm->me, atom->nlocal, atom->nghost, e.what());
  } catch (const std::bad_alloc &) {
    error->one(FLERR, Error::NOLASTLINE,
               "Pair coord: out of memory on rank {} with {} owned and {} ghost atoms - use more "
               "ranks or a smaller dmax",
               comm->me, atom->nlocal, atom->nghost);
  }
  if (!std::isfinite(mine.value))
    error->one(FLERR, Error::NOLASTLINE,
               "Pair coord: the energy on rank {} is not a finite number - use finite functions or "
               "a smaller epsilon",
               comm->me);
  return mine;
}

void PairCoord::add_forces(unsigned want)
{
  const std::size_t columns = gpucoord::peratom_columns(want);
  double **const f = atom->f;
  const int nlocal = atom->nlocal;
#pragma omp parallel for schedule(static) num_threads(comm->nthreads) if (nlocal > MANY)
  for (int i = 0; i < nlocal; ++i) {
    const double *const derivatives = &sums[columns * i + 1];
    for (int k = 0; k < 3; ++k) f[i][k] -= derivatives[k];
  }
}

// Each atom of a pair gets half of the pair's energy and virial.
void PairCoord::tally(unsigned want, const gpucoord::Contribution &mine)
{
  if (eflag_global) eng_vdwl += mine.value;
  if (vflag_global)
    for (int k = 0; k < 6; ++k) virial[k] += mine.virial[k];
  const std::size_t columns = gpucoord::peratom_columns(want);
  for (int i = 0; i < atom->nlocal && eflag_atom; ++i) eatom[i] += 0.5 * sums[columns * i];
  for (int i = 0; i < atom->nlocal && vflag_atom; ++i)
    for (int k = 0; k < 6; ++k) vatom[i][k] += 0.5 * sums[columns * i + 4 + k];
}

/* ---------------------------------------------------------------------- */

void PairCoord::compute(int eflag, int vflag)
{
  ev_init(eflag, vflag);
  if (neighbor->ago == 0) ++levels[WHOLE].list_version;
  unsigned want = DERIVATIVES;
  if (vflag_either) want |= VIRIAL;
  if (vflag_atom) want |= VIRIAL | ATOM_VIRIAL;
  const auto mine = evaluate(levels[WHOLE], want, nullptr);
  add_forces(want);
  tally(want, mine);
}

/* ----------------------------------------------------------------------
   run_style respa: forces are split into windows of distance. The outermost level computes all of
   the energy and virial.
------------------------------------------------------------------------- */

void PairCoord::compute_level(int ilevel, const Window &window, double range)
{
  Level &level = levels[ilevel];
  // Inner levels are evaluated many times between two rebuilds. The number of rebuilds restarts at
  // each setup.
  if (update->setupflag || level.list_built != neighbor->ncalls) {
    ++level.list_version;
    level.list_built = neighbor->ncalls;
    shorten_list(level, range);
  }
  evaluate(level, DERIVATIVES | WINDOWED, &window);
  add_forces(DERIVATIVES);
}

void PairCoord::compute_inner()
{
  Window window;
  window.fall_begin = cut_respa[0];
  window.fall_end = cut_respa[1];
  compute_level(INNER, window, window.fall_end);
}

void PairCoord::compute_middle()
{
  Window window;
  window.rise_begin = cut_respa[0];
  window.rise_end = cut_respa[1];
  window.fall_begin = cut_respa[2];
  window.fall_end = cut_respa[3];
  compute_level(MIDDLE, window, window.fall_end);
}

void PairCoord::compute_outer(int eflag, int vflag)
{
  ev_init(eflag, vflag);
  if (neighbor->ago == 0) ++levels[WHOLE].list_version;
  Window window;
  window.rise_begin = cut_respa[2];
  window.rise_end = cut_respa[3];
  evaluate(levels[WHOLE], DERIVATIVES | WINDOWED, &window);
  add_forces(DERIVATIVES);
  if (!evflag) return;
  unsigned want = VALUE;
  if (eflag_atom) want |= DERIVATIVES;
  if (vflag_either) want |= VIRIAL;
  if (vflag_atom) want |= DERIVATIVES | VIRIAL | ATOM_VIRIAL;
  const auto mine = evaluate(levels[WHOLE], want, nullptr);
  tally(want, mine);
}

/* ---------------------------------------------------------------------- */

double PairCoord::single(int /*i*/, int /*j*/, int itype, int jtype, double rsq,
                         double /*factor_coul*/, double factor_lj, double &fforce)
{
  const double r = sqrt(rsq);
  const auto &function = coefficients_at(MIN(itype, jtype), MAX(itype, jtype)).function;
  fforce = 0.0;
  if (!function) return 0.0;
  double derivative;
  const double s = (*function)(r, &derivative);
  const double scale = factor_lj * epsilon[itype][jtype];
  fforce = derivative == 0.0 ? 0.0 : -scale * derivative / r;    // also correct at r = 0
  return scale * s;
}

/* ---------------------------------------------------------------------- */

void *PairCoord::extract(const char *name, int &dim)
{
  dim = 2;
  return strcmp(name, "epsilon") == 0 ? (void *) epsilon : nullptr;
}

/* ---------------------------------------------------------------------- */

double PairCoord::memory_usage()
{
  double bytes =
      Pair::memory_usage() + static_cast<double>(gpucoord::bytes_of(sums, index, last_index));
  for (const Level &level : levels)
    bytes += (level.backend ? level.backend->bytes() : 0.0) +
        static_cast<double>(gpucoord::bytes_of(level.neighbors, level.numneigh, level.firstneigh));
  return bytes;
}
