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

#include "compute_coord_custom.h"
#include "compute_coord_envsim.h"
#include "compute_coord_gpu.h"
#include "compute_coord_orientorder.h"
#include "compute_coord_pairentropy.h"
#include "fix_coord_bias.h"
#include "fix_coord_plumed.h"
#include "pair_coord.h"

#include "version.h"

#include <cstring>

using namespace LAMMPS_NS;

extern "C" __attribute__((visibility("default"))) void
gpucoord_register_styles(void *lmp, void *handle, void *regfunc)
{
  lammpsplugin_t plugin;
  memset(&plugin, 0, sizeof(plugin));
  const auto register_plugin = (lammpsplugin_regfunc) regfunc;
  plugin.version = LAMMPS_VERSION;
  plugin.author = "The GPUCOORD developers";
  plugin.handle = handle;
  const auto add = [&](const char *style, const char *name, const char *info) {
    plugin.style = style;
    plugin.name = name;
    plugin.info = info;
    register_plugin(&plugin, lmp);
  };
  plugin.creator.v2 = &gpucoord_create<Compute, ComputeCoordGPU>;
  add("compute", "coord/gpu", "GPUCOORD coordination number v0.1");
  plugin.creator.v2 = &gpucoord_create<Compute, ComputeCoordCustom>;
  add("compute", "coord/custom", "GPUCOORD expression of collective variables v0.1");
  plugin.creator.v2 = &gpucoord_create<Compute, ComputeCoordEnvsim>;
  add("compute", "coord/envsim", "GPUCOORD environment similarity v0.1");
  plugin.creator.v2 = &gpucoord_create<Compute, ComputeCoordOrientOrder>;
  add("compute", "coord/orientorder", "GPUCOORD bond-orientational order parameter v0.1");
  plugin.creator.v2 = &gpucoord_create<Compute, ComputeCoordPairEntropy>;
  add("compute", "coord/pairentropy", "GPUCOORD pair entropy v0.1");
  plugin.creator.v2 = &gpucoord_create<Fix, FixCoordBias>;
  add("fix", "coord/bias", "GPUCOORD bias potential v0.1");
  plugin.creator.v2 = &gpucoord_create<Fix, FixCoordPlumed>;
  add("fix", "coord/plumed", "GPUCOORD biases of PLUMED v0.1");
  plugin.creator.v1 = &gpucoord_create_pair<PairCoord>;
  add("pair", "coord", "GPUCOORD pair potential of a switching function v0.1");

  auto *const instance = static_cast<LAMMPS *>(lmp);
  gpucoord_register_grids_and_molecules(instance, plugin, register_plugin);
#if defined(GPUCOORD_KOKKOS)
  gpucoord_register_kokkos(instance, plugin, register_plugin);
#endif
  gpucoord_add_commands(instance);
}
