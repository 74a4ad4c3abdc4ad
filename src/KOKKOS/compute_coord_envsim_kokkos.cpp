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

#include "compute_coord_envsim_kokkos.h"

#include "coord_arguments.h"

#include "gpucoord/resident_environment_similarity.h"

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

template <class DeviceType> void ComputeCoordEnvsimKokkos<DeviceType>::make_on_device()
{
  order = gpucoord::make_resident_environment_similarity(options, args->precision);
}

template <class DeviceType> bool ComputeCoordEnvsimKokkos<DeviceType>::reads_types() const
{
  return gpucoord::has_types(options);
}

namespace LAMMPS_NS {
template class ComputeCoordEnvsimKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class ComputeCoordEnvsimKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
