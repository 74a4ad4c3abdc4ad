/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef FIX_CLASS
// clang-format off
FixStyle(coord/plumed/kk,FixCoordPlumedKokkos<LMPDeviceType>);
FixStyle(coord/plumed/kk/device,FixCoordPlumedKokkos<LMPDeviceType>);
FixStyle(coord/plumed/kk/host,FixCoordPlumedKokkos<LMPHostType>);
// clang-format on
#else

#ifndef LMP_FIX_COORD_PLUMED_KOKKOS_H
#define LMP_FIX_COORD_PLUMED_KOKKOS_H

#include "fix_coord_plumed.h"
#include "gpucoord_fix_kokkos.h"

namespace LAMMPS_NS {

template <class DeviceType>
class FixCoordPlumedKokkos : public FixVariablesKokkos<DeviceType, FixCoordPlumed> {
 public:
  FixCoordPlumedKokkos(LAMMPS *, int, char **);
  int setmask() override;
};

}    // namespace LAMMPS_NS

#endif
#endif
