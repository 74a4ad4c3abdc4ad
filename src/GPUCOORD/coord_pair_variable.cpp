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

#include "coord_pair_variable.h"

#include "coord_arguments.h"
#include "coord_setup_text.h"
#include "gpucoord_backend.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "group.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>

using namespace LAMMPS_NS;
using gpucoord::ATOM_VIRIAL;
using gpucoord::DERIVATIVES;
using gpucoord::VIRIAL;
using Groups = CoordArguments::Groups;

/* ---------------------------------------------------------------------- */

CoordPairVariable::CoordPairVariable(LAMMPS *lmp, int narg, char **arg, const ReadArguments &read) :
    CoordVariable(lmp, narg, arg), args(read()),
    table(std::make_unique<gpucoord::SwitchTable>(args->table())), nevaluations{}, scale(1.0),
    selected(lmp), paths(lmp, name, *args, *table),
    warnings(lmp, name, igroup, *args, *table, selected)
{
  if (args->function) {
    function = std::make_unique<gpucoord::AtomFunction>(*args->function);
    ghosts.set_columns(1);
  }
  set_outputs(6 + (function ? function->nbins() : 0), function ? 5 : 4);
}

CoordPairVariable::~CoordPairVariable() = default;

/* ---------------------------------------------------------------------- */

void CoordPairVariable::init()
{
  int groupbit2 = 0;
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
  paths.init();

  selected.begin_run();    // Neighbor's counts restart in each run
  std::fill(nevaluations, nevaluations + NWANTS, 0);
  CoordVariable::init();
  const bool is_dynamic = !dynamic_group().empty();
  warnings.begin_run(partner_texts(), is_dynamic);
  // The numbers of atoms and S follow in the first evaluation. Dynamic groups change in runs, and
  // are empty before them.
  print_once(texts().lines(device_choice(), paths.last(), data_path(paths.last()), description()),
             is_dynamic ? "" : texts().groups());
}

/* ----------------------------------------------------------------------
   LAMMPS calls this with current ghost atoms before the setup of fixes. Evaluates S if it must be
   printed, because output of a later evaluation can be in the middle of thermodynamic output. If
   this cannot be done, the first evaluation prints S.
------------------------------------------------------------------------- */

void CoordPairVariable::setup()
{
  const bool must_seek = warnings.is_due() && seeks_partners_in_setup();
  if ((!must_print_value && !must_seek) || !begin_setup()) return;
  evaluate_now(gpucoord::VALUE);
  end_setup();
}

// In KOKKOS runs, atoms on the host may be stale, and only KOKKOS styles can update them. Pairs of
// IDs can be wrong, and raise errors before finish_evaluation().
bool CoordPairVariable::begin_setup()
{
  const bool has_atoms = kokkosable || !lmp->kokkos;
  is_in_setup = has_atoms && paths.last() != Path::PAIRS;
  return is_in_setup;
}

// The next evaluation rebuilds its pairs, so that all later results have the bits of a run without
// the evaluation in setup.
void CoordPairVariable::end_setup()
{
  CoordVariable::end_setup();
  selected.begin_run();
  nevaluations[gpucoord::VALUE] = 0;
}

/* ----------------------------------------------------------------------
   texts
------------------------------------------------------------------------- */

CoordSetupText CoordPairVariable::texts() const
{
  return CoordSetupText(lmp, name, igroup, *args, *table);
}

std::string CoordPairVariable::data_path(Path path) const
{
  const bool has_ghosts = CoordPaths::uses_ghosts(path);
  std::string data = has_ghosts ? "owned and ghost atoms" : "atoms gathered over ranks";
  if (device_choice().is_cuda())
    data += fmt::format("{} copied to the GPU at every evaluation", has_ghosts ? "" : " and");
  return data;
}

// Returns the error message of a rank whose backend failed.
std::string CoordPairVariable::failure(Path path, const char *what,
                                       const std::string &way_out) const
{
  const std::size_t nowned = selected.nall() - selected.nghosts();
  return fmt::format("{}: rank {} failed with {} owned atoms of the groups and {}: {} - {}", name,
                     comm->me, nowned, other_atoms(path), what, way_out);
}

std::string CoordPairVariable::other_atoms(Path /*path*/) const
{
  return fmt::format("{} ghost atoms", selected.nghosts());
}

// Returns the error text for a function that is not finite at the number s of an owned atom.
std::string CoordPairVariable::not_finite(int row, double s) const
{
  const auto words = args->words();
  return fmt::format("{}: function {} or its derivative is not a finite number at {} = {:.10g}{} - "
                     "use a function that is finite and smooth at all {}",
                     name, function->description(), words.symbol, s, atom_text(row), words.numbers);
}

std::string CoordPairVariable::atom_text(int row) const
{
  return atom->tag_enable ? fmt::format(" of atom ID {}", atom->tag[row]) : "";
}

/* ----------------------------------------------------------------------
   the evaluation of one rank
------------------------------------------------------------------------- */

