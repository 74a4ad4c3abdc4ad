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

#include "compute_coord_gpu.h"

#include "coord_arguments.h"
#include "coord_gather.h"
#include "coord_switch.h"
#include "gpucoord_backend.h"
#include "gpucoord_box_edges.h"
#include "gpucoord_ghost_atoms.h"
#include "gpucoord_ghost_range.h"
#include "gpucoord_occasional_list.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "force.h"
#include "group.h"
#include "neigh_list.h"
#include "neigh_request.h"
#include "neighbor.h"
#include "pair.h"
#include "update.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>

using namespace LAMMPS_NS;
using gpucoord::ATOM_VIRIAL;
using gpucoord::DERIVATIVES;
using gpucoord::VALUE;
using gpucoord::VIRIAL;
using Groups = CoordArguments::Groups;
using Image = CoordArguments::Image;
using Engine = CoordArguments::Engine;

/* ---------------------------------------------------------------------- */

ComputeCoordGPU::ComputeCoordGPU(LAMMPS *lmp, int narg, char **arg) :
    ComputeCoordGPU(lmp, narg, arg, [&] {
      return std::make_unique<CoordArguments>(lmp, narg, arg);
    })
{
  if (function && function->options().kind == gpucoord::AtomFunctionKind::MIN)
    for (const CoordArguments::Function &f : args->functions) {
      if (f.is_none() || !f.function->has_end()) continue;
      const std::string why =
          CoordSwitch::why_negative(*f.function, "function min divides by sums of s, which");
      if (!why.empty())
        error->all(FLERR, f.position, "Compute coord/gpu {} {}: {}", f.words, arg[f.position], why);
    }
  backend =
      std::make_unique<Backend>(lmp, args->device, "Compute coord/gpu", args->device_position);
  if (function && backend->is_cuda() && comm->nprocs == 1 &&
      gpucoord::can_be_resident(*args->function)) {
    on_gpu = std::make_unique<gpucoord::DeviceFunction>();
    on_gpu->options = *args->function;
  }
}

ComputeCoordGPU::ComputeCoordGPU(LAMMPS *lmp, int narg, char **arg, const ReadArguments &read) :
    CoordVariable(lmp, narg, arg), args(read()), list(nullptr), list_version(0),
    list_ncalls(-1), nevaluations{}, scale(1.0), warned_empty(false), seeks_partners(false),
    is_rerun(false), groupbit2(0), last_path(Path::CELLS), selected(lmp)
{
  if (args->function) {
    function = std::make_unique<gpucoord::AtomFunction>(*args->function);
    ghosts.set_columns(1);
  }
  table = std::make_unique<gpucoord::SwitchTable>(args->table());
  gather = std::make_unique<CoordGather>(lmp, name);

  set_outputs(6 + (function ? function->nbins() : 0), function ? 5 : 4);
}

ComputeCoordGPU::~ComputeCoordGPU() = default;

/* ---------------------------------------------------------------------- */

void ComputeCoordGPU::init()
{
  groupbit2 = 0;
  if (!args->group2.empty()) {
    const int igroup2 = group->find(args->group2);
    if (igroup2 < 0)
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: group {} no longer exists - keep it while the compute uses it", name,
                 args->group2);
    groupbit2 = group->bitmask[igroup2];
  }
  selected.set_groups(groupbit, groupbit2);

  init_backend();

  const Path path = last_path = choose_path(current_box());
  if (path == Path::CELLS || path == Path::LIST) {
    // Neighbor and Comm set their cutoffs after init() of computes.
    double cutghost = comm->cutghostuser;
    if (force->pair) cutghost = MAX(cutghost, force->pair->cutforce + neighbor->skin);
    check_ghost_shell(cutghost);
    const std::string also =
        fmt::format(" and {}{}", args->range_word(),
                    args->accepts("engine") ? ", or engine allpairs with image minimum" : "");
    const std::string why = GhostRange::why_ghosts_too_many(
        cutghost, table->dmax() + neighbor->skin, also, atom, comm, domain, force);
    if (!why.empty()) error->all(FLERR, Error::NOLASTLINE, "{}: {}", name, why);
  }

  // Neighbor assigns lists again only if requests have changed. Otherwise keep the last list.
  if (args->engine == Engine::LIST) {
    if (neighbor->style == Neighbor::MULTI)
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: engine list cannot use neighbor style multi - use style bin or "
                 "nsq, or engine cells",
                 name);
    auto *request = neighbor->add_request(this, NeighConst::REQ_FULL | NeighConst::REQ_OCCASIONAL);
    request->set_cutoff(table->dmax() + neighbor->skin);
    ++list_version;
    list_ncalls = -1;
  }

  selected.begin_run();    // Neighbor's counts restart in each run
  std::fill(nevaluations, nevaluations + NWANTS, 0);
  CoordVariable::init();
  begin_warnings();
  print_setup(path);
}

