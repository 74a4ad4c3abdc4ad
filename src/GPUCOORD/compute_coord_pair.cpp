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

#include "compute_coord_pair.h"

#include "coord_arguments.h"
#include "coord_setup_text.h"
#include "gpucoord_backend.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "group.h"
#include "update.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <stdexcept>

using namespace LAMMPS_NS;
using gpucoord::ATOM_VIRIAL;
using gpucoord::DERIVATIVES;
using gpucoord::VIRIAL;
using Groups = CoordArguments::Groups;

/* ---------------------------------------------------------------------- */

const CoordStyle &CoordStyle::find(const std::string &name)
{
  const std::string style_name = name.substr(0, name.find("/kk"));
  if (style_name == "coord/gpu") return coordination_style;
#define ORDER_PARAMETER(style, definition, text) \
  if (style_name == #style) return definition;
#include "coord_styles.h"
  throw std::invalid_argument("CoordStyle::find");
}

ComputeCoordPair::ComputeCoordPair(LAMMPS *lmp, int narg, char **arg) :
    ComputeCoordPair(lmp, narg, arg, CoordStyle::find(arg[2]))
{
}

ComputeCoordPair::ComputeCoordPair(LAMMPS *lmp, int narg, char **arg,
                                   const CoordStyle &coord_style) :
    CoordVariable(lmp, narg, arg),
    data(lmp, name, igroup, coord_style.read(lmp, narg, arg), ghosts),
    evaluator(coord_style.make(lmp, data)), scale(1.0), nevaluations{},
    warnings(lmp, name, igroup, *data.args, *data.table, data.selected)
{
  const gpucoord::AtomFunction *const function = data.function.get();
  if (function) ghosts.set_columns(1);
  set_outputs(6 + (function ? function->nbins() : 0) + evaluator->nvector(),
              (function ? 5 : 4) + evaluator->ncolumns());
}

ComputeCoordPair::~ComputeCoordPair() = default;

/* ---------------------------------------------------------------------- */

void ComputeCoordPair::init()
{
  evaluator->check_box();
  int groupbit2 = 0;
  if (!data.args->group2.empty()) {
    const int igroup2 = group->find(data.args->group2);
    if (igroup2 < 0)
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: group {} no longer exists - keep it while the compute uses it", name,
                 data.args->group2);
    groupbit2 = group->bitmask[igroup2];
  }
  data.selected.set_groups(groupbit, groupbit2);
  if (data.within) data.within->init(id, style);

  evaluator->init_backend();
  data.paths.init();

  data.selected.begin_run();    // Neighbor's counts restart in each run
  std::fill(nevaluations, nevaluations + NWANTS, 0);
  CoordVariable::init();
  const bool is_dynamic = !dynamic_group().empty();
  warnings.begin_run(evaluator->partner_texts(), is_dynamic);
  // The numbers of atoms and S follow in the first evaluation. Dynamic groups change in runs, and
  // are empty before them.
  print_once(texts().lines(evaluator->device_choice(), data.paths.last(),
                           data_path(data.paths.last()), function_text()),
             is_dynamic ? "" : texts().groups());
}

/* ----------------------------------------------------------------------
   LAMMPS calls this with current ghost atoms before the setup of fixes. Evaluates S if it must be
   printed, because output of a later evaluation can be in the middle of thermodynamic output. If
   this cannot be done, the first evaluation prints S.
------------------------------------------------------------------------- */

void ComputeCoordPair::setup()
{
  const bool must_seek = warnings.is_due() && seeks_partners_in_setup();
  if ((!must_print_value && !must_seek) || !begin_setup()) return;
  evaluate_now(gpucoord::VALUE);
  end_setup();
}

// In KOKKOS runs, atoms on the host may be stale, and only KOKKOS styles can update them. Pairs of
// IDs can be wrong, and raise errors before finish_evaluation().
bool ComputeCoordPair::begin_setup()
{
  const bool has_atoms = kokkosable || !lmp->kokkos;
  is_in_setup = has_atoms && data.paths.last() != Path::PAIRS;
  if (is_in_setup && data.center()) data.center()->begin_setup();
  return is_in_setup;
}

// The next evaluation rebuilds its pairs, so that all later results have the bits of a run without
// the evaluation in setup.
void ComputeCoordPair::end_setup()
{
  CoordVariable::end_setup();
  if (data.center()) data.center()->end_setup();
  data.selected.begin_run();
  nevaluations[gpucoord::VALUE] = 0;
}

