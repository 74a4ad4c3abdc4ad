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

#include "compute_coord_energy_kokkos.h"

#include "gpucoord_device_kokkos.h"

#include "gpucoord/pairs.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "comm.h"
#include "error.h"
#include "update.h"

#include <algorithm>
#include <new>
#include <type_traits>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

template <class DeviceType>
ComputeCoordEnergyKokkos<DeviceType>::ComputeCoordEnergyKokkos(LAMMPS *lmp, int narg, char **arg) :
    ComputeCoordEnergy(lmp, narg, arg), is_on_gpu(false)
{
  kokkosable = 1;
  atomKK = dynamic_cast<AtomKokkos *>(atom);
  execution_space = ExecutionSpaceFromDevice<DeviceType>::space;
  datamask_read = datamask_modify = EMPTY_MASK;
  if (coord_is_cuda<DeviceType>() && gpucoord::find_cuda_devices().count > 0)
    device = KokkosDevice::get(lmp);
}

template <class DeviceType>
void ComputeCoordEnergyKokkos<DeviceType>::call(const std::function<void()> &work) const
{
  try {
    work();
  } catch (const gpucoord::DeviceError &e) {
    error->one(FLERR, Error::NOLASTLINE, "{}: rank {} failed: {} - use suffix off for this compute",
               name, comm->me, e.what());
  }
}

/* ---------------------------------------------------------------------- */

template <class DeviceType> void ComputeCoordEnergyKokkos<DeviceType>::take_forces()
{
  is_on_gpu = device && !(wanted & ON_HOST);
  if (!is_on_gpu) {
    ComputeCoordEnergy::take_forces();
    return;
  }
  call([this] {
    if (!resident) resident = gpucoord::make_resident_forces();
    resident->take(device->begin_forces(), atom->nlocal, device->stream());
  });
  forces.resize(3 * static_cast<std::size_t>(atom->nlocal));
  step_of_forces = update->ntimestep;
}

template <class DeviceType> void ComputeCoordEnergyKokkos<DeviceType>::forces_to_host()
{
  atomKK->sync(Host, F_MASK);
}

template <class DeviceType> void ComputeCoordEnergyKokkos<DeviceType>::taken_to_host()
{
  if (is_on_gpu && (wanted & ON_HOST))
    call([this] {
      resident->copy_to_host(forces.data(), device->stream());
    });
}

template <class DeviceType> void ComputeCoordEnergyKokkos<DeviceType>::finish(const double *sums)
{
  ComputeCoordEnergy::finish(sums);
  if (state == State::HOST && is_on_gpu && !(wanted & ON_HOST)) state = State::DEVICE;
}

template <class DeviceType>
void ComputeCoordEnergyKokkos<DeviceType>::add_forces(const gpucoord::ItemFactors &factors)
{
  if (factors.are_zero()) return;
  if (state == State::DEVICE) {
    call([&] {
      resident->add_to(device->begin_forces(), factors.factor(), device->stream());
    });
    device->end_forces();
    return;
  }
  forces_to_host();
  ComputeCoordEnergy::add_forces(factors);
  atomKK->modified(Host, F_MASK);
}

// Compute stress/atom reads the mask of each atom.
template <class DeviceType>
void ComputeCoordEnergyKokkos<DeviceType>::add_atom_virial(const gpucoord::ItemFactors &factors,
                                                           double **vatom) const
{
  atomKK->sync(Host, MASK_MASK);
  ComputeCoordEnergy::add_atom_virial(factors, vatom);
}

// In float, pair terms change with the images of atoms.
template <class DeviceType> double ComputeCoordEnergyKokkos<DeviceType>::rounding() const
{
  constexpr double FLOAT = 1e-5;
  return std::is_same_v<KK_FLOAT, double> ? ComputeCoordEnergy::rounding() : FLOAT;
}

template <class DeviceType> double ComputeCoordEnergyKokkos<DeviceType>::bytes_copied() const
{
  if (!device) return -1.0;
  return resident ? static_cast<double>(resident->bytes_copied()) : 0.0;
}

template <class DeviceType> double ComputeCoordEnergyKokkos<DeviceType>::memory_usage()
{
  return ComputeCoordEnergy::memory_usage() +
      (resident ? static_cast<double>(resident->bytes()) : 0.0);
}

namespace LAMMPS_NS {
template class ComputeCoordEnergyKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class ComputeCoordEnergyKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
