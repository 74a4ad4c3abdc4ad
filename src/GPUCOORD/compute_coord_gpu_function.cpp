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

// S as a function of coordination numbers: the steps between the two passes over pairs.

#include "compute_coord_gpu.h"

#include "coord_arguments.h"
#include "coord_gather.h"

#include "atom.h"
#include "comm.h"
#include "group.h"

#include <algorithm>
#include <iterator>
#include <new>

using namespace LAMMPS_NS;
using gpucoord::DERIVATIVES;
using gpucoord::VIRIAL;

/* ----------------------------------------------------------------------
   Lists the owned atoms whose coordination numbers count, and reserves memory.
------------------------------------------------------------------------- */

void ComputeCoordGPU::list_rows()
{
  if (args->groups == CoordArguments::Groups::PAIRS_FILE) {    // count each first atom once
    function_numbers.rows.clear();
    std::copy_if(pairs.row_a, pairs.row_a + pairs.n, std::back_inserter(function_numbers.rows),
                 [](int row) {
                   return row >= 0;
                 });
    std::sort(function_numbers.rows.begin(), function_numbers.rows.end());
    function_numbers.rows.erase(
        std::unique(function_numbers.rows.begin(), function_numbers.rows.end()),
        function_numbers.rows.end());
  } else
    function_numbers.rows.assign(selected.first().begin(),
                                 selected.first().begin() + selected.nfirst());
  for (auto *numbers : {&function_numbers.s, &function_numbers.f, &function_numbers.dSds})
    numbers->resize(function_numbers.rows.size());
  function_numbers.s_of_atoms.assign(atom->nlocal, 0.0);
  function_numbers.is_reduced = false;
}

void ComputeCoordGPU::begin_function()
{
  list_rows();
  ghosts.reserve();
}

void ComputeCoordGPU::begin_local(const LocalEvaluation & /*local*/)
{
  if (function) begin_function();
}

void ComputeCoordGPU::complete_exchanges(LocalEvaluation &local)
{
  if (!function || function_numbers.is_reduced) return;
  function_numbers.rows.clear();
  evaluate_weights(local);
}

/* ----------------------------------------------------------------------
   Collective. Evaluates the function. Returns dS/ds_i of the owned and ghost atoms, the gathered
   atoms or the pairs of the engine; null: derivatives are not requested.
------------------------------------------------------------------------- */

const double *ComputeCoordGPU::evaluate_weights(LocalEvaluation &local)
try {
  function_numbers.is_reduced = true;
  const auto n = static_cast<std::int64_t>(function_numbers.rows.size());
  for (std::int64_t k = 0; k < n; ++k)
    function_numbers.s[k] = function_numbers.s_of_atoms[function_numbers.rows[k]];
  const auto result = function->evaluate(n, function_numbers.s.data(), function_numbers.f.data(),
                                         function_numbers.dSds.data(), reduction(), comm->nthreads);
  local.value = function->is_sum() || comm->me == 0 ? result.value : 0.0;
  local.is_undefined = result.bad >= 0;
  if (local.is_undefined)
    local.failed = not_finite(function_numbers.rows[result.bad], function_numbers.s[result.bad]);
  if (!(local.want & (DERIVATIVES | VIRIAL))) return nullptr;

  double *const weights = ghosts.zeros();
  for (std::int64_t k = 0; k < n; ++k) weights[function_numbers.rows[k]] = function_numbers.dSds[k];
  switch (local.path) {
    case Path::PAIRS:
      return gather->numbers_of_pairs(weights).data();
    case Path::ALLPAIRS:
      return gather->numbers_of_group(weights).data();
    default:
      ghosts.forward();
      return weights;
  }
} catch (const std::bad_alloc &) {
  out_of_memory();    // other ranks wait for this one
}

// Returns a function that computes sums or largest values over ranks.
gpucoord::AtomFunction::Reduce ComputeCoordGPU::reduction() const
{
  return [this](double *numbers, int count, gpucoord::AtomFunction::Reduction by) {
    const bool is_sum = by == gpucoord::AtomFunction::Reduction::SUM;
    MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_DOUBLE, is_sum ? MPI_SUM : MPI_MAX, world);
  };
}

// Returns the error text for a function that is not finite at the number s of an owned atom.
std::string ComputeCoordGPU::not_finite(int row, double s) const
{
  return fmt::format("{}: function {} or its derivative is not a finite number at {} = {:.10g}{} - "
                     "use a function that is finite and smooth at all {}",
                     name, function->description(), args->words().symbol, s, atom_text(row),
                     args->words().numbers);
}

std::string ComputeCoordGPU::atom_text(int row) const
{
  return atom->tag_enable ? fmt::format(" of atom ID {}", atom->tag[row]) : "";
}

// Collective. reference: use plain loops
gpucoord::Contribution ComputeCoordGPU::evaluate_function(LocalEvaluation &local, bool reference)
{
  gpucoord::SecondPass second;
  second.s = function_numbers.s_of_atoms.data();
  second.nweights = local.path == Path::PAIRS ? pairs.n
      : local.path == Path::ALLPAIRS          ? gather->allpairs(box).a.n
                                              : atom->nlocal + atom->nghost;
  second.weights = [&] {
    return evaluate_weights(local);
  };
  const bool may_be_on_gpu =
      on_gpu && local.path == Path::CELLS && !reference && !local.seeks_partners;
  if (may_be_on_gpu) {
    if (local.want & (DERIVATIVES | VIRIAL)) on_gpu->owner = ghosts.owners(selected.version());
    on_gpu->f = local.is_for_forces ? nullptr
                                    : function_numbers.f.data();    // biases only read gradients
    second.on_device = on_gpu.get();
  }
  const auto mine = evaluate_path(local.path, local.want, local.peratom, reference, &second);
  if (may_be_on_gpu && on_gpu->is_evaluated) {
    local.value = mine.value;
    function_numbers.is_reduced = true;    // there are no other ranks
  }
  return mine;
}

gpucoord::Contribution ComputeCoordGPU::evaluate_reference(const LocalEvaluation &local,
                                                           double *peratom)
{
  if (!function) return evaluate_path(local.path, local.want, peratom, true, nullptr);
  const FunctionNumbers kept = function_numbers;
  begin_function();
  LocalEvaluation again = local;
  again.peratom = peratom;
  gpucoord::Contribution reference = evaluate_function(again, true);
  reference.value = again.value;
  function_numbers = kept;
  return reference;
}

// Collective. Sets the elements of the vector after the virial.
void ComputeCoordGPU::set_histogram()
{
  std::vector<double> bins(function->nbins(), 0.0);
  function->add_histogram(static_cast<std::int64_t>(function_numbers.rows.size()),
                          function_numbers.s.data(), bins.data(), comm->nthreads);
  MPI_Allreduce(bins.data(), vector + 6, function->nbins(), MPI_DOUBLE, MPI_SUM, world);
  for (int k = 0; k < function->nbins(); ++k) vector[6 + k] *= scale;
}

std::string ComputeCoordGPU::why_no_bias() const
{
  return function && function->nbins()
      ? "its function histogram is for output only - bias a function such as between"
      : "";
}
