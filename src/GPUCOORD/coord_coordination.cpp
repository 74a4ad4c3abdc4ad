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

#include "coord_coordination.h"

#include "coord_arguments.h"
#include "coord_gather.h"
#include "coord_ghost_numbers.h"
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

CoordinationEvaluator::CoordinationEvaluator(LAMMPS *lmp, CoordPairData &data_in) :
    CoordEvaluator(lmp, data_in)
{
  gather = std::make_unique<CoordGather>(lmp, data.name);
  backend = std::make_unique<Backend>(lmp, data.args->device, "Compute coord/gpu",
                                      data.args->device_position);
  if (data.function && backend->is_cuda() && comm->nprocs == 1 &&
      gpucoord::can_be_resident(*data.args->function)) {
    on_gpu = std::make_unique<gpucoord::DeviceFunction>();
    on_gpu->options = *data.args->function;
  }
}

CoordinationEvaluator::~CoordinationEvaluator() = default;

void CoordinationEvaluator::init_backend()
{
  backend->init(*data.table, data.args->precision, data.name);
}

DeviceChoice &CoordinationEvaluator::device_choice() const
{
  return *backend;
}

/* ----------------------------------------------------------------------
   texts
------------------------------------------------------------------------- */

std::string CoordinationEvaluator::description() const
{
  return data.function ? "function " + data.function->description() : "";
}

std::string CoordinationEvaluator::other_atoms(Path path) const
{
  return CoordPaths::uses_ghosts(path)
      ? CoordEvaluator::other_atoms(path)
      : fmt::format("{} atoms gathered over ranks", gather->natoms());
}

/* ----------------------------------------------------------------------
   atoms without partners
------------------------------------------------------------------------- */

PartnerWarnings::Texts CoordinationEvaluator::partner_texts() const
{
  const std::string none = data.function ? fmt::format("all {} are 0", data.args->terms().plural)
                                         : "S is 0";
  return {fmt::format("{}{} {:.10g}", data.args->range_word(), data.args->longest_coeff(),
                      data.table->dmax()),
          none, none, true, false};
}

// Without a function, S is a sum of values of s.
bool CoordinationEvaluator::has_partners(const LocalEvaluation &local) const
{
  constexpr double LIMIT = PartnerWarnings::ALMOST_NONE;
  if (!data.function) return std::fabs(local.value) > LIMIT * data.selected.nfirst();
  const auto &s = data.numbers.s;
  return std::any_of(s.begin(), s.end(), [](double number) {
    return std::fabs(number) > LIMIT;
  });
}

// The GPU keeps the numbers of its function, which another evaluation would round differently.
bool CoordinationEvaluator::seeks_partners_in_setup() const
{
  return on_gpu && data.paths.last() == Path::CELLS;
}

const gpucoord::PairsInput *CoordinationEvaluator::pairs_of_mode() const
{
  return data.args->groups == Groups::PAIRS || data.args->groups == Groups::PAIRS_FILE ? &pairs
                                                                                       : nullptr;
}

/* ----------------------------------------------------------------------
   atoms of an evaluation
------------------------------------------------------------------------- */

void CoordinationEvaluator::begin(LocalEvaluation &local)
{
  if (!CoordPaths::uses_ghosts(local.path)) gather_atoms(local);
  if (data.function) begin_function();
}

void CoordinationEvaluator::gather_atoms(LocalEvaluation &local)
{
  if (data.args->groups == Groups::PAIRS_FILE)
    gather->ids(data.args->pair_ids);
  else
    gather->groups(data.groupbit, data.selected.second_bit());
  local.bad_atom = gather->bad_atom();
  // These functions raise errors on all ranks. Do not call them if one rank can fail alone.
  if (local.path == Path::PAIRS && !local.bad_atom)
    pairs = data.args->groups == Groups::PAIRS
        ? gather->pairs_of_groups(data.paths.box())
        : gather->pairs_of_ids(data.paths.box(), data.args->id_pairs, data.groupbit,
                               group->names[data.igroup]);
}

/* ----------------------------------------------------------------------
   Returns this rank's contribution, computed by the backend or by the reference loops.
------------------------------------------------------------------------- */

gpucoord::Contribution CoordinationEvaluator::evaluate_path(Path path, unsigned want,
                                                            double *peratom, bool reference,
                                                            const gpucoord::SecondPass *second)
{
  switch (path) {
    case Path::PAIRS:
      pairs.second = second;
      return reference ? gpucoord::reference_pairs(*data.table, pairs, want, peratom)
                       : (*backend)->pairs(pairs, want, peratom);
    case Path::ALLPAIRS: {
      auto in = gather->allpairs(data.paths.box());
      in.second = second;
      return reference ? gpucoord::reference_allpairs(*data.table, in, want, peratom)
                       : (*backend)->allpairs(in, want, peratom);
    }
    default: {
      auto cells = data.selected.cells_input();
      cells.second = second;
      return reference ? gpucoord::reference_cells(*data.table, cells, want, peratom)
                       : (*backend)->cells(cells, want, peratom);
    }
  }
}

void CoordinationEvaluator::evaluate(LocalEvaluation &local)
{
  if (data.function) {
    local.mine = evaluate_function(local, false);
    return;
  }
  local.mine = evaluate_path(local.path, local.want, local.peratom, false, nullptr);
  local.value = local.mine.value;
}

/* ----------------------------------------------------------------------
   S as a function of coordination numbers: the steps between the two passes over pairs
------------------------------------------------------------------------- */

