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

#include "fix_coord_bias_kokkos.h"

namespace LAMMPS_NS {
template class FixVariablesKokkos<LMPDeviceType, FixCoordBias>;
#ifdef LMP_KOKKOS_GPU
template class FixVariablesKokkos<LMPHostType, FixCoordBias>;
#endif
}    // namespace LAMMPS_NS