void ComputeCoordGPU::init_list(int /*id*/, NeighList *ptr)
{
  list = ptr;
}

void ComputeCoordGPU::init_backend()
{
  backend->init(*table, args->precision, name);
}

DeviceChoice &ComputeCoordGPU::device_choice() const
{
  return *backend;
}

/* ----------------------------------------------------------------------
   Returns the current box.
------------------------------------------------------------------------- */

gpucoord::Box ComputeCoordGPU::current_box() const
{
  double edges[3][3];
  get_box_edges(domain, edges);
  const bool periodic[3] = {domain->xperiodic != 0, domain->yperiodic != 0,
                            domain->zperiodic != 0 && domain->dimension == 3};
  try {
    return gpucoord::make_box(edges, periodic);
  } catch (const std::exception &e) {
    error->all(FLERR, Error::NOLASTLINE, "{}: {}", name, e.what());
  }
}

/* ----------------------------------------------------------------------
   Chooses the engine. Raises an error if dmax is ambiguous.
------------------------------------------------------------------------- */

ComputeCoordGPU::Path ComputeCoordGPU::choose_path(const gpucoord::Box &current) const
{
  // Pair mode knows only the nearest image.
  if (args->groups == Groups::PAIRS || args->groups == Groups::PAIRS_FILE) return Path::PAIRS;

  const double limit = gpucoord::first_ambiguous_range(current);
  const double dmax = table->dmax();
  const bool ambiguous = current.nperiodic > 0 && dmax >= limit;    // r = dmax is in range

  if (ambiguous && args->image == Image::UNNAMED) {
    if (!table->has_end())
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: the range{} is infinite, so all images of an atom are in range - use image "
                 "minimum, or give dmax below {:.10g}, half the shortest period of the box",
                 name, args->longest_coeff(), limit);
    error->all(
        FLERR, Error::NOLASTLINE,
        "{}: dmax {:.10g}{}{} is not below {:.10g}, half the shortest period of the box, so "
        "several images of one atom are in range - give a smaller dmax, or use image minimum{}",
        name, dmax, args->longest_coeff(),
        std::isnan(args->longest().options.dmax) ? " (the default)" : "", limit,
        args->engine == Engine::ALLPAIRS ? "" : " or image all");
  }

  const bool ghosts_differ = ambiguous && args->image == Image::MINIMUM;
  switch (args->engine) {
    case Engine::AUTO:
      return ghosts_differ || !table->has_end() ? Path::ALLPAIRS : Path::CELLS;
    case Engine::ALLPAIRS:
      return Path::ALLPAIRS;
    default:
      if (ghosts_differ)
        error->all(FLERR, Error::NOLASTLINE,
                   "{}: image minimum with dmax {:.10g}{}, not below {:.10g}, half the "
                   "shortest period of the box, needs engine allpairs or auto",
                   name, dmax, args->longest_coeff(), limit);
      return args->engine == Engine::LIST ? Path::LIST : Path::CELLS;
  }
}

/* ----------------------------------------------------------------------
   Checks that every partner within dmax is an owned or ghost atom of this rank, until atoms have
   moved by the skin.
------------------------------------------------------------------------- */

