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

#include "compute_coord_pairentropy_kokkos.h"

#include "coord_arguments.h"

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

template <class DeviceType> void ComputeCoordPairEntropyKokkos<DeviceType>::make_on_device()
{
  entropy = gpucoord::make_resident_pair_entropy(options, args->precision);
}

template <class DeviceType>
const double *ComputeCoordPairEntropyKokkos<DeviceType>::distribution() const
{
  return this->is_resident(this->running.path) ? entropy->distribution() : Shared::distribution();
}

namespace LAMMPS_NS {
template class ComputeCoordPairEntropyKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class ComputeCoordPairEntropyKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
