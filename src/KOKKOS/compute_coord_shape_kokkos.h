/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/shape/kk,CoordOnDevice<CoordMembersKokkos<ComputeCoordShape>>);
ComputeStyle(coord/shape/kk/device,CoordOnDevice<CoordMembersKokkos<ComputeCoordShape>>);
ComputeStyle(coord/shape/kk/host,CoordOnHost<CoordMembersKokkos<ComputeCoordShape>>);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_SHAPE_KOKKOS_H
#define LMP_COMPUTE_COORD_SHAPE_KOKKOS_H

#include "compute_coord_shape.h"
#include "coord_members_kokkos.h"

#endif
#endif
