/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The styles of collective variables, in the order of messages. The files that include this list
// define what it does with a line. A style with its own class also has a line in its header, for
// LAMMPS' lists.
//
// ORDER_PARAMETER(style, name of its OrderStyle, text of the plugin list)
// OTHER_VARIABLE(style, class, text of the plugin list)

// No include guard: the list is included several times.

#ifndef ORDER_PARAMETER
#define ORDER_PARAMETER(style, definition, text)
#endif
#ifndef OTHER_VARIABLE
#define OTHER_VARIABLE(style, Class, text)
#endif

// clang-format off
OTHER_VARIABLE(coord/gpu,ComputeCoordGPU,"coordination number")
ORDER_PARAMETER(coord/orientorder,ORIENTORDER_STYLE,"bond-orientational order parameter")
ORDER_PARAMETER(coord/envsim,ENVSIM_STYLE,"environment similarity")
ORDER_PARAMETER(coord/pairentropy,PAIRENTROPY_STYLE,"pair entropy")
OTHER_VARIABLE(coord/custom,ComputeCoordCustom,"expression of collective variables")
// clang-format on

#undef ORDER_PARAMETER
#undef OTHER_VARIABLE
