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

#include "coord_evaluator_kokkos.h"

#include "coord_arguments.h"
#include "coord_ghost_numbers.h"
#include "coord_variable.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "comm.h"
#include "neighbor.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

ResidentEvaluator::ResidentEvaluator(LAMMPS *lmp, CoordPairData &data_in) :
    Pointers(lmp), device(KokkosDevice::get(lmp)), data(data_in),
    function_is_resident(data.function && gpucoord::can_be_resident(*data.args->function))
{
}

ResidentEvaluator::~ResidentEvaluator() = default;

void ResidentEvaluator::begin_run()
{
  device->begin_run();
  skin = neighbor->skin;
  warned_moved = false;
}

void ResidentEvaluator::make()
{
  make_variable();
  variable()->discard_errors(device->stream());    // errors may belong to an earlier run
  if (function_is_resident)
    function_on_device =
        gpucoord::make_resident_function(*data.args->function, data.args->precision);
  function_version = 0;
  data.ghosts.forget_device_owners();
}

/* ---------------------------------------------------------------------- */

gpucoord::DeviceAtoms ResidentEvaluator::rebuild()
{
  const bool is_dynamic = !data.dynamic_group().empty();
  const bool needs_mask = data.igroup != 0 || data.selected.second_bit();
  const auto atoms = device->atoms(needs_mask, reads_types());
  gpucoord::DeviceSelection selection;
  selection.bit_a = data.groupbit;
  selection.bit_b = data.selected.second_bit();
  selection.skin = skin;
  selection.tests_ghosts = false;    // LAMMPS rebuilds its lists in time if the box changes
  selection.neighbors = neighbors();
  const std::int64_t version = is_dynamic ? 0 : device->version();
  variable()->rebuild(atoms, selection, version, device->stream());
  if (data.function && (version == 0 || version != function_version))
    begin_function(atoms, version);
  return atoms;
}

gpucoord::DeviceValue ResidentEvaluator::device_value() const
{
  gpucoord::DeviceValue value = variable()->device_value();
  if (is_sum_of_function())
    value.sum = one_over_weights() ? function_on_device->mean() : function_on_device->sum();
  return value;
}

// Keyword check compares weights on the host.
bool ResidentEvaluator::has_resident_weights() const
{
  return !data.args->check_every && (!data.center() || data.center()->is_resident());
}

void ResidentEvaluator::find_center(LocalEvaluation &local) const
{
  if (data.within)
    attempt(local, [&] {
      data.within->find_center(gpucoord::DERIVATIVES, local.is_for_forces);
    });
}

const double *ResidentEvaluator::one_over_weights() const
{
  const bool divides = data.within && data.args->norm == CoordArguments::Norm::MEAN;
  return divides ? function_on_device->mean() + 1 : nullptr;
}

void ResidentEvaluator::evaluate_function()
{
  if (data.within)
    function_on_device->set_region(data.within->region(), device->atoms(false, false),
                                   device->stream());
  function_on_device->evaluate(device->stream());
}

void ResidentEvaluator::add_weight_forces(const gpucoord::DeviceForces &forces,
                                          const gpucoord::Factor &factor, bool is_enqueued)
{
  const bool has_mean = is_enqueued && one_over_weights();
  function_on_device->add_forces(forces, factor, data.within->mean(),
                                 has_mean ? function_on_device->mean() : nullptr, device->stream());
}

void ResidentEvaluator::add_center_forces(double factor, bool is_enqueued)
{
  gpucoord::ItemFactors factors = data.within->center_factors(factor);
  if (is_enqueued) {
    factors.host = 1.0;
    factors.on_host = nullptr;
    factors.on_device = function_on_device->center_factors();
  }
  data.center()->add_forces(factors);
}

void ResidentEvaluator::finish(LocalEvaluation &local)
{
  attempt(local, [&] {
    const auto result = variable()->result(device->stream());
    local.mine.value = local.value = result.value;
    std::copy_n(result.virial, 6, local.mine.virial);
    if (result.bad_atom >= 0) {
      atoms_to_host(atomKK);
      local.bad_atom = data.selected.select();
    }
    if (result.moved) warn_of_moved_atoms();
    if (local.peratom && !local.bad_atom) variable()->peratom(local.peratom, device->stream());
    if (data.function && !local.bad_atom) fetch_function(local);
  });
  if (data.within) add_within(local);
  data.selected.set_counts(variable()->natoms_a(), variable()->natoms_b());
}

/* ----------------------------------------------------------------------
   The function of per-atom values. A ghost atom has the weight of its owner. On one rank,
   kernels read the weight of the owner. On several ranks, weights are communicated in each
   evaluation.
------------------------------------------------------------------------- */