void ComputeCoordGPU::check_ghost_shell(double cutghost) const
{
  const auto or_allpairs = [this](const char *verb) {
    return args->accepts("engine") ? fmt::format(", or {}engine allpairs with image minimum", verb)
                                   : "";
  };
  if (comm->mode != Comm::SINGLE)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: cannot use the ghost atoms of comm_modify mode multi - use mode single{}", name,
               or_allpairs(""));
  if (GhostAtoms::are_of_a_group(comm))
    error->all(FLERR, Error::NOLASTLINE,
               "{}: cannot use the ghost atoms of comm_modify group - remove it{}", name,
               or_allpairs("use "));
  const double need = table->dmax() + neighbor->skin;
  if (need > cutghost * (1.0 + 1e-9))
    error->all(FLERR, Error::NOLASTLINE,
               "{}: {}{} plus skin {:.10g} exceeds the ghost atom range {:.10g} - use "
               "comm_modify cutoff {} or more",
               name, args->range_word(), args->longest_coeff(), need, cutghost,
               GhostAtoms::in_four_digits(need));
}

/* ----------------------------------------------------------------------
   Checks that the neighbor lists are complete. They lack bonded pairs with special weight zero,
   which a coordination number counts.
------------------------------------------------------------------------- */

void ComputeCoordGPU::check_list_is_complete()
{
  if (atom->molecular == Atom::ATOMIC) return;
  const bool dropped[3] = {neighbor->special_flag[1] == 0, neighbor->special_flag[2] == 0,
                           neighbor->special_flag[3] == 0};
  if (!dropped[0] && !dropped[1] && !dropped[2]) return;
  if (atom->molecular == Atom::TEMPLATE)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: engine list does not support atom_style template with special_bonds weights of "
               "0, because it cannot find the bonded pairs that the neighbor list lacks - use "
               "engine cells",
               name);

  tagint bad[2] = {0, 0};
  for (int t = 0; t < selected.nfirst() && !bad[0]; ++t) {
    const int i = selected.first()[t];
    int first = 0;
    for (int level = 0; level < 3; ++level) {
      for (int k = first; dropped[level] && k < atom->nspecial[i][level]; ++k) {
        const int j = atom->map(atom->special[i][k]);
        if (j >= 0 && selected.is_partner(j)) {
          bad[0] = atom->tag[i];
          bad[1] = atom->special[i][k];
        }
      }
      first = atom->nspecial[i][level];
    }
  }
  struct {
    double value;
    int rank;
  } mine = {bad[0] ? 1.0 : 0.0, comm->me}, any;
  MPI_Allreduce(&mine, &any, 1, MPI_DOUBLE_INT, MPI_MAXLOC, world);
  if (any.value == 0.0) return;
  MPI_Bcast(bad, 2, MPI_LMP_TAGINT, any.rank, world);
  error->all(FLERR, Error::NOLASTLINE,
             "{}: engine list would miss bonded pairs of zero special_bonds weight, "
             "such as atom IDs {} and {} - use engine cells",
             name, bad[0], bad[1]);
}

/* ----------------------------------------------------------------------
   Returns this rank's contribution, computed by the backend or by the reference loops.
------------------------------------------------------------------------- */

gpucoord::Contribution ComputeCoordGPU::evaluate_path(Path path, unsigned want, double *peratom,
                                                      bool reference,
                                                      const gpucoord::SecondPass *second)
{
  switch (path) {
    case Path::PAIRS:
      pairs.second = second;
      return reference ? gpucoord::reference_pairs(*table, pairs, want, peratom)
                       : (*backend)->pairs(pairs, want, peratom);
    case Path::ALLPAIRS: {
      auto in = gather->allpairs(box);
      in.second = second;
      return reference ? gpucoord::reference_allpairs(*table, in, want, peratom)
                       : (*backend)->allpairs(in, want, peratom);
    }
    default: {
      auto cells = selected.cells_input();
      cells.second = second;
      if (reference) return gpucoord::reference_cells(*table, cells, want, peratom);
      if (path == Path::CELLS) return (*backend)->cells(cells, want, peratom);
      gpucoord::ListInput in;
      in.x = cells.x;
      in.nall = atom->nlocal + atom->nghost;
      in.a = cells.a;
      in.b = cells.b;
      in.member = selected.membership();
      in.numneigh = list->numneigh;
      in.firstneigh = list->firstneigh;
      in.neighmask = NEIGHMASK;
      in.version = list_version;
      in.types = cells.types;
      in.second = second;
      return (*backend)->list(in, want, peratom);
    }
  }
}

