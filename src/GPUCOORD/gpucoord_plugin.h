/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The parts of the registration of the plugin's styles. *plugin.cpp use it, no style does.

#ifndef LMP_GPUCOORD_PLUGIN_H
#define LMP_GPUCOORD_PLUGIN_H

#include "lammpsplugin.h"

#include "lammps.h"
#include "pair.h"

namespace LAMMPS_NS {

// The clear command of LAMMPS keeps commands, and LAMMPS warns about each plugin command that it
// restores afterwards. Commands are therefore not registered like styles. They are added to the
// command list of each LAMMPS instance that loads the plugin or creates one of its styles.
void gpucoord_add_commands(LAMMPS *lmp);

// Register the styles of potential maps and rigid molecules, and those of KOKKOS. The caller has
// set all members of 'plugin' except style, name, info and creator.
void gpucoord_register_grids_and_molecules(LAMMPS *lmp, lammpsplugin_t plugin,
                                           lammpsplugin_regfunc register_plugin);
void gpucoord_register_kokkos(LAMMPS *lmp, lammpsplugin_t plugin,
                              lammpsplugin_regfunc register_plugin);

// Function that LAMMPS calls to create a style of the plugin.

template <class Style> void *gpucoord_create_pair(void *lmp)
{
  gpucoord_add_commands(static_cast<LAMMPS *>(lmp));
  return static_cast<Pair *>(new Style(static_cast<LAMMPS *>(lmp)));
}

template <class Base, class Style> void *gpucoord_create(void *lmp, int narg, char **arg)
{
  gpucoord_add_commands(static_cast<LAMMPS *>(lmp));
  return static_cast<Base *>(new Style(static_cast<LAMMPS *>(lmp), narg, arg));
}

}    // namespace LAMMPS_NS

#endif
