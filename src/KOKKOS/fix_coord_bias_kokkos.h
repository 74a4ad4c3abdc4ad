/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef FIX_CLASS
// clang-format off
FixStyle(coord/bias/kk,FixCoordBiasKokkos<LMPDeviceType>);
FixStyle(coord/bias/kk/device,FixCoordBiasKokkos<LMPDeviceType>);
FixStyle(coord/bias/kk/host,FixCoordBiasKokkos<LMPHostType>);
// clang-format on
#else

#ifndef LMP_FIX_COORD_BIAS_KOKKOS_H
#define LMP_FIX_COORD_BIAS_KOKKOS_H

#include "fix_coord_bias.h"
#include "gpucoord_fix_kokkos.h"

namespace LAMMPS_NS {

template <class DeviceType> using FixCoordBiasKokkos = FixVariablesKokkos<DeviceType, FixCoordBias>;

}    // namespace LAMMPS_NS

#endif
#endif
