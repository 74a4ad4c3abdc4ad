/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "fix_coord_plumed_kokkos.h"

namespace LAMMPS_NS {
template class FixVariablesKokkos<LMPDeviceType, FixCoordPlumed>;
#ifdef LMP_KOKKOS_GPU
template class FixVariablesKokkos<LMPHostType, FixCoordPlumed>;
#endif
}    // namespace LAMMPS_NS