/* ----------------------------------------------------------------------
   Returns the error message of a rank whose backend failed.
------------------------------------------------------------------------- */

std::string ComputeCoordGPU::failure(Path path, const char *what, const std::string &way_out) const
{
  const std::size_t nowned = selected.nall() - selected.nghosts();
  const std::string others = path == Path::CELLS || path == Path::LIST
      ? fmt::format("{} ghost atoms", selected.nghosts())
      : fmt::format("{} atoms gathered over ranks", gather->natoms());
  return fmt::format("{}: rank {} failed with {} owned atoms of the groups and {}: {} - {}", name,
                     comm->me, nowned, others, what, way_out);
}

ComputeCoordGPU::Path ComputeCoordGPU::begin_evaluation(bool ghosts_are_current)
{
  need_init();
  box = current_box();
  const Path path = last_path = choose_path(box);
  if (path == Path::CELLS || path == Path::LIST) {
    check_ghost_shell(MAX(comm->cutghostuser, neighbor->cutneighmax));
    // Fix deform and fix press/berendsen change the box and the owned atoms at the end of a
    // timestep. The ghost atoms then still belong to the old box.
    if (domain->box_change && !ghosts_are_current) comm->forward_comm();
  }
  return path;
}

/* ---------------------------------------------------------------------- */

void ComputeCoordGPU::finish_local(LocalEvaluation &local)
{
  const Path path = local.path;
  atoms_to_host();
  local.bad_atom = selected.select();

  if (path == Path::LIST) {
    if (neighbor->exclude)
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: engine list would miss the pairs that neigh_modify exclude removes from the "
                 "neighbor list - use engine cells",
                 name);
    if (neighbor->includegroup)
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: engine list would miss the atoms that neigh_modify include "
                 "leaves out of the neighbor list - use engine cells",
                 name);
    // In KOKKOS runs, a build at the same timestep as the last one (run 0 twice) does not make
    // occasional lists due.
    const bool must_build = lmp->kokkos && list_ncalls != neighbor->ncalls;
    list_ncalls = neighbor->ncalls;
    if (build_occasional_list(neighbor, list, must_build)) ++list_version;
    check_list_is_complete();
  }
  if (path == Path::ALLPAIRS || path == Path::PAIRS) {
    if (args->groups == Groups::PAIRS_FILE)
      gather->ids(args->pair_ids);
    else
      gather->groups(groupbit, groupbit2);
    local.bad_atom = gather->bad_atom();
    // These functions raise errors on all ranks. Do not call them if one rank can fail alone.
    if (path == Path::PAIRS && !local.bad_atom)
      pairs = args->groups == Groups::PAIRS
          ? gather->pairs_of_groups(box)
          : gather->pairs_of_ids(box, args->id_pairs, groupbit, group->names[igroup]);
  }

  begin_local(local);
  if (!local.bad_atom) {
    try {
      evaluate_local(local);
    } catch (const gpucoord::DeviceError &e) {
      local.failed = failure(path, e.what(), "use device host, more GPUs or fewer ranks per GPU");
    } catch (const std::bad_alloc &) {
      local.failed = failure(path, "out of memory",
                             fmt::format("use more ranks or a smaller {}", args->range_word()));
    }
  }
  // Other ranks wait for the numbers of this rank. Gathered atoms are the same on all ranks.
  const bool can_fail_alone = path == Path::CELLS || path == Path::LIST || !local.bad_atom;
  if (can_fail_alone) complete_exchanges(local);
}

