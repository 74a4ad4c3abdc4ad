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

#include "fix_multisite_linear_kokkos.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "error.h"
#include "kokkos.h"

#include <utility>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

template <class DeviceType>
FixMultisiteLinearKokkos<DeviceType>::FixMultisiteLinearKokkos(LAMMPS *lmp, int narg, char **arg) :
    FixMultisiteLinear(lmp, narg, arg)
{
  kokkosable = 1;
  atomKK = dynamic_cast<AtomKokkos *>(atom);
  if (coord_is_cuda<DeviceType>()) device = KokkosDevice::get(lmp);
  if (std::is_same_v<KK_ACC_FLOAT, float>) rounding = 1e-4;    // LAMMPS' torques are float
  execution_space = Host;
  datamask_read = EMPTY_MASK;    // this class itself syncs data of host and GPU
  datamask_modify = EMPTY_MASK;
}

template <class DeviceType> bool FixMultisiteLinearKokkos<DeviceType>::is_on_gpu() const
{
  return coord_is_cuda<DeviceType>() && device->has_bodies();
}

template <class DeviceType> void FixMultisiteLinearKokkos<DeviceType>::init()
{
  FixMultisiteLinear::init();
  on_device.reset();
}

/* ----------------------------------------------------------------------
   Data files, restart files and commands may change host data without marking them as modified. The
   same applies to LAMMPS' own fixes that run on the host.
------------------------------------------------------------------------- */

template <class DeviceType> void FixMultisiteLinearKokkos<DeviceType>::setup_pre_neighbor()
{
  const int before = std::exchange(lmp->kokkos->auto_sync, 1);
  FixMultisiteLinear::setup_pre_neighbor();
  lmp->kokkos->auto_sync = before;
}

template <class DeviceType> void FixMultisiteLinearKokkos<DeviceType>::setup(int vflag)
{
  const int before = std::exchange(lmp->kokkos->auto_sync, 1);
  FixMultisiteLinear::setup(vflag);
  lmp->kokkos->auto_sync = before;
}

template <class DeviceType> void FixMultisiteLinearKokkos<DeviceType>::min_setup(int vflag)
{
  const int before = std::exchange(lmp->kokkos->auto_sync, 1);
  FixMultisiteLinear::min_setup(vflag);
  lmp->kokkos->auto_sync = before;
}

/* ---------------------------------------------------------------------- */

template <class DeviceType>
void FixMultisiteLinearKokkos<DeviceType>::remove_axial_components(Vectors which)
{
  const bool are_torques = which == Vectors::TORQUES;
  if (!is_on_gpu()) {
    atoms_to_host();
    atomKK->sync(Host, ANGMOM_MASK);
    FixMultisiteLinear::remove_axial_components(which);
    atomKK->modified(Host, are_torques ? TORQUE_MASK : ANGMOM_MASK);
    return;
  }
  try {
    if (!on_device) on_device = gpucoord::make_resident_axes(axis);
    on_device->remove_axial_components(
        device->atoms(true, true), device->bodies(), groupbit,
        are_torques ? device->begin_torques() : device->begin_angular_momenta(), device->stream());
  } catch (const gpucoord::DeviceError &e) {
    on_device.reset();
    error->one(FLERR, Error::NOLASTLINE,
               "Fix multisite/linear {}: {} - use fix multisite/linear/kk/host", id, e.what());
  }
  are_torques ? device->end_torques() : device->end_angular_momenta();
}

template <class DeviceType> double FixMultisiteLinearKokkos<DeviceType>::memory_usage()
{
  return FixMultisiteLinear::memory_usage() +
      (on_device ? static_cast<double>(on_device->bytes()) : 0.0);
}

template <class DeviceType> void FixMultisiteLinearKokkos<DeviceType>::atoms_to_host()
{
  atomKK->sync(Host, TORQUE_MASK | TYPE_MASK | MASK_MASK | ELLIPSOID_MASK | BONUS_MASK);
}

namespace LAMMPS_NS {
template class FixMultisiteLinearKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class FixMultisiteLinearKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
