/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The styles of the plugin. gpucoordplugin.cpp calls the entry point in this file after it has
// checked that the styles match LAMMPS.

#include "gpucoord_plugin.h"

#include "compute_coord_force.h"
#include "fix_coord_bias.h"
#include "fix_coord_plumed.h"
#include "pair_coord.h"

#define COORD_STYLE_CLASSES
#include "coord_styles.h"

using namespace LAMMPS_NS;

extern "C" __attribute__((visibility("default"))) void
gpucoord_register_styles(void *lmp, void *handle, void *regfunc)
{
  auto *const instance = static_cast<LAMMPS *>(lmp);
  StyleRegistry styles(instance, handle, reinterpret_cast<lammpsplugin_regfunc>(regfunc));
#define ORDER_PARAMETER(style, definition, text) OTHER_VARIABLE(style, ComputeCoordPair, text)
#define OTHER_VARIABLE(style, Class, text) \
  styles.add("compute", #style, "GPUCOORD " text " v0.1", &gpucoord_create<Compute, Class>);
#include "coord_styles.h"
  styles.add("compute", "coord/force", "GPUCOORD forces of a bias on atoms v0.1",
             &gpucoord_create<Compute, ComputeCoordForce>);
  styles.add("fix", "coord/bias", "GPUCOORD bias potential v0.1",
             &gpucoord_create<Fix, FixCoordBias>);
  styles.add("fix", "coord/plumed", "GPUCOORD biases of PLUMED v0.1",
             &gpucoord_create<Fix, FixCoordPlumed>);
  styles.add("pair", "coord", "GPUCOORD pair potential of a switching function v0.1",
             &gpucoord_create_pair<PairCoord>);

  gpucoord_register_grids_and_molecules(styles);
#if defined(GPUCOORD_KOKKOS)
  gpucoord_register_kokkos(styles);
#endif
  gpucoord_add_commands(instance);
}