void ResidentEvaluator::begin_function(const gpucoord::DeviceAtoms &atoms, std::int64_t version)
{
  function_version = 0;    // stays 0 if an exception is thrown
  gpucoord::DeviceAtoms all = atoms;
  all.nall = atom->nmax;    // see GhostNumbers::reserve()
  function_on_device->select(all, data.groupbit, device->stream());
  if (comm->nprocs == 1 && is_sum_of_function())
    data.ghosts.owners(*function_on_device, device->version(), device->stream());
  function_version = version;
}

const int *ResidentEvaluator::owners() const
{
  return comm->nprocs == 1 ? function_on_device->owners() : nullptr;
}

std::string ResidentEvaluator::dSds_too_large(int row, double s, double dSds) const
{
  return fmt::format(
      "{}: the derivative of function {} is {:.3g} at {} = {:.10g}{}, "
      "above {:.3g}, the limit of precision mixed and single with KOKKOS on a GPU - use precision "
      "double or device host",
      data.name, data.function->description(), dSds, data.args->terms().symbol, s,
      data.atom_text(row), gpucoord::max_dSds(data.args->precision));
}

// Waits for S and, if requested, for the per-atom numbers and their f.
void ResidentEvaluator::fetch_function(LocalEvaluation &local)
{
  const auto result = function_on_device->result();
  if (is_sum_of_function()) local.value = result.value;
  local.is_undefined = result.bad >= 0;
  if (local.is_undefined) {
    atomKK->sync(Host, TAG_MASK);
    const double dSds = std::fabs(result.dSds_of_bad);
    local.failed = std::isfinite(dSds) && dSds > gpucoord::max_dSds(data.args->precision)
        ? dSds_too_large(result.bad, result.s_of_bad, result.dSds_of_bad)
        : data.not_finite(result.bad, result.s_of_bad);
  }
  if (!local.peratom) return;
  const std::size_t nlocal = atom->nlocal, columns = gpucoord::peratom_columns(local.want);
  FunctionNumbers &numbers = data.numbers;
  numbers.s.resize(nlocal);
  numbers.f.resize(nlocal);
  numbers.rows.resize(nlocal);
  std::iota(numbers.rows.begin(), numbers.rows.end(), 0);
  function_on_device->copy_numbers(numbers.s.data(), numbers.f.data(), device->stream());
  for (std::size_t i = 0; i < nlocal; ++i) local.peratom[columns * i] += numbers.s[i];
}

// Collective. Adds the gradients of the weights to W, and to the per-atom output if requested.
// The host then evaluates the weights once more.
void ResidentEvaluator::add_within(LocalEvaluation &local)
{
  const bool is_mean = data.args->norm == CoordArguments::Norm::MEAN;
  gpucoord::RegionSums sums;
  if (!local.peratom && (is_mean || data.center() || (local.want & gpucoord::VIRIAL)))
    attempt(local, [&] {
      sums = function_on_device->region_sums(device->stream());
    });
  const bool is_valid = local.failed.empty() && !local.bad_atom;
  if (!local.peratom || !is_valid) {
    // The other ranks find the center.
    if (local.peratom && data.center()) data.within->begin({}, local.is_for_forces);
    data.within->add_sums(local.value, sums, local.mine);
    return;
  }
  atoms_to_host(atomKK);
  std::vector<int> rows;
  std::vector<double> f;
  for (int i = 0; i < atom->nlocal; ++i) {
    if (!(atom->mask[i] & data.groupbit)) continue;
    rows.push_back(i);
    f.push_back(data.numbers.f[i]);
  }
  data.within->begin(rows, local.is_for_forces);
  data.within->add(rows, f, local.value, local.want, local.peratom, local.mine);
}

/* ---------------------------------------------------------------------- */

void ResidentEvaluator::atoms_to_host(AtomKokkos *atoms)
{
  atoms->sync(Host, X_MASK | TAG_MASK | TYPE_MASK | MASK_MASK | IMAGE_MASK | RMASS_MASK);
}

void ResidentEvaluator::warn_of_moved_atoms()
{
  if (!warned_moved) device->warn_of_moved_atoms(data.name, data.args->range_word());
  warned_moved = true;
}

std::string ResidentEvaluator::failure(const char *what) const
{
  return fmt::format("{}: rank {} failed with {} owned and {} ghost atoms: {} - "
                     "use device host, more GPUs "
                     "or fewer ranks per GPU",
                     data.name, comm->me, atom->nlocal, atom->nghost, what);
}

double ResidentEvaluator::bytes_copied() const
{
  return static_cast<double>(variable()->bytes_copied() +
                             (data.function ? function_on_device->bytes_copied() : 0)) +
      (data.center() ? data.center()->bytes_copied() : 0.0);
}

double ResidentEvaluator::memory_usage() const
{
  return (variable() ? static_cast<double>(variable()->bytes()) : 0.0) +
      (function_on_device ? static_cast<double>(function_on_device->bytes()) : 0.0);
}
