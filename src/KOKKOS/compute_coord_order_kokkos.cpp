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

#include "compute_coord_envsim.h"
#include "compute_coord_orientorder.h"
#include "compute_coord_pairentropy.h"

#include "atom.h"
#include "comm.h"

#include <vector>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

template <class DeviceType, class Base>
ComputeCoordOrderKokkos<DeviceType, Base>::ComputeCoordOrderKokkos(LAMMPS *lmp, int narg,
                                                                   char **arg) :
    Shared(lmp, narg, arg),
    nexchanges(0)
{
}

/* ----------------------------------------------------------------------
   The evaluation. On one rank, kernels look up the numbers of ghost atoms at their owners.
------------------------------------------------------------------------- */

template <class DeviceType, class Base>
void ComputeCoordOrderKokkos<DeviceType, Base>::enqueue_evaluation(const gpucoord::Request &request)
{
  // An S that is one number of all atoms is not a function of per-atom numbers.
  enqueue_first(request, !is_global);
  if (!is_global) function_on_device->evaluate(device->stream());
  enqueue_second(request);
}

template <class DeviceType, class Base>
void ComputeCoordOrderKokkos<DeviceType, Base>::enqueue_first(const gpucoord::Request &request,
                                                              bool needs_numbers)
{
  nexchanges = 0;
  auto atoms = this->rebuild();
  atoms.volume = this->volume();
  double *const v = needs_numbers ? function_on_device->s() : nullptr;    // after rebuild()
  on_device()->evaluate_first(atoms, request.positions, exchange(), v, device->stream());
}

template <class DeviceType, class Base>
void ComputeCoordOrderKokkos<DeviceType, Base>::enqueue_second(const gpucoord::Request &request)
{
  on_device()->evaluate_second(request, function_on_device->dSds(), 1.0, exchange(),
                               device->stream());
}

template <class DeviceType, class Base>
void ComputeCoordOrderKokkos<DeviceType, Base>::evaluate_on_device(LocalEvaluation &local,
                                                                   const gpucoord::Request &request)
{
  this->begin_numbers(local);
  if (comm->nprocs > 1 || this->checks_gradients()) ghosts.reserve();
  this->attempt(local, [&] {
    enqueue_first(request, true);
    function_on_device->evaluate(device->stream());
    find_numbers(local);
    if (local.want != gpucoord::VALUE) enqueue_second(request);
    on_device()->enqueue_result(device->stream());
  });
  if (comm->nprocs > 1) make_missing_exchanges(local);
}

template <class DeviceType, class Base>
void ComputeCoordOrderKokkos<DeviceType, Base>::finish_local(LocalEvaluation &local)
{
  Shared::finish_local(local);
  if (!this->is_resident(local.path)) return;
  if (is_global) local.value = this->local_value(local.value);
  if (local.failed.empty()) this->natoms_with_partners = on_device()->any_partners() ? 1 : 0;
}

/* ----------------------------------------------------------------------
   Communication on several ranks.
------------------------------------------------------------------------- */

template <class DeviceType, class Base>
gpucoord::DeviceExchange ComputeCoordOrderKokkos<DeviceType, Base>::exchange()
{
  gpucoord::DeviceExchange exchange;
  if (comm->nprocs == 1) {
    exchange.owner = this->owners();
    return exchange;
  }
  exchange.forward = [this] {
    ++nexchanges;    // also after an error, which ends no communication
    ghosts.forward(*on_device(), device->stream());
  };
  exchange.reduce = [this, reduce = this->reduction()](double *sums, int n,
                                                       gpucoord::AtomFunction::Reduction by) {
    reduce(sums, n, by);
    ++nexchanges;
  };
  return exchange;
}

// Called after a failure of this rank, because other ranks wait for it.
template <class DeviceType, class Base>
void ComputeCoordOrderKokkos<DeviceType, Base>::make_missing_exchanges(const LocalEvaluation &local)
{
  const auto calls = on_device()->exchanges(local.want);
  for (; nexchanges < calls.size(); ++nexchanges) {
    if (calls[nexchanges].kind == gpucoord::DeviceExchange::Kind::REDUCE) {
      std::vector<double> zeros(calls[nexchanges].n, 0.0);
      this->reduction()(zeros.data(), calls[nexchanges].n, gpucoord::AtomFunction::Reduction::SUM);
      continue;
    }
    ghosts.forward_zeros(on_device()->exchange_columns());
  }
}

namespace LAMMPS_NS {
template class ComputeCoordOrderKokkos<LMPDeviceType, ComputeCoordEnvsim>;
template class ComputeCoordOrderKokkos<LMPDeviceType, ComputeCoordOrientOrder>;
template class ComputeCoordOrderKokkos<LMPDeviceType, ComputeCoordPairEntropy>;
#ifdef LMP_KOKKOS_GPU
template class ComputeCoordOrderKokkos<LMPHostType, ComputeCoordEnvsim>;
template class ComputeCoordOrderKokkos<LMPHostType, ComputeCoordOrientOrder>;
template class ComputeCoordOrderKokkos<LMPHostType, ComputeCoordPairEntropy>;
#endif
}    // namespace LAMMPS_NS
