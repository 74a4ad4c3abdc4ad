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

#include "compute_coord_order_kokkos.h"

#include "order_definition.h"

#include "atom.h"
#include "comm.h"

#include <vector>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

ResidentCoordOrder::ResidentCoordOrder(LAMMPS *lmp, int narg, char **arg,
                                       const KokkosSpace &space) :
    ComputeCoordKokkos(lmp, narg, arg, space),
    nexchanges(0)
{
}

void ResidentCoordOrder::make_on_device()
{
  resident = order->make_resident();
}

bool ResidentCoordOrder::reads_types() const
{
  return order->reads_types(table->ntypes());
}

// An S that is one number of all atoms is not a function of per-atom numbers.
bool ResidentCoordOrder::is_sum_of_function() const
{
  return !order->is_global();
}

bool ResidentCoordOrder::sends_numbers() const
{
  return !order->is_global();
}

/* ----------------------------------------------------------------------
   The evaluation. On one rank, kernels look up the numbers of ghost atoms at their owners.
------------------------------------------------------------------------- */

void ResidentCoordOrder::enqueue_evaluation(const gpucoord::Request &request)
{
  enqueue_first(request, is_sum_of_function());
  if (is_sum_of_function()) function_on_device->evaluate(device->stream());
  enqueue_second(request);
}

void ResidentCoordOrder::enqueue_first(const gpucoord::Request &request, bool needs_numbers)
{
  nexchanges = 0;
  auto atoms = rebuild();
  atoms.volume = volume();
  double *const v = needs_numbers ? function_on_device->s() : nullptr;    // after rebuild()
  resident->evaluate_first(atoms, request.positions, exchange(), v, device->stream());
}

void ResidentCoordOrder::enqueue_second(const gpucoord::Request &request)
{
  resident->evaluate_second(request, function_on_device->dSds(), 1.0, exchange(), device->stream());
}

void ResidentCoordOrder::evaluate_on_device(LocalEvaluation &local,
                                            const gpucoord::Request &request)
{
  begin_numbers(local);
  if (comm->nprocs > 1 || checks_gradients()) ghosts.reserve();
  attempt(local, [&] {
    enqueue_first(request, true);
    function_on_device->evaluate(device->stream());
    if (has_columns)
      order->compute_columns(*resident, atom->nlocal, comm->nthreads, device->stream());
    if (local.want != gpucoord::VALUE) enqueue_second(request);
    resident->enqueue_result(device->stream());
  });
  if (comm->nprocs > 1) make_missing_exchanges(local);
}

void ResidentCoordOrder::finish_local(LocalEvaluation &local)
{
  ComputeCoordKokkos::finish_local(local);
  if (!is_resident(local.path)) return;
  if (order->is_global()) local.value = local_value(local.value);
  if (local.failed.empty()) natoms_with_partners = resident->any_partners() ? 1 : 0;
}

void ResidentCoordOrder::set_vector()
{
  if (is_resident(running.path))
    order->set_vector(*resident, vector + 6);
  else
    ComputeCoordOrder::set_vector();
}

/* ----------------------------------------------------------------------
   Communication on several ranks.
------------------------------------------------------------------------- */

gpucoord::DeviceExchange ResidentCoordOrder::exchange()
{
  gpucoord::DeviceExchange exchange;
  if (comm->nprocs == 1) {
    exchange.owner = owners();
    return exchange;
  }
  exchange.forward = [this] {
    ++nexchanges;    // also after an error, which ends no communication
    ghosts.forward(*resident, device->stream());
  };
  exchange.reduce = [this, reduce = FunctionNumbers::reduction(world)](
                        double *sums, int n, gpucoord::AtomFunction::Reduction by) {
    reduce(sums, n, by);
    ++nexchanges;
  };
  return exchange;
}

// Called after a failure of this rank, because other ranks wait for it.
void ResidentCoordOrder::make_missing_exchanges(const LocalEvaluation &local)
{
  const auto calls = resident->exchanges(local.want);
  for (; nexchanges < calls.size(); ++nexchanges) {
    if (calls[nexchanges].kind == gpucoord::DeviceExchange::Kind::REDUCE) {
      std::vector<double> zeros(calls[nexchanges].n, 0.0);
      FunctionNumbers::reduction(world)(zeros.data(), calls[nexchanges].n,
                                        gpucoord::AtomFunction::Reduction::SUM);
      continue;
    }
    ghosts.forward_zeros(resident->exchange_columns());
  }
}
