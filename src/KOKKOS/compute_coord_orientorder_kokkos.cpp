/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "compute_coord_orientorder_kokkos.h"

#include "coord_arguments.h"

#include "atom.h"
#include "comm.h"

#include <algorithm>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

template <class DeviceType>
ComputeCoordOrientOrderKokkos<DeviceType>::ComputeCoordOrientOrderKokkos(LAMMPS *lmp, int narg,
                                                                         char **arg) :
    Shared(lmp, narg, arg),
    nexchanges(0), numbers(Numbers::NOT_SENT)
{
}

template <class DeviceType> void ComputeCoordOrientOrderKokkos<DeviceType>::make_on_device()
{
  order = gpucoord::make_resident_orient_order(*table, options, args->precision);
}

/* ----------------------------------------------------------------------
   The evaluation. On one rank, kernels look up the numbers of ghost atoms at their owners.
------------------------------------------------------------------------- */

template <class DeviceType>
void ComputeCoordOrientOrderKokkos<DeviceType>::enqueue_evaluation(const gpucoord::Request &request)
{
  enqueue_first(request);
  enqueue_second(request);
}

template <class DeviceType>
void ComputeCoordOrientOrderKokkos<DeviceType>::enqueue_first(const gpucoord::Request &request)
{
  nexchanges = 0;
  const auto atoms = this->rebuild();
  order->evaluate_first(atoms, request.positions, exchange(), function_on_device->s(),
                        device->stream());
  function_on_device->evaluate(device->stream());
}

template <class DeviceType>
void ComputeCoordOrientOrderKokkos<DeviceType>::enqueue_second(const gpucoord::Request &request)
{
  order->evaluate_second(request, function_on_device->dSds(), 1.0, exchange(), device->stream());
}

template <class DeviceType>
void ComputeCoordOrientOrderKokkos<DeviceType>::evaluate_on_device(Share &share,
                                                                   const gpucoord::Request &request)
{
  this->begin_numbers(share);
  if (comm->nprocs > 1 || this->checks_gradients()) this->reserve_exchange();
  this->attempt(share, [&] {
    enqueue_first(request);
    if (this->wants_w_hat(share)) find_w_hat();
    if (share.want != gpucoord::VALUE) enqueue_second(request);
    order->enqueue_result(device->stream());
  });
  if (comm->nprocs > 1) make_missing_exchanges(share);
}

template <class DeviceType>
void ComputeCoordOrientOrderKokkos<DeviceType>::compute_share(Share &share)
{
  Shared::compute_share(share);
  if (!this->is_resident(share.path)) return;
  if (is_global) share.value = this->share_in_s(share.value);
  if (share.failed.empty()) this->natoms_with_partners = order->any_partners() ? 1 : 0;
}

// Waits.
template <class DeviceType> void ComputeCoordOrientOrderKokkos<DeviceType>::find_w_hat()
{
  const std::size_t nlocal = atom->nlocal;
  std::vector<double> harmonics((2 * options.l + 1) * nlocal);
  order->copy_harmonics(harmonics.data(), device->stream());
  gpucoord::set_w_hat(options.l, harmonics.data(), atom->nlocal,
                      gpucoord::smallest_norm(args->precision), this->w_of_atoms.data(),
                      comm->nthreads);
}

/* ----------------------------------------------------------------------
   Communication on several ranks. LAMMPS decides whether it calls for packing on the GPU or on the
   host.
------------------------------------------------------------------------- */

template <class DeviceType>
gpucoord::DeviceExchange ComputeCoordOrientOrderKokkos<DeviceType>::exchange()
{
  gpucoord::DeviceExchange exchange;
  if (comm->nprocs == 1) {
    exchange.owner = this->owners();
    return exchange;
  }
  exchange.forward = [this] {
    send_numbers();
  };
  exchange.reduce = [this, reduce = this->reduction()](double *sums, int n,
                                                       gpucoord::AtomFunction::Reduction by) {
    reduce(sums, n, by);
    ++nexchanges;
  };
  return exchange;
}