void ComputeCoordGPU::evaluate_local(LocalEvaluation &local)
{
  if (function) {
    local.mine = evaluate_function(local, false);
    return;
  }
  local.mine = evaluate_path(local.path, local.want, local.peratom, false, nullptr);
  local.value = local.mine.value;
}

/* ----------------------------------------------------------------------
   Evaluates S on all ranks. Sets array_atom and vector if dS/dx and W are requested. If a rank
   fails alone, its numbers contain an error flag. All ranks therefore reach the sum over ranks.
------------------------------------------------------------------------- */

double ComputeCoordGPU::evaluate(unsigned want, bool is_for_forces)
{
  const int n = nnumbers(want);
  std::vector<double> numbers(n), sums(n);
  if (state == State::STARTED) state = State::UNKNOWN;    // discard the started evaluation
  start_evaluation(want, is_for_forces);
  get_local_numbers(numbers.data());
  MPI_Allreduce(numbers.data(), sums.data(), n, MPI_DOUBLE, MPI_SUM, world);
  return finish_evaluation(sums.data());
}

void ComputeCoordGPU::start_evaluation(unsigned want, bool is_for_forces)
{
  running = {};
  running.path = begin_evaluation(is_for_forces);    // makes ghost atoms current
  running.is_for_forces = is_for_forces;
  running.seeks_partners = seeks_partners && (is_in_setup || !seeks_partners_in_setup());
  running.want = want;
  const bool is_copied = (want & ATOM_VIRIAL) || function;
  if ((want & DERIVATIVES) && (!keeps_gradients(running) || (want & ATOM_VIRIAL))) {
    reserve_array();
    if (array_atom) {
      const int ncolumns = gpucoord::peratom_columns(want);
      std::vector<double> &copied = want & ATOM_VIRIAL ? ten_columns : four_columns;
      if (is_copied)
        with_memory([&] {
          copied.resize(ncolumns * static_cast<std::size_t>(atom->nmax));
        });
      running.peratom = is_copied ? copied.data() : &array_atom[0][0];
      std::fill_n(running.peratom, ncolumns * static_cast<std::size_t>(atom->nlocal), 0.0);
    }
  }
  with_memory([&] {
    start_local(running);
  });
}

void ComputeCoordGPU::get_local_numbers(double *numbers)
{
  VariableHeader mine;
  with_memory([&] {
    finish_local(running);
    const bool is_valid = running.failed.empty() && !running.bad_atom;
    if (running.seeks_partners && is_valid && has_partners()) mine.has_partners = 1.0;
  });
  const bool counts_rows = function && args->groups == Groups::PAIRS_FILE;
  mine.natoms_a = counts_rows ? static_cast<double>(function_numbers.rows.size())
                              : selected.nfirst();
  mine.natoms_b = selected.npartners();
  mine.has_bad_atom = running.bad_atom ? 1.0 : 0.0;
  if (running.peratom) {
    const std::size_t n =
        gpucoord::peratom_columns(running.want) * static_cast<std::size_t>(atom->nlocal);
    for (std::size_t k = 0; k < n; ++k) mine.not_finite += 0.0 * running.peratom[k];
  }
  // In setup, a function that is not defined is no error.
  const bool is_ignored = is_in_setup && running.is_undefined;
  mine.has_failed = running.failed.empty() || is_ignored ? 0.0 : 1.0;
  set_header(mine, numbers);
  numbers[NHEADER] = is_ignored ? NAN : running.value;
  if (running.want & VIRIAL) std::copy_n(running.mine.virial, 6, numbers + NHEADER + 1);
}

