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
#include "compute.h"
#include "modify.h"

#include <algorithm>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

template <class DeviceType>
FixCoordBiasKokkos<DeviceType>::FixCoordBiasKokkos(LAMMPS *lmp, int narg, char **arg) :
    FixCoordBias(lmp, narg, arg)
{
  kokkosable = 1;
  atomKK = dynamic_cast<AtomKokkos *>(atom);
}

// In post_neighbor() the host waits for the GPU anyway.
template <class DeviceType> int FixCoordBiasKokkos<DeviceType>::setmask()
{
  const int mask = FixCoordBias::setmask();
  if (!coord_is_cuda<DeviceType>()) return mask;
  return mask | FixConst::POST_NEIGHBOR | FixConst::MIN_POST_NEIGHBOR;
}

/* ----------------------------------------------------------------------
   Variables with KOKKOS copy what they need. The others read atoms and change forces on the host.
------------------------------------------------------------------------- */

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::init()
{
  const auto &names = bias->names();
  const bool all = std::all_of(names.begin(), names.end(), [this](const std::string &name) {
    const auto *const compute = modify->get_compute_by_id(name);
    return compute && compute->kokkosable;
  });
  execution_space = all ? ExecutionSpaceFromDevice<DeviceType>::space : Host;
  datamask_read = all ? EMPTY_MASK : ALL_MASK;
  datamask_modify = all ? EMPTY_MASK : F_MASK;
  FixCoordBias::init();
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::atoms_to_host()
{
  atomKK->sync(Host, ALL_MASK);
}

namespace LAMMPS_NS {
template class FixCoordBiasKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class FixCoordBiasKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
