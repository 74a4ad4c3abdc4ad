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

#include "fix_coord_plumed_kokkos.h"

#include "bias_plumed_atoms_kokkos.h"

#include "gpucoord/coordination.h"

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

template <class DeviceType>
FixCoordPlumedKokkos<DeviceType>::FixCoordPlumedKokkos(LAMMPS *lmp, int narg, char **arg) :
    FixVariablesKokkos<DeviceType, FixCoordPlumed>(lmp, narg, arg)
{
  if (coord_is_cuda<DeviceType>() && gpucoord::find_cuda_devices().count > 0)
    this->atoms = std::make_unique<PlumedAtomsKokkos>(lmp, this->owner);
}

// PLUMED runs on the host while the GPU computes the pair style, also on one rank.
template <class DeviceType> int FixCoordPlumedKokkos<DeviceType>::setmask()
{
  const int mask = FixVariablesKokkos<DeviceType, FixCoordPlumed>::setmask();
  return coord_is_cuda<DeviceType>() ? mask | FixConst::PRE_FORCE : mask;
}

namespace LAMMPS_NS {
template class FixCoordPlumedKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class FixCoordPlumedKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
