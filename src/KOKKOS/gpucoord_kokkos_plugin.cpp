/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The part of the plugin (src/GPUCOORD/gpucoordplugin.cpp) that uses Kokkos.

#include "gpucoord_plugin.h"

#include "compute.h"
#include "fix.h"
#include "pair.h"

// clang-format off
#include "compute_coord_envsim_kokkos.h"
#include "compute_coord_gpu_kokkos.h"
#include "compute_coord_orientorder_kokkos.h"
#include "compute_coord_pairentropy_kokkos.h"
#include "compute_potential_grid_kokkos.h"
#include "fix_coord_bias_kokkos.h"
#include "fix_coord_plumed_kokkos.h"
#include "fix_multisite_linear_kokkos.h"
#include "pair_coord_kokkos.h"
#include "pair_multisite_kokkos.h"
// clang-format on

namespace LAMMPS_NS {

// The caller has set all members of 'plugin' except style, name, info and creator.

void gpucoord_register_kokkos(LAMMPS *lmp, lammpsplugin_t plugin,
                              lammpsplugin_regfunc register_plugin)
{
  // The headers define names and classes. LAMMPS' lists of styles include them in the same way.
#define PAIR_CLASS
#define PairStyle(key, Class)                       \
  plugin.name = #key;                               \
  plugin.creator.v1 = &gpucoord_create_pair<Class>; \
  register_plugin(&plugin, lmp)
#define COMPUTE_CLASS
#define ComputeStyle(key, Class)                        \
  plugin.name = #key;                                   \
  plugin.creator.v2 = &gpucoord_create<Compute, Class>; \
  register_plugin(&plugin, lmp)
#define FIX_CLASS
#define FixStyle(key, Class)                        \
  plugin.name = #key;                               \
  plugin.creator.v2 = &gpucoord_create<Fix, Class>; \
  register_plugin(&plugin, lmp)

  plugin.style = "compute";
  plugin.info = "GPUCOORD coordination number, KOKKOS, v0.1";
#include "compute_coord_gpu_kokkos.h"

  plugin.info = "GPUCOORD bond-orientational order parameters, KOKKOS, v0.1";
#include "compute_coord_orientorder_kokkos.h"

  plugin.info = "GPUCOORD environment similarity, KOKKOS, v0.1";
#include "compute_coord_envsim_kokkos.h"

  plugin.info = "GPUCOORD pair entropy, KOKKOS, v0.1";
#include "compute_coord_pairentropy_kokkos.h"

  plugin.info = "GPUCOORD electrostatic potential on a grid, KOKKOS, v0.1";
#include "compute_potential_grid_kokkos.h"

  plugin.style = "fix";
  plugin.info = "GPUCOORD bias potential, KOKKOS, v0.1";
#include "fix_coord_bias_kokkos.h"

  plugin.info = "GPUCOORD biases of PLUMED, KOKKOS, v0.1";
#include "fix_coord_plumed_kokkos.h"

  plugin.info = "GPUCOORD rotation of linear molecules, KOKKOS, v0.1";
#include "fix_multisite_linear_kokkos.h"

  plugin.style = "pair";
  plugin.info = "GPUCOORD pair potential of a switching function, KOKKOS, v0.1";
#include "pair_coord_kokkos.h"

  plugin.info = "GPUCOORD rigid multi-site molecules, KOKKOS, v0.1";
#include "pair_multisite_kokkos.h"
}
}    // namespace LAMMPS_NS
