/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The styles of collective variables, in the order of messages. The files that include this list
// define what it does with a line. A style of OTHER_VARIABLE also has a line in the header of its
// class, for LAMMPS' lists. Order parameters are listed by the library; one that only the host has
// is a line here.
//
// ORDER_PARAMETER(style, name of its CoordStyle, text of the plugin list)
// OTHER_VARIABLE(style, class, text of the plugin list)
//
// With COORD_STYLE_CLASSES, the list has the classes alone.

// No include guard: the list is included several times.

#ifdef COORD_STYLE_CLASSES
#undef COORD_STYLE_CLASSES
#include "compute_coord_custom.h"
#include "compute_coord_energy.h"
#include "compute_coord_geometry.h"
#include "compute_coord_pair.h"
#include "compute_coord_shape.h"
#include "compute_coord_volume.h"
#else

#ifndef ORDER_PARAMETER
#define ORDER_PARAMETER(style, definition, text)
#endif
#ifndef OTHER_VARIABLE
#define OTHER_VARIABLE(style, Class, text)
#endif

// clang-format off
OTHER_VARIABLE(coord/gpu,ComputeCoordPair,"coordination number")
#define GPUCOORD_ORDER_PARAMETER(FOLDER, NAME, STYLE, TEXT, ...) \
  ORDER_PARAMETER(STYLE, NAME##_style, TEXT)
#include "gpucoord/order_parameters.def"
OTHER_VARIABLE(coord/geometry,ComputeCoordGeometry,"distances, angles and dihedrals")
OTHER_VARIABLE(coord/shape,ComputeCoordShape,"radius of gyration and RMSD")
OTHER_VARIABLE(coord/energy,ComputeCoordEnergy,"potential energy")
OTHER_VARIABLE(coord/volume,ComputeCoordVolume,"volume of the box")
OTHER_VARIABLE(coord/custom,ComputeCoordCustom,"expression of collective variables")
// clang-format on

#undef ORDER_PARAMETER
#undef OTHER_VARIABLE
#endif