CoordPairVariable::Path CoordPairVariable::begin_evaluation(bool ghosts_are_current)
{
  need_init();
  paths.begin_evaluation(ghosts_are_current);
  return paths.last();
}

void CoordPairVariable::finish_local(LocalEvaluation &local)
{
  atoms_to_host();
  local.bad_atom = selected.select();
  begin_local(local);
  if (!local.bad_atom) {
    try {
      evaluate_local(local);
    } catch (const gpucoord::DeviceError &e) {
      local.failed =
          failure(local.path, e.what(), "use device host, more GPUs or fewer ranks per GPU");
    } catch (const std::bad_alloc &) {
      local.failed = failure(local.path, "out of memory",
                             fmt::format("use more ranks or a smaller {}", args->range_word()));
    }
  }
  // Other ranks wait for the numbers of this rank. Gathered atoms are the same on all ranks.
  const bool can_fail_alone = CoordPaths::uses_ghosts(local.path) || !local.bad_atom;
  if (can_fail_alone) complete_exchanges(local);
}

/* ----------------------------------------------------------------------
   Evaluates S on all ranks. Sets array_atom and vector if dS/dx and W are requested. If a rank
   fails alone, its numbers contain an error flag. All ranks therefore reach the sum over ranks.
------------------------------------------------------------------------- */

double CoordPairVariable::evaluate(unsigned want, bool is_for_forces)
{
  const int n = nnumbers(want);
  std::vector<double> numbers(n), sums(n);
  if (state == State::STARTED) state = State::UNKNOWN;    // discard the started evaluation
  start_evaluation(want, is_for_forces);
  get_local_numbers(numbers.data());
  MPI_Allreduce(numbers.data(), sums.data(), n, MPI_DOUBLE, MPI_SUM, world);
  return finish_evaluation(sums.data());
}

void CoordPairVariable::start(bool is_for_forces)
{
  start_evaluation(wanted & ~ON_HOST, is_for_forces);
  state = State::STARTED;
}

void CoordPairVariable::finish(const double *sums)
{
  known_value = finish_evaluation(sums);
  state = keeps_gradients(running) ? State::DEVICE : State::HOST;
}