double ComputeCoordGPU::finish_evaluation(const double *sums)
{
  const unsigned want = running.want;
  const VariableHeader all = header_of(sums);
  const double *const value = sums + NHEADER, *const virial = value + 1;
  const bool is_finite =
      std::isfinite(std::accumulate(value, sums + nnumbers(want), all.not_finite));
  if (is_in_setup && all.has_failed == 0.0 && (all.has_bad_atom > 0.0 || !is_finite)) return NAN;
  if (all.has_bad_atom > 0.0) {
    bigint any_bad;
    MPI_Allreduce(&running.bad_atom, &any_bad, 1, MPI_LMP_BIGINT, MPI_MAX, world);
    error->all(FLERR, Error::NOLASTLINE,
               "{}: the position of {} is not a finite number - the simulation is "
               "unstable, or positions were set wrongly",
               name, atom->tag_enable ? fmt::format("atom ID {}", any_bad) : "an atom");
  }
  if (all.has_failed > 0.0) device_choice().stop(running.failed);
  if (!is_finite)
    error->all(
        FLERR, Error::NOLASTLINE,
        "{}: S or a derivative is not a finite number, although all positions are - check {}: "
        "values, derivatives and sums must be finite",
        name, functions_in_words() + (function ? " or " + description() : ""));
  if (args->check_every && !is_in_setup && nevaluations[want] % args->check_every == 0)
    with_memory([&] {
      compare_with_reference(running);
    });
  ++nevaluations[want];

  double npairs_or_atoms = all.natoms_a;
  if (args->groups == Groups::PAIRS_FILE) {
    if (!function) npairs_or_atoms = static_cast<double>(args->id_pairs.size());
  } else
    warn_if_empty(static_cast<bigint>(all.natoms_a), static_cast<bigint>(all.natoms_b));

  set_scale(npairs_or_atoms);
  if (must_print_value) print_value(all.natoms_a, all.natoms_b, scale * *value);
  if (running.seeks_partners) {
    const bool are_alone = all.has_partners == 0.0 && all.natoms_a > 0.0 && all.natoms_b > 0.0;
    seeks_partners = !are_alone && seeks_partners_in_run();
    if (are_alone)
      warn_without_partners(static_cast<bigint>(all.natoms_a), *value);
    else if (function)
      warn_of_beta(*value);
  }
  if (want & VIRIAL)
    for (int k = 0; k < 6; ++k) vector[k] = scale * virial[k];
  if (want & VIRIAL && function && function->nbins()) set_histogram();
  double *const peratom = running.peratom;
  const std::size_t nlocal = atom->nlocal;
  const int ncolumns = gpucoord::peratom_columns(want);
  if (peratom && scale != 1.0)
    for (std::size_t i = 0; i < nlocal; ++i)
      for (int k = 1; k < ncolumns; ++k) peratom[ncolumns * i + k] *= scale;
  if (peratom && ((want & ATOM_VIRIAL) || function))
    for (std::size_t i = 0; i < nlocal; ++i) std::copy_n(peratom + ncolumns * i, 4, array_atom[i]);
  if (peratom && function) {
    for (std::size_t i = 0; i < nlocal; ++i) array_atom[i][4] = 0.0;
    for (std::size_t k = 0; k < function_numbers.rows.size(); ++k)
      array_atom[function_numbers.rows[k]][4] = function_numbers.f[k];
  }
  return scale * *value;
}

// Runs work. Lack of memory on one rank is an error of this rank.
template <class Work> void ComputeCoordGPU::with_memory(const Work &work) const
{
  try {
    work();
  } catch (const std::bad_alloc &) {
    out_of_memory();
  }
}

void ComputeCoordGPU::out_of_memory() const
{
  error->one(FLERR, Error::NOLASTLINE,
             "{}: out of memory on rank {} with {} atoms of the groups - use more "
             "ranks or a smaller {}",
             name, comm->me, selected.nall(), args->range_word());
}

void ComputeCoordGPU::set_scale(double npairs_or_atoms)
{
  scale = 1.0;
  if (args->norm == CoordArguments::Norm::MEAN)
    scale = npairs_or_atoms > 0.0 ? 1.0 / npairs_or_atoms : 0.0;
}

/* ---------------------------------------------------------------------- */

double ComputeCoordGPU::memory_usage()
{
  return CoordVariable::memory_usage() + selected.memory_usage() +
      static_cast<double>(ten_columns.capacity() + four_columns.capacity()) * sizeof(double) +
      static_cast<double>(function_numbers.s_of_atoms.capacity()) * sizeof(double);
}