// An evaluation sets vector and array_atom.
void ComputeCoordPair::compute_vector()
{
  invoked_vector = update->ntimestep;
  evaluate_now(VIRIAL);
}

void ComputeCoordPair::compute_peratom()
{
  begin_peratom();
  evaluate_now(DERIVATIVES);
}

/* ----------------------------------------------------------------------
   texts
------------------------------------------------------------------------- */

// Returns the description of the function and its weights, or "".
std::string ComputeCoordPair::function_text() const
{
  const std::string text = evaluator->description();
  return data.within ? text + ", " + data.within->description() : text;
}

CoordSetupText ComputeCoordPair::texts() const
{
  return CoordSetupText(lmp, name, igroup, *data.args, *data.table);
}

std::string ComputeCoordPair::data_path(Path path) const
{
  const bool has_ghosts = CoordPaths::uses_ghosts(path);
  std::string text = has_ghosts ? "owned and ghost atoms" : "atoms gathered over ranks";
  if (evaluator->device_choice().is_cuda())
    text += fmt::format("{} copied to the GPU at every evaluation", has_ghosts ? "" : " and");
  return text;
}

// Returns the error message of a rank whose backend failed.
std::string ComputeCoordPair::failure(Path path, const char *what, const std::string &way_out) const
{
  const std::size_t nowned = data.selected.nall() - data.selected.nghosts();
  return fmt::format("{}: rank {} failed with {} owned atoms of the groups and {}: {} - {}", name,
                     comm->me, nowned, evaluator->other_atoms(path), what, way_out);
}

/* ----------------------------------------------------------------------
   the evaluation of one rank
------------------------------------------------------------------------- */

ComputeCoordPair::Path ComputeCoordPair::begin_evaluation(bool ghosts_are_current)
{
  need_init();
  data.paths.begin_evaluation(ghosts_are_current);
  return data.paths.last();
}

void ComputeCoordPair::finish_local(LocalEvaluation &local)
{
  atoms_to_host();
  local.bad_atom = data.selected.select();
  evaluator->begin(local);
  if (data.within) data.within->begin(data.numbers.rows, local.is_for_forces);
  if (!local.bad_atom) {
    try {
      evaluator->evaluate(local);
    } catch (const gpucoord::DeviceError &e) {
      local.failed =
          failure(local.path, e.what(), "use device host, more GPUs or fewer ranks per GPU");
    } catch (const std::bad_alloc &) {
      local.failed =
          failure(local.path, "out of memory",
                  fmt::format("use more ranks or a smaller {}", data.args->range_word()));
    }
  }
  // Other ranks wait for the numbers of this rank. Gathered atoms are the same on all ranks.
  const bool can_fail_alone = CoordPaths::uses_ghosts(local.path) || !local.bad_atom;
  if (can_fail_alone) evaluator->complete_exchanges(local);
  if (data.within)
    data.within->add(data.numbers.rows, data.numbers.f, local.value, local.want, local.peratom,
                     local.mine);
}

/* ----------------------------------------------------------------------
   Evaluates S on all ranks. Sets array_atom and vector if dS/dx and W are requested. If a rank
   fails alone, its numbers contain an error flag. All ranks therefore reach the sum over ranks.
------------------------------------------------------------------------- */

double ComputeCoordPair::evaluate(unsigned want, bool is_for_forces)
{
  const int n = nsums(want);
  std::vector<double> local_sums(n), sums(n);
  if (state == State::STARTED) state = State::UNKNOWN;    // discard the started evaluation
  start_evaluation(want, is_for_forces);
  get_local_sums(local_sums.data());
  MPI_Allreduce(local_sums.data(), sums.data(), n, MPI_DOUBLE, MPI_SUM, world);
  return finish_evaluation(sums.data());
}

void ComputeCoordPair::start(bool is_for_forces)
{
  start_evaluation(wanted & ~ON_HOST, is_for_forces);
  state = State::STARTED;
}

void ComputeCoordPair::finish(const double *sums)
{
  known_value = finish_evaluation(sums);
  state = keeps_gradients(running) ? State::DEVICE : State::HOST;
}

