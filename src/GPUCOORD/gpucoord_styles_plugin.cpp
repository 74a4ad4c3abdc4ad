/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The styles of the plugin. gpucoordplugin.cpp calls the entry point in this file after it has
// checked that the styles match LAMMPS.

#include "lammpsplugin.h"

#include "compute_coord_custom.h"
#include "compute_coord_envsim.h"
#include "compute_coord_gpu.h"
#include "compute_coord_orientorder.h"
#include "compute_coord_pairentropy.h"
#include "compute_potential_grid.h"
#include "fix_ave_potential_grid.h"
#include "fix_coord_bias.h"
#include "fix_coord_plumed.h"
#include "fix_multisite_linear.h"
#include "pair_coord.h"
#include "pair_multisite.h"
#include "set_multisite.h"
#include "write_grid.h"

#include "input.h"
#include "version.h"

#include <cstring>

using namespace LAMMPS_NS;

namespace LAMMPS_NS {
#if defined(GPUCOORD_KOKKOS)
// Defined in src/KOKKOS/gpucoord_kokkos_plugin.cpp. All files of src/KOKKOS, and no others, are
// compiled with Kokkos.
void gpucoord_register_kokkos(LAMMPS *lmp, lammpsplugin_t plugin,
                              lammpsplugin_regfunc register_plugin);
#endif

template <class Style> static Command *create_command(LAMMPS *lmp)
{
  return new Style(lmp);
}

// The clear command of LAMMPS keeps commands, and LAMMPS warns about each plugin command that it
// restores afterwards. Commands are therefore not registered like styles. They are added to the
// command list of each LAMMPS instance that loads the plugin or creates one of its styles. KOKKOS
// styles call this function, too.

void gpucoord_add_commands(LAMMPS *lmp)
{
  auto &commands = *lmp->input->command_map;
  commands["set_multisite"] = &create_command<SetMultisite>;
  commands["write_grid"] = &create_command<WriteGrid>;
}
}    // namespace LAMMPS_NS

template <class Style> static void *create_pair(void *lmp)
{
  gpucoord_add_commands(static_cast<LAMMPS *>(lmp));
  return static_cast<Pair *>(new Style(static_cast<LAMMPS *>(lmp)));
}

template <class Base, class Style> static void *create(void *lmp, int narg, char **arg)
{
  gpucoord_add_commands(static_cast<LAMMPS *>(lmp));
  return static_cast<Base *>(new Style(static_cast<LAMMPS *>(lmp), narg, arg));
}

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
  plugin.creator.v2 = &create<Compute, ComputeCoordGPU>;
  add("compute", "coord/gpu", "GPUCOORD coordination number v0.1");
  plugin.creator.v2 = &create<Compute, ComputeCoordCustom>;
  add("compute", "coord/custom", "GPUCOORD expression of collective variables v0.1");
  plugin.creator.v2 = &create<Compute, ComputeCoordEnvsim>;
  add("compute", "coord/envsim", "GPUCOORD environment similarity v0.1");
  plugin.creator.v2 = &create<Compute, ComputeCoordOrientOrder>;
  add("compute", "coord/orientorder", "GPUCOORD bond-orientational order parameter v0.1");
  plugin.creator.v2 = &create<Compute, ComputeCoordPairEntropy>;
  add("compute", "coord/pairentropy", "GPUCOORD pair entropy v0.1");
  plugin.creator.v2 = &create<Compute, ComputePotentialGrid>;
  add("compute", "potential/grid", "GPUCOORD electrostatic potential on a grid v0.1");
  plugin.creator.v2 = &create<Fix, FixAvePotentialGrid>;
  add("fix", "ave/potential/grid", "GPUCOORD mean electrostatic potential on a grid v0.1");
  plugin.creator.v2 = &create<Fix, FixCoordBias>;
  add("fix", "coord/bias", "GPUCOORD bias potential v0.1");
  plugin.creator.v2 = &create<Fix, FixCoordPlumed>;
  add("fix", "coord/plumed", "GPUCOORD biases of PLUMED v0.1");
  plugin.creator.v2 = &create<Fix, FixMultisiteLinear>;
  add("fix", "multisite/linear", "GPUCOORD no rotation of linear molecules about their axes v0.1");
  plugin.creator.v1 = &create_pair<PairCoord>;
  add("pair", "coord", "GPUCOORD pair potential of a switching function v0.1");
  plugin.creator.v1 = &create_pair<PairMultisite>;
  add("pair", "multisite", "GPUCOORD rigid multi-site molecules v0.1");
  gpucoord_add_commands(static_cast<LAMMPS *>(lmp));

#if defined(GPUCOORD_KOKKOS)
  gpucoord_register_kokkos(static_cast<LAMMPS *>(lmp), plugin, register_plugin);
#endif
}