// Throws DeviceError after the communication.
template <class DeviceType> void ComputeCoordOrientOrderKokkos<DeviceType>::send_numbers()
{
  failed_to_send.clear();
  numbers = Numbers::DEVICE;
  this->forward_comm_device = 1;
  comm->forward_comm(this);
  this->forward_comm_device = 0;
  ++nexchanges;
  const bool were_copied = numbers == Numbers::COPIED;
  numbers = Numbers::NOT_SENT;
  if (!failed_to_send.empty()) throw gpucoord::DeviceError(failed_to_send);
  if (were_copied) order->set_numbers(exchanged.data(), device->stream());
}

// After a failure of this rank: other ranks wait for it.
template <class DeviceType>
void ComputeCoordOrientOrderKokkos<DeviceType>::make_missing_exchanges(const Share &share)
{
  const int columns = order->exchange_columns();
  for (; nexchanges < gpucoord::number_of_exchanges(options, share.want); ++nexchanges) {
    std::fill(exchanged.begin(), exchanged.end(), 0.0);
    if (is_global)
      this->reduction()(exchanged.data(), columns - 1, gpucoord::AtomFunction::Reduction::SUM);
    else {
      this->ncolumns = columns;
      comm->forward_comm(this);
    }
  }
}

template <class DeviceType>
int ComputeCoordOrientOrderKokkos<DeviceType>::pack_forward_comm(int n, int *atoms, double *buf,
                                                                 int pbc_flag, int *pbc)
{
  if (numbers == Numbers::NOT_SENT) return Shared::pack_forward_comm(n, atoms, buf, pbc_flag, pbc);
  numbers_to_host();
  return ComputeCoordOrientOrder::pack_forward_comm(n, atoms, buf, pbc_flag, pbc);
}

template <class DeviceType>
void ComputeCoordOrientOrderKokkos<DeviceType>::unpack_forward_comm(int n, int first, double *buf)
{
  if (numbers == Numbers::NOT_SENT) {
    Shared::unpack_forward_comm(n, first, buf);
    return;
  }
  numbers_to_host();
  ComputeCoordOrientOrder::unpack_forward_comm(n, first, buf);
}

template <class DeviceType> void ComputeCoordOrientOrderKokkos<DeviceType>::numbers_to_host()
{
  if (numbers == Numbers::COPIED) return;
  numbers = Numbers::COPIED;
  this->ncolumns = order->exchange_columns();
  try {
    order->get_numbers(exchanged.data(), device->stream());
  } catch (const gpucoord::DeviceError &e) {
    failed_to_send = e.what();
  }
}

template <class DeviceType>
int ComputeCoordOrientOrderKokkos<DeviceType>::pack_forward_comm_kokkos(int n,
                                                                        DAT::tdual_int_1d k_list,
                                                                        DAT::tdual_double_1d &k_buf,
                                                                        int pbc_flag, int *pbc)
{
  if (numbers == Numbers::NOT_SENT)
    return Shared::pack_forward_comm_kokkos(n, k_list, k_buf, pbc_flag, pbc);
  try {
    order->pack(k_list.view_device().data(), n, k_buf.view_device().data(), device->stream());
  } catch (const gpucoord::DeviceError &e) {
    failed_to_send = e.what();
  }
  return n * order->exchange_columns();
}

template <class DeviceType>
void ComputeCoordOrientOrderKokkos<DeviceType>::unpack_forward_comm_kokkos(
    int n, int first, DAT::tdual_double_1d &k_buf)
{
  if (numbers == Numbers::NOT_SENT) {
    Shared::unpack_forward_comm_kokkos(n, first, k_buf);
    return;
  }
  try {
    order->unpack(k_buf.view_device().data(), n, first, device->stream());
  } catch (const gpucoord::DeviceError &e) {
    failed_to_send = e.what();
  }
}

namespace LAMMPS_NS {
template class ComputeCoordOrientOrderKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class ComputeCoordOrientOrderKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