void ComputeCoordPair::start_evaluation(unsigned want, bool is_for_forces)
{
  running = {};
  running.path = begin_evaluation(is_for_forces);    // makes ghost atoms current
  running.is_for_forces = is_for_forces;
  running.want = want;
  warnings.begin_evaluation(is_in_setup || !seeks_partners_in_setup());
  running.seeks_partners = warnings.seeks();
  const bool is_copied = (want & ATOM_VIRIAL) || data.function;
  if ((want & DERIVATIVES) && (!keeps_gradients(running) || (want & ATOM_VIRIAL))) {
    reserve_array();
    if (array_atom)
      with_memory([&] {
        running.peratom =
            peratom_output.begin(want, is_copied, array_atom, atom->nmax, atom->nlocal);
      });
  }
  with_memory([&] {
    start_local(running);
  });
}

void ComputeCoordPair::get_local_sums(double *local_sums)
{
  VariableHeader mine;
  with_memory([&] {
    finish_local(running);
    const bool is_valid = running.failed.empty() && !running.bad_atom;
    if (running.seeks_partners && is_valid && evaluator->has_partners(running))
      mine.has_partners = 1.0;
  });
  const bool counts_rows = data.function && data.args->groups == Groups::PAIRS_FILE;
  mine.natoms_a = counts_rows ? static_cast<double>(data.numbers.rows.size())
                              : data.selected.nfirst();
  mine.natoms_b = data.selected.npartners();
  mine.has_bad_atom = running.bad_atom ? 1.0 : 0.0;
  if (running.peratom) {
    const std::size_t n =
        gpucoord::peratom_columns(running.want) * static_cast<std::size_t>(atom->nlocal);
    for (std::size_t k = 0; k < n; ++k) mine.not_finite += 0.0 * running.peratom[k];
  }
  // In setup, a function that is not defined is no error.
  const bool is_ignored = is_in_setup && running.is_undefined;
  mine.has_failed = running.failed.empty() || is_ignored ? 0.0 : 1.0;
  set_header(mine, local_sums);
  local_sums[NHEADER] = is_ignored ? NAN : running.value;
  if (running.want & VIRIAL) std::copy_n(running.mine.virial, 6, local_sums + NHEADER + 1);
}

double ComputeCoordPair::finish_evaluation(const double *sums)
{
  const unsigned want = running.want;
  const VariableHeader all = header_of(sums);
  const double *const value = sums + NHEADER, *const virial = value + 1;
  const bool is_finite = std::isfinite(std::accumulate(value, sums + nsums(want), all.not_finite));
  if (is_in_setup && all.has_failed == 0.0 && (all.has_bad_atom > 0.0 || !is_finite)) return NAN;
  if (all.has_bad_atom > 0.0 || all.has_failed > 0.0 || !is_finite) raise_errors(all);
  if (data.args->check_every && !is_in_setup && nevaluations[want] % data.args->check_every == 0)
    with_memory([&] {
      compare_with_reference(running);
    });
  ++nevaluations[want];

  const auto natoms_a = static_cast<bigint>(all.natoms_a),
             natoms_b = static_cast<bigint>(all.natoms_b);
  double npairs_or_atoms = all.natoms_a;
  if (data.args->groups == Groups::PAIRS_FILE) {
    if (!data.function) npairs_or_atoms = static_cast<double>(data.args->id_pairs.size());
  } else if (natoms_a == 0 || natoms_b == 0)
    warnings.warn_if_empty(evaluator->partner_texts(), natoms_a, natoms_b);

  set_scale(data.within ? data.within->sum() : npairs_or_atoms);
  if (must_print_value) {
    must_print_value = false;
    const std::string line = texts().value_line(all.natoms_a, all.natoms_b, scale * *value);
    if (comm->me == 0) utils::logmesg(lmp, line);
  }
  if (warnings.seeks()) warn_without_partners(all, *value);

  if (want & VIRIAL)
    for (int k = 0; k < 6; ++k) vector[k] = scale * virial[k];
  if (want & VIRIAL && data.function && data.function->nbins()) {
    data.numbers.get_histogram(*data.function, comm->nthreads, vector + 6, world);
    for (int k = 0; k < data.function->nbins(); ++k) vector[6 + k] *= scale;
  }
  if (running.peratom) {
    CoordPeratom::finish(running.peratom, want, scale, (want & ATOM_VIRIAL) || data.function,
                         array_atom, atom->nlocal);
    if (data.function) data.numbers.copy_f(array_atom, 4, atom->nlocal);
  }
  if (want & VIRIAL) set_vector(vector + 6 + (data.function ? data.function->nbins() : 0));
  evaluator->set_columns(array_atom, 5);
  return scale * *value;
}