void CoordPairVariable::start_evaluation(unsigned want, bool is_for_forces)
{
  running = {};
  running.path = begin_evaluation(is_for_forces);    // makes ghost atoms current
  running.is_for_forces = is_for_forces;
  running.want = want;
  warnings.begin_evaluation(is_in_setup || !seeks_partners_in_setup());
  const bool is_copied = (want & ATOM_VIRIAL) || function;
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

void CoordPairVariable::get_local_numbers(double *numbers)
{
  VariableHeader mine;
  with_memory([&] {
    finish_local(running);
    const bool is_valid = running.failed.empty() && !running.bad_atom;
    if (warnings.seeks() && is_valid && has_partners()) mine.has_partners = 1.0;
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

double CoordPairVariable::finish_evaluation(const double *sums)
{
  const unsigned want = running.want;
  const VariableHeader all = header_of(sums);
  const double *const value = sums + NHEADER, *const virial = value + 1;
  const bool is_finite =
      std::isfinite(std::accumulate(value, sums + nnumbers(want), all.not_finite));
  if (is_in_setup && all.has_failed == 0.0 && (all.has_bad_atom > 0.0 || !is_finite)) return NAN;
  if (all.has_bad_atom > 0.0 || all.has_failed > 0.0 || !is_finite) raise_errors(all);
  if (args->check_every && !is_in_setup && nevaluations[want] % args->check_every == 0)
    with_memory([&] {
      compare_with_reference(running);
    });
  ++nevaluations[want];

  const auto natoms_a = static_cast<bigint>(all.natoms_a),
             natoms_b = static_cast<bigint>(all.natoms_b);
  double npairs_or_atoms = all.natoms_a;
  if (args->groups == Groups::PAIRS_FILE) {
    if (!function) npairs_or_atoms = static_cast<double>(args->id_pairs.size());
  } else if (natoms_a == 0 || natoms_b == 0)
    warnings.warn_if_empty(partner_texts(), natoms_a, natoms_b);

  set_scale(npairs_or_atoms);
  if (must_print_value) {
    must_print_value = false;
    const std::string line = texts().value_line(all.natoms_a, all.natoms_b, scale * *value);
    if (comm->me == 0) utils::logmesg(lmp, line);
  }
  if (warnings.seeks()) warn_without_partners(all, *value);

  if (want & VIRIAL)
    for (int k = 0; k < 6; ++k) vector[k] = scale * virial[k];
  if (want & VIRIAL && function && function->nbins()) {
    function_numbers.get_histogram(*function, comm->nthreads, vector + 6, world);
    for (int k = 0; k < function->nbins(); ++k) vector[6 + k] *= scale;
  }
  if (running.peratom) {
    CoordPeratom::finish(running.peratom, want, scale, (want & ATOM_VIRIAL) || function, array_atom,
                         atom->nlocal);
    if (function) function_numbers.copy_f(array_atom, 4, atom->nlocal);
  }
  copy_outputs();
  return scale * *value;
}

// Collective.
void CoordPairVariable::raise_errors(const VariableHeader &all)
{
  if (all.has_bad_atom > 0.0) {
    bigint any_bad;
    MPI_Allreduce(&running.bad_atom, &any_bad, 1, MPI_LMP_BIGINT, MPI_MAX, world);
    error->all(FLERR, Error::NOLASTLINE,
               "{}: the position of {} is not a finite number - the simulation is "
               "unstable, or positions were set wrongly",
               name, atom->tag_enable ? fmt::format("atom ID {}", any_bad) : "an atom");
  }
  if (all.has_failed > 0.0) device_choice().stop(running.failed);
  error->all(FLERR, Error::NOLASTLINE,
             "{}: S or a derivative is not a finite number, although all positions are - check {}: "
             "values, derivatives and sums must be finite",
             name, texts().functions() + (function ? " or " + description() : ""));
}

// Collective. sum: S before norm
void CoordPairVariable::warn_without_partners(const VariableHeader &all, double sum)
{
  const auto of_style = partner_texts();
  const bool are_alone = all.has_partners == 0.0 && all.natoms_a > 0.0 && all.natoms_b > 0.0;
  warnings.found(!are_alone && of_style.seeks_in_run);
  if (!are_alone) {
    if (function) warnings.warn_of_beta(*function, function_numbers.s, sum);
    return;
  }
  atoms_to_host();
  warnings.warn_without_partners(of_style, static_cast<bigint>(all.natoms_a), sum, scale,
                                 paths.box(), pairs_of_mode());
}

// Runs work. Lack of memory on one rank is an error of this rank.
template <class Work> void CoordPairVariable::with_memory(const Work &work) const
{
  try {
    work();
  } catch (const std::bad_alloc &) {
    out_of_memory();
  }
}

void CoordPairVariable::out_of_memory() const
{
  error->one(FLERR, Error::NOLASTLINE,
             "{}: out of memory on rank {} with {} atoms of the groups - use more "
             "ranks or a smaller {}",
             name, comm->me, selected.nall(), args->range_word());
}

void CoordPairVariable::set_scale(double npairs_or_atoms)
{
  scale = 1.0;
  if (args->norm == CoordArguments::Norm::MEAN)
    scale = npairs_or_atoms > 0.0 ? 1.0 / npairs_or_atoms : 0.0;
}

/* ----------------------------------------------------------------------
   interface of collective variables
------------------------------------------------------------------------- */

std::string CoordPairVariable::dynamic_group() const
{
  if (group->dynamic[igroup]) return group->names[igroup];
  const int igroup2 = args->group2.empty() ? -1 : group->find(args->group2);
  return igroup2 >= 0 && group->dynamic[igroup2] ? group->names[igroup2] : "";
}

// The second atoms of pairs/file may be in any group.
int CoordPairVariable::groups() const
{
  return args->groups == Groups::PAIRS_FILE ? group->bitmask[0] : groupbit | selected.second_bit();
}

double CoordPairVariable::rounding() const
{
  const bool sums_floats = args->precision != gpucoord::Precision::DOUBLE;
  return sums_floats ? 1e-6 : CollectiveVariable::rounding();
}

std::string CoordPairVariable::why_no_bias() const
{
  return function && function->nbins()
      ? "its function histogram is for output only - bias a function such as between"
      : "";
}

void CoordPairVariable::add_forces(const gpucoord::ItemFactors &factors)
{
  const double factor = factors.host_factor();
  if (factor == 0.0) return;
  double **const f = atom->f;
  const int nlocal = atom->nlocal;
  for (int i = 0; i < nlocal; ++i)
    for (int k = 0; k < 3; ++k) f[i][k] -= factor * array_atom[i][1 + k];
}

void CoordPairVariable::add_gradients(const gpucoord::ItemFactors &factors, double **array,
                                      int first_column) const
{
  const double factor = factors.host_factor();
  const int nlocal = atom->nlocal;
  for (int i = 0; i < nlocal; ++i)
    for (int k = 0; k < 3; ++k) array[i][first_column + k] += factor * array_atom[i][1 + k];
}

void CoordPairVariable::add_virial(const gpucoord::ItemFactors &factors,
                                   double *virial_of_fix) const
{
  const double factor = factors.host_factor();
  for (int k = 0; k < 6; ++k) virial_of_fix[k] += factor * vector[k];
}

void CoordPairVariable::add_atom_virial(const gpucoord::ItemFactors &factors, double **vatom) const
{
  peratom_output.add_virial(factors.host_factor(), vatom, atom->nlocal);
}

double CoordPairVariable::memory_usage()
{
  return CoordVariable::memory_usage() + selected.memory_usage() + peratom_output.memory_usage() +
      function_numbers.memory_usage();
}
