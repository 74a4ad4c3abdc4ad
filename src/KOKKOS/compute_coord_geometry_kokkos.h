/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/geometry/kk,CoordOnDevice<CoordMembersKokkos<ComputeCoordGeometry>>);
ComputeStyle(coord/geometry/kk/device,CoordOnDevice<CoordMembersKokkos<ComputeCoordGeometry>>);
ComputeStyle(coord/geometry/kk/host,CoordOnHost<CoordMembersKokkos<ComputeCoordGeometry>>);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_GEOMETRY_KOKKOS_H
#define LMP_COMPUTE_COORD_GEOMETRY_KOKKOS_H

#include "compute_coord_geometry.h"
#include "coord_members_kokkos.h"

#endif
#endif