// Collective.
void ComputeCoordPair::raise_errors(const VariableHeader &all)
{
  if (all.has_bad_atom > 0.0) {
    bigint any_bad;
    MPI_Allreduce(&running.bad_atom, &any_bad, 1, MPI_LMP_BIGINT, MPI_MAX, world);
    error->all(FLERR, Error::NOLASTLINE,
               "{}: the position of {} is not a finite number - the simulation is "
               "unstable, or positions were set wrongly",
               name, atom->tag_enable ? fmt::format("atom ID {}", any_bad) : "an atom");
  }
  if (all.has_failed > 0.0) evaluator->device_choice().stop(running.failed);
  error->all(FLERR, Error::NOLASTLINE,
             "{}: S or a derivative is not a finite number, although all positions are - check {}: "
             "values, derivatives and sums must be finite",
             name, texts().functions() + (data.function ? " or " + function_text() : ""));
}

// Collective. sum: S before norm
void ComputeCoordPair::warn_without_partners(const VariableHeader &all, double sum)
{
  const auto of_style = evaluator->partner_texts();
  const bool are_alone = all.has_partners == 0.0 && all.natoms_a > 0.0 && all.natoms_b > 0.0;
  warnings.found(!are_alone && of_style.seeks_in_run);
  if (!are_alone) {
    if (data.function) warnings.warn_of_beta(*data.function, data.numbers.s, sum);
    return;
  }
  atoms_to_host();
  warnings.warn_without_partners(of_style, static_cast<bigint>(all.natoms_a), sum, scale,
                                 data.paths.box(), evaluator->pairs_of_mode());
}

// Runs work. Lack of memory on one rank is an error of this rank.
template <class Work> void ComputeCoordPair::with_memory(const Work &work) const
{
  try {
    work();
  } catch (const std::bad_alloc &) {
    data.out_of_memory();
  }
}

void ComputeCoordPair::set_scale(double npairs_or_atoms)
{
  scale = 1.0;
  if (data.args->norm == CoordArguments::Norm::MEAN)
    scale = npairs_or_atoms > 0.0 ? 1.0 / npairs_or_atoms : 0.0;
  // The function sums over both atoms of each pair.
  if (data.function && data.args->counts_pairs_once()) scale *= 0.5;
}

/* ----------------------------------------------------------------------
   interface of collective variables
------------------------------------------------------------------------- */

// The second atoms of pairs/file may be in any group.
int ComputeCoordPair::groups() const
{
  const int center = data.center() ? data.center()->groups() : 0;
  return data.args->groups == Groups::PAIRS_FILE ? group->bitmask[0]
                                                 : groupbit | data.selected.second_bit() | center;
}

double ComputeCoordPair::rounding() const
{
  const bool sums_floats = data.args->precision != gpucoord::Precision::DOUBLE;
  return sums_floats ? 1e-6 : CollectiveVariable::rounding();
}

std::string ComputeCoordPair::why_no_bias() const
{
  return data.function && data.function->nbins()
      ? "its function histogram is for output only - bias a function such as between"
      : "";
}

void ComputeCoordPair::add_forces(const gpucoord::ItemFactors &factors)
{
  const double factor = factors.host_factor();
  if (factor == 0.0) return;
  double **const f = atom->f;
  const int nlocal = atom->nlocal;
  for (int i = 0; i < nlocal; ++i)
    for (int k = 0; k < 3; ++k) f[i][k] -= factor * array_atom[i][1 + k];
}

void ComputeCoordPair::add_gradients(const gpucoord::ItemFactors &factors, double **array,
                                     int first_column) const
{
  const double factor = factors.host_factor();
  const int nlocal = atom->nlocal;
  for (int i = 0; i < nlocal; ++i)
    for (int k = 0; k < 3; ++k) array[i][first_column + k] += factor * array_atom[i][1 + k];
}

void ComputeCoordPair::add_virial(const gpucoord::ItemFactors &factors, double *virial_of_fix) const
{
  const double factor = factors.host_factor();
  for (int k = 0; k < 6; ++k) virial_of_fix[k] += factor * vector[k];
}

void ComputeCoordPair::add_atom_virial(const gpucoord::ItemFactors &factors, double **vatom) const
{
  peratom_output.add_virial(factors.host_factor(), vatom, atom->nlocal);
}

double ComputeCoordPair::memory_usage()
{
  return CoordVariable::memory_usage() + data.memory_usage() + peratom_output.memory_usage() +
      evaluator->memory_usage();
}
