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

#include "compute_potential_grid_kokkos.h"

#include "gpucoord_backend.h"
#include "potential_arguments.h"
#include "potential_far.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "update.h"

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

template <class DeviceType>
ComputePotentialGridKokkos<DeviceType>::ComputePotentialGridKokkos(LAMMPS *lmp, int narg,
                                                                   char **arg) :
    ComputePotentialGrid(lmp, narg, arg),
    keeps_sum(false)
{
  kokkosable = 1;
  atomKK = dynamic_cast<AtomKokkos *>(atom);
  execution_space = ExecutionSpaceFromDevice<DeviceType>::space;
  datamask_read = EMPTY_MASK;
  datamask_modify = EMPTY_MASK;
  uses_gpu = coord_is_cuda<DeviceType>() && backend->is_cuda();
  if (uses_gpu) device = KokkosDevice::get(lmp);
}

// The far field, kernel direct, the mean over a region, and overflow that the host sums need arrays
// on the host.

template <class DeviceType> bool ComputePotentialGridKokkos<DeviceType>::may_be_resident() const
{
  return uses_gpu && !settings->has_far() && !settings->is_direct() &&
      settings->reference.empty() && !settings->bins.on_host;
}

// Between runs, ghost atoms are refreshed on the host.

template <class DeviceType> bool ComputePotentialGridKokkos<DeviceType>::is_on_gpu() const
{
  return on_device && update->whichflag != 0;
}

template <class DeviceType> std::string ComputePotentialGridKokkos<DeviceType>::data_path() const
{
  if (may_be_resident()) return "atoms and maps resident on the GPU" + device->ghosts_path();
  return ComputePotentialGrid::data_path() + coord_host_path();
}

template <class DeviceType> void ComputePotentialGridKokkos<DeviceType>::set_up()
{
  const std::vector<double> sum = keeps_sum ? get_sum() : std::vector<double>();
  ComputePotentialGrid::set_up();
  if (!may_be_resident()) return;
  run_backend([&] {
    on_device =
        gpucoord::make_resident_potential_map(settings->map, settings->precision, settings->bins);
    if (keeps_sum) on_device->set_sum(sum.data(), sum.size(), device->stream());
  });
}

/* ---------------------------------------------------------------------- */

template <class DeviceType> void ComputePotentialGridKokkos<DeviceType>::atoms_to_host()
{
  atomKK->sync(Host, X_MASK | Q_MASK | MASK_MASK | TAG_MASK);
}

template <class DeviceType> void ComputePotentialGridKokkos<DeviceType>::atoms_changed_on_host()
{
  atomKK->modified(Host, Q_MASK | MASK_MASK);
}

template <class DeviceType>
ComputePotentialGrid::Sums ComputePotentialGridKokkos<DeviceType>::begin_on_gpu(bigint &bad)
{
  gpucoord::DeviceCharges charges;
  atomKK->sync(Device, Q_MASK);
  charges.atoms = device->atoms(igroup != 0, false);
  charges.q = atomKK->k_q.template view<DeviceType>().data();
  charges.q_is_float = sizeof(*atomKK->k_q.template view<DeviceType>().data()) == sizeof(float);
  charges.groupbit = groupbit;
  gpucoord::ChargeSums found;
  run_backend([&] {
    found = on_device->begin(charges, device->stream());
  });
  bad = 0;
  if (found.bad_atom >= 0) {
    atomKK->sync(Host, TAG_MASK);
    bad = atom->tag_enable ? atom->tag[found.bad_atom] : -1;
  }
  Sums sums;
  sums.charged = found.charged;
  sums.q = found.q;
  sums.q_sq = found.q_sq;
  sums.size = found.size;
  return sums;
}

template <class DeviceType>
gpucoord::MapOverflow ComputePotentialGridKokkos<DeviceType>::map_on_gpu()
{
  on_device->on_grid(brick(), settings->field, settings->scale(), device->stream());
  return on_device->overflow();
}

template <class DeviceType> void ComputePotentialGridKokkos<DeviceType>::fetch_from_gpu()
{
  on_device->fetch({phi.data(), settings->field ? field.data() : nullptr}, device->stream());
}

/* ---------------------------------------------------------------------- */

template <class DeviceType>
void ComputePotentialGridKokkos<DeviceType>::set_listener(Listener *listener_in)
{
  ComputePotentialGrid::set_listener(listener_in);
  if (!listener_in) keeps_sum = false;
}

template <class DeviceType>
void ComputePotentialGridKokkos<DeviceType>::set_sum(const std::vector<double> &from)
{
  keeps_sum = on_device != nullptr;
  if (keeps_sum)
    run_backend([&] {
      on_device->set_sum(from.data(), from.size(), device->stream());
    });
  else
    ComputePotentialGrid::set_sum(from);
}

template <class DeviceType> void ComputePotentialGridKokkos<DeviceType>::add_to_sum()
{
  if (evaluated_at != update->ntimestep) compute_pergrid();
  if (!keeps_sum && on_device)
    set_sum(ComputePotentialGrid::get_sum());    // the sum may be older than the first run
  if (keeps_sum)
    run_backend([&] {
      on_device->add_to_sum(device->stream());
    });
  else
    ComputePotentialGrid::add_to_sum();
}

template <class DeviceType> std::vector<double> ComputePotentialGridKokkos<DeviceType>::get_sum()
{
  if (!keeps_sum) return ComputePotentialGrid::get_sum();
  std::vector<double> sum(number_of_points());
  run_backend([&] {
    on_device->fetch_sum(sum.data(), device->stream());
  });
  return sum;
}

template <class DeviceType> double ComputePotentialGridKokkos<DeviceType>::memory_usage()
{
  return ComputePotentialGrid::memory_usage() +
      (on_device ? static_cast<double>(on_device->bytes()) : 0.0);
}

namespace LAMMPS_NS {
template class ComputePotentialGridKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class ComputePotentialGridKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
