/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "fix_coord_bias_kokkos.h"

#include "gpucoord_device_kokkos.h"

#include "atom_kokkos.h"
#include "atom_masks.h"

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

template <class DeviceType>
FixCoordBiasKokkos<DeviceType>::FixCoordBiasKokkos(LAMMPS *lmp, int narg, char **arg) :
    FixCoordBias(lmp, narg, arg)
{
  kokkosable = 1;
  atomKK = dynamic_cast<AtomKokkos *>(atom);
  execution_space = ExecutionSpaceFromDevice<DeviceType>::space;
  datamask_read = datamask_modify = EMPTY_MASK;    // variables copy what they need
}

// In post_neighbor() the host waits for the GPU anyway.
template <class DeviceType> int FixCoordBiasKokkos<DeviceType>::setmask()
{
  const int mask = FixCoordBias::setmask();
  if (!coord_is_cuda<DeviceType>()) return mask;
  return mask | FixConst::POST_NEIGHBOR | FixConst::MIN_POST_NEIGHBOR;
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::atoms_to_host()
{
  atomKK->sync(Host, ALL_MASK);
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::forces_changed_on_host()
{
  atomKK->modified(Host, F_MASK);
}

namespace LAMMPS_NS {
template class FixCoordBiasKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class FixCoordBiasKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
