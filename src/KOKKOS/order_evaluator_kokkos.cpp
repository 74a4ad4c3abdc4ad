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

#include "order_evaluator_kokkos.h"

#include "coord_arguments.h"
#include "coord_ghost_numbers.h"

#include "atom.h"
#include "comm.h"

#include <algorithm>
#include <vector>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

ResidentOrderEvaluator::ResidentOrderEvaluator(LAMMPS *lmp, CoordPairData &data_in,
                                               OrderEvaluator &evaluator) :
    ResidentEvaluator(lmp, data_in),
    host(evaluator)
{
}

void ResidentOrderEvaluator::make_variable()
{
  resident = host.definition().make_resident();
}

bool ResidentOrderEvaluator::reads_types() const
{
  return host.definition().reads_types(data.table->ntypes());
}

// An S that is one number of all atoms is not a function of per-atom numbers.
bool ResidentOrderEvaluator::is_sum_of_function() const
{
  return !host.definition().is_global();
}

/* ----------------------------------------------------------------------
   The evaluation. On one rank, kernels look up the numbers of ghost atoms at their owners.
------------------------------------------------------------------------- */

void ResidentOrderEvaluator::enqueue(const gpucoord::Request &request)
{
  enqueue_first(request, is_sum_of_function());
  if (is_sum_of_function()) evaluate_function();
  enqueue_second(request);
}

void ResidentOrderEvaluator::enqueue_first(const gpucoord::Request &request, bool needs_numbers)
{
  nexchanges = 0;
  auto atoms = rebuild();
  atoms.volume = host.volume();
  double *const v = needs_numbers ? function_on_device->s() : nullptr;    // after rebuild()
  resident->evaluate_first(atoms, request.positions, exchange(), v, device->stream());
}

void ResidentOrderEvaluator::enqueue_second(const gpucoord::Request &request)
{
  resident->evaluate_second(request, function_on_device->dSds(), 1.0, exchange(), device->stream());
}

void ResidentOrderEvaluator::start(LocalEvaluation &local, const gpucoord::Request &request)
{
  host.begin_numbers(local);
  if (comm->nprocs > 1 || data.args->check_every) data.ghosts.reserve();
  attempt(local, [&] {
    enqueue_first(request, true);
    evaluate_function();
    if (host.has_columns())
      host.definition().compute_columns(*resident, atom->nlocal, comm->nthreads, device->stream());
    if (local.want != gpucoord::VALUE) enqueue_second(request);
    resident->enqueue_result(device->stream());
  });
  if (comm->nprocs > 1) make_missing_exchanges(local);
}

void ResidentOrderEvaluator::finish(LocalEvaluation &local)
{
  ResidentEvaluator::finish(local);
  if (host.definition().is_global()) local.value = host.local_value(local.value);
  if (local.failed.empty()) host.set_atoms_with_partners(resident->any_partners() ? 1 : 0);
}

void ResidentOrderEvaluator::set_vector(double *to) const
{
  const std::vector<double> numbers = resident->global_vector();
  std::copy(numbers.begin(), numbers.end(), to);
}

/* ----------------------------------------------------------------------
   Communication on several ranks.
------------------------------------------------------------------------- */

gpucoord::DeviceExchange ResidentOrderEvaluator::exchange()
{
  gpucoord::DeviceExchange exchange;
  if (comm->nprocs == 1) {
    exchange.owner = owners();
    return exchange;
  }
  exchange.forward = [this] {
    ++nexchanges;    // also after an error, which ends no communication
    data.ghosts.forward(*resident, device->stream());
  };
  exchange.reduce = [this, reduce = FunctionNumbers::reduction(world)](
                        double *sums, int n, gpucoord::AtomFunction::Reduction by) {
    reduce(sums, n, by);
    ++nexchanges;
  };
  return exchange;
}

// Called after a failure of this rank, because other ranks wait for it.
void ResidentOrderEvaluator::make_missing_exchanges(const LocalEvaluation &local)
{
  const auto calls = resident->exchanges(local.want);
  for (; nexchanges < calls.size(); ++nexchanges) {
    if (calls[nexchanges].kind == gpucoord::DeviceExchange::Kind::REDUCE) {
      std::vector<double> zeros(calls[nexchanges].n, 0.0);
      FunctionNumbers::reduction(world)(zeros.data(), calls[nexchanges].n,
                                        gpucoord::AtomFunction::Reduction::SUM);
      continue;
    }
    data.ghosts.forward_zeros(resident->exchange_columns());
  }
}