void CoordinationEvaluator::begin_function()
{
  if (data.args->groups == Groups::PAIRS_FILE)
    data.numbers.begin(pairs, atom->nlocal);
  else
    data.numbers.begin(data.selected, atom->nlocal);
  data.ghosts.reserve();
}

void CoordinationEvaluator::complete_exchanges(LocalEvaluation &local)
{
  if (!data.function || data.numbers.is_reduced) return;
  data.numbers.rows.clear();
  evaluate_weights(local);
}

/* ----------------------------------------------------------------------
   Collective. Evaluates the function. Returns dS/ds_i of the owned and ghost atoms, the gathered
   atoms or the pairs of the engine; null: derivatives are not requested.
------------------------------------------------------------------------- */

const double *CoordinationEvaluator::evaluate_weights(LocalEvaluation &local)
try {
  data.numbers.is_reduced = true;
  const auto n = static_cast<std::int64_t>(data.numbers.rows.size());
  for (std::int64_t k = 0; k < n; ++k)
    data.numbers.s[k] = data.numbers.s_of_atoms[data.numbers.rows[k]];
  const auto result = data.function->evaluate(
      n, data.numbers.s.data(), data.numbers.f.data(), data.numbers.dSds.data(),
      FunctionNumbers::reduction(world), comm->nthreads, data.weights());
  local.value = data.function->is_sum() || comm->me == 0 ? result.value : 0.0;
  local.is_undefined = result.bad >= 0;
  if (local.is_undefined)
    local.failed = data.not_finite(data.numbers.rows[result.bad], data.numbers.s[result.bad]);
  if (!(local.want & (DERIVATIVES | VIRIAL))) return nullptr;

  double *const weights = data.ghosts.zeros();
  for (std::int64_t k = 0; k < n; ++k) weights[data.numbers.rows[k]] = data.numbers.dSds[k];
  switch (local.path) {
    case Path::PAIRS:
      return gather->numbers_of_pairs(weights).data();
    case Path::ALLPAIRS:
      return gather->numbers_of_group(weights).data();
    default:
      data.ghosts.forward();
      return weights;
  }
} catch (const std::bad_alloc &) {
  data.out_of_memory();    // other ranks wait for this one
}

// Collective. reference: use plain loops
gpucoord::Contribution CoordinationEvaluator::evaluate_function(LocalEvaluation &local,
                                                                bool reference)
{
  gpucoord::SecondPass second;
  second.s = data.numbers.s_of_atoms.data();
  second.nweights = local.path == Path::PAIRS ? pairs.n
      : local.path == Path::ALLPAIRS          ? gather->allpairs(data.paths.box()).a.n
                                              : atom->nlocal + atom->nghost;
  second.weights = [&] {
    return evaluate_weights(local);
  };
  const bool may_be_on_gpu =
      on_gpu && local.path == Path::CELLS && !reference && !local.seeks_partners;
  if (may_be_on_gpu) {
    if (local.want & (DERIVATIVES | VIRIAL))
      on_gpu->owner = data.ghosts.owners(data.selected.version());
    on_gpu->w = data.weights().w;
    const bool reads_f = !local.is_for_forces || data.within;    // biases only read gradients
    on_gpu->f = reads_f ? data.numbers.f.data() : nullptr;
    second.on_device = on_gpu.get();
  }
  const auto mine = evaluate_path(local.path, local.want, local.peratom, reference, &second);
  if (may_be_on_gpu && on_gpu->is_evaluated) {
    local.value = mine.value;
    data.numbers.is_reduced = true;    // there are no other ranks
  }
  return mine;
}

gpucoord::Contribution CoordinationEvaluator::evaluate_reference(const LocalEvaluation &local,
                                                                 double *peratom)
{
  if (!data.function) return evaluate_path(local.path, local.want, peratom, true, nullptr);
  const FunctionNumbers kept = data.numbers;
  begin_function();
  LocalEvaluation again = local;
  again.peratom = peratom;
  gpucoord::Contribution reference = evaluate_function(again, true);
  reference.value = again.value;
  data.numbers = kept;
  return reference;
}

/* ---------------------------------------------------------------------- */

double CoordinationEvaluator::memory_usage() const
{
  return backend->bytes() + gather->memory_usage();
}

/* ----------------------------------------------------------------------
   the style
------------------------------------------------------------------------- */

static std::unique_ptr<CoordArguments> read_arguments(LAMMPS *lmp, int narg, char **arg)
{
  auto args = std::make_unique<CoordArguments>(lmp, narg, arg);
  if (!args->function) return args;
  const auto &info = gpucoord::AtomFunctionInfo::get(args->function->kind);
  if (info.divides_by_s) {
    const std::string reason = fmt::format("function {} divides by sums of s, which", info.name);
    for (const CoordArguments::Function &f : args->functions) {
      if (f.is_none() || !f.function->has_end()) continue;
      const std::string why = CoordSwitch::why_negative(*f.function, reason.c_str());
      if (!why.empty())
        lmp->error->all(FLERR, f.position, "Compute coord/gpu {} {}: {}", f.words, arg[f.position],
                        why);
    }
  }
  return args;
}

const CoordStyle LAMMPS_NS::coordination_style = {
    read_arguments, [](LAMMPS *lmp, CoordPairData &data) -> std::unique_ptr<CoordEvaluator> {
      return std::make_unique<CoordinationEvaluator>(lmp, data);
    }};
