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

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "group.h"

#include <algorithm>
#include <cmath>
#include <new>

using namespace LAMMPS_NS;
using gpucoord::DERIVATIVES;
using gpucoord::VIRIAL;
using Groups = CoordArguments::Groups;

/* ---------------------------------------------------------------------- */

ComputeCoordGPU::ComputeCoordGPU(LAMMPS *lmp, int narg, char **arg) :
    CoordPairVariable(lmp, narg, arg, [&] {
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
  gather = std::make_unique<CoordGather>(lmp, name);
  backend =
      std::make_unique<Backend>(lmp, args->device, "Compute coord/gpu", args->device_position);
  if (function && backend->is_cuda() && comm->nprocs == 1 &&
      gpucoord::can_be_resident(*args->function)) {
    on_gpu = std::make_unique<gpucoord::DeviceFunction>();
    on_gpu->options = *args->function;
  }
}

ComputeCoordGPU::~ComputeCoordGPU() = default;

void ComputeCoordGPU::init_backend()
{
  backend->init(*table, args->precision, name);
}

DeviceChoice &ComputeCoordGPU::device_choice() const
{
  return *backend;
}

/* ----------------------------------------------------------------------
   texts
------------------------------------------------------------------------- */

std::string ComputeCoordGPU::description() const
{
  return function ? "function " + function->description() : "";
}

std::string ComputeCoordGPU::other_atoms(Path path) const
{
  return CoordPaths::uses_ghosts(path)
      ? CoordPairVariable::other_atoms(path)
      : fmt::format("{} atoms gathered over ranks", gather->natoms());
}

/* ----------------------------------------------------------------------
   atoms without partners
------------------------------------------------------------------------- */

PartnerWarnings::Texts ComputeCoordGPU::partner_texts() const
{
  const std::string none = function ? fmt::format("all {} are 0", args->words().numbers) : "S is 0";
  return {fmt::format("{}{} {:.10g}", args->range_word(), args->longest_coeff(), table->dmax()),
          none, none, true, false};
}

// Without a function, S is a sum of values of s.
bool ComputeCoordGPU::has_partners()
{
  constexpr double LIMIT = PartnerWarnings::ALMOST_NONE;
  if (!function) return std::fabs(running.value) > LIMIT * selected.nfirst();
  const auto &s = function_numbers.s;
  return std::any_of(s.begin(), s.end(), [](double number) {
    return std::fabs(number) > LIMIT;
  });
}

// The GPU keeps the numbers of its function, which another evaluation would round differently.
bool ComputeCoordGPU::seeks_partners_in_setup() const
{
  return on_gpu && paths.last() == Path::CELLS;
}

const gpucoord::PairsInput *ComputeCoordGPU::pairs_of_mode() const
{
  return args->groups == Groups::PAIRS || args->groups == Groups::PAIRS_FILE ? &pairs : nullptr;
}

/* ----------------------------------------------------------------------
   atoms of an evaluation
------------------------------------------------------------------------- */

void ComputeCoordGPU::begin_local(LocalEvaluation &local)
{
  if (!CoordPaths::uses_ghosts(local.path)) gather_atoms(local);
  if (function) begin_function();
}

void ComputeCoordGPU::gather_atoms(LocalEvaluation &local)
{
  if (args->groups == Groups::PAIRS_FILE)
    gather->ids(args->pair_ids);
  else
    gather->groups(groupbit, selected.second_bit());
  local.bad_atom = gather->bad_atom();
  // These functions raise errors on all ranks. Do not call them if one rank can fail alone.
  if (local.path == Path::PAIRS && !local.bad_atom)
    pairs = args->groups == Groups::PAIRS
        ? gather->pairs_of_groups(paths.box())
        : gather->pairs_of_ids(paths.box(), args->id_pairs, groupbit, group->names[igroup]);
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
      auto in = gather->allpairs(paths.box());
      in.second = second;
      return reference ? gpucoord::reference_allpairs(*table, in, want, peratom)
                       : (*backend)->allpairs(in, want, peratom);
    }
    default: {
      auto cells = selected.cells_input();
      cells.second = second;
      return reference ? gpucoord::reference_cells(*table, cells, want, peratom)
                       : (*backend)->cells(cells, want, peratom);
    }
  }
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
   S as a function of coordination numbers: the steps between the two passes over pairs
------------------------------------------------------------------------- */

void ComputeCoordGPU::begin_function()
{
  if (args->groups == Groups::PAIRS_FILE)
    function_numbers.begin(pairs, atom->nlocal);
  else
    function_numbers.begin(selected, atom->nlocal);
  ghosts.reserve();
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
                                         function_numbers.dSds.data(),
                                         FunctionNumbers::reduction(world), comm->nthreads);
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

// Collective. reference: use plain loops
gpucoord::Contribution ComputeCoordGPU::evaluate_function(LocalEvaluation &local, bool reference)
{
  gpucoord::SecondPass second;
  second.s = function_numbers.s_of_atoms.data();
  second.nweights = local.path == Path::PAIRS ? pairs.n
      : local.path == Path::ALLPAIRS          ? gather->allpairs(paths.box()).a.n
                                              : atom->nlocal + atom->nghost;
  second.weights = [&] {
    return evaluate_weights(local);
  };
  const bool may_be_on_gpu = on_gpu && local.path == Path::CELLS && !reference && !warnings.seeks();
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

/* ---------------------------------------------------------------------- */

double ComputeCoordGPU::memory_usage()
{
  return CoordPairVariable::memory_usage() + backend->bytes() + gather->memory_usage();
}
