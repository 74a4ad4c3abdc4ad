/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The styles of the plugin; gpucoordplugin.cpp calls this after it has checked that they match LAMMPS.

#include "lammpsplugin.h"

#include "compute_coord_gpu.h"
#include "compute_potential_grid.h"
#include "fix_ave_potential_grid.h"
#include "fix_coord_bias.h"
#include "fix_multisite_linear.h"
#include "pair_coord.h"
#include "pair_multisite.h"
#include "set_multisite.h"
#include "write_grid.h"

#include "input.h"
#include "version.h"

#include <cstring>
#include <dlfcn.h>

using namespace LAMMPS_NS;

#if defined(GPUCOORD_KOKKOS)
namespace LAMMPS_NS {
// in src/KOKKOS/gpucoord_kokkos_plugin.cpp, which alone is compiled with Kokkos
void gpucoord_register_kokkos(LAMMPS *lmp, lammpsplugin_t plugin, lammpsplugin_regfunc register_plugin);
}    // namespace LAMMPS_NS
#endif

static Command *set_multisite_creator(LAMMPS *lmp)
{
  return new SetMultisite(lmp);
}

static Command *write_grid_creator(LAMMPS *lmp)
{
  return new WriteGrid(lmp);
}

// LAMMPS keeps its commands when it clears all else, and warns about each command of a plugin that it then restores. So commands
// are not registered as styles are, but are put into the list of commands of each LAMMPS that loads the plugin or makes one of its
// styles.

static void add_commands(LAMMPS *lmp)
{
  auto &commands = *lmp->input->command_map;
  commands["set_multisite"] = &set_multisite_creator;
  commands["write_grid"] = &write_grid_creator;
}

// LAMMPS closes a plugin when the last of its registered styles is unloaded. Commands may be called after that: opened once more,
// this library stays in memory.

static void stay_in_memory()
{
  Dl_info self;
  static const bool stays = dladdr(reinterpret_cast<void *>(&add_commands), &self) && dlopen(self.dli_fname, RTLD_NOW);
  (void) stays;
}

static Compute *compute_coord_gpu_creator(LAMMPS *lmp, int narg, char **arg)
{
  add_commands(lmp);
  return new ComputeCoordGPU(lmp, narg, arg);
}

static Compute *compute_potential_grid_creator(LAMMPS *lmp, int narg, char **arg)
{
  add_commands(lmp);
  return new ComputePotentialGrid(lmp, narg, arg);
}

static Fix *fix_ave_potential_grid_creator(LAMMPS *lmp, int narg, char **arg)
{
  add_commands(lmp);
  return new FixAvePotentialGrid(lmp, narg, arg);
}

static Fix *fix_coord_bias_creator(LAMMPS *lmp, int narg, char **arg)
{
  add_commands(lmp);
  return new FixCoordBias(lmp, narg, arg);
}

static Pair *pair_coord_creator(LAMMPS *lmp)
{
  add_commands(lmp);
  return new PairCoord(lmp);
}

static Pair *pair_multisite_creator(LAMMPS *lmp)
{
  add_commands(lmp);
  return new PairMultisite(lmp);
}

static Fix *fix_multisite_linear_creator(LAMMPS *lmp, int narg, char **arg)
{
  add_commands(lmp);
  return new FixMultisiteLinear(lmp, narg, arg);
}

// Hidden where it is in the plugin itself: of two plugins in one process each must call its own.
#if defined(GPUCOORD_KOKKOS)
extern "C" __attribute__((visibility("default")))
#else
extern "C" __attribute__((visibility("hidden")))
#endif
void gpucoord_register_styles(void *lmp, void *handle, void *regfunc)
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
  // computes and fixes are made from words, pair styles are not
  const auto add_from_words = [&](const char *style, const char *name, const char *info, lammpsplugin_factory2 *creator) {
    plugin.creator.v2 = creator;
    add(style, name, info);
  };
  const auto add_plain = [&](const char *style, const char *name, const char *info, lammpsplugin_factory1 *creator) {
    plugin.creator.v1 = creator;
    add(style, name, info);
  };
  add_from_words("compute", "coord/gpu", "GPUCOORD coordination number v0.1", (lammpsplugin_factory2 *) &compute_coord_gpu_creator);
  add_from_words("compute", "potential/grid", "GPUCOORD electrostatic potential on a grid v0.1",
                 (lammpsplugin_factory2 *) &compute_potential_grid_creator);
  add_from_words("fix", "ave/potential/grid", "GPUCOORD mean electrostatic potential on a grid v0.1",
                 (lammpsplugin_factory2 *) &fix_ave_potential_grid_creator);
  add_from_words("fix", "coord/bias", "GPUCOORD bias potential v0.1", (lammpsplugin_factory2 *) &fix_coord_bias_creator);
  add_plain("pair", "coord", "GPUCOORD pair potential of a switching function v0.1",
            (lammpsplugin_factory1 *) &pair_coord_creator);
  add_plain("pair", "multisite", "GPUCOORD rigid multi-site molecules v0.1", (lammpsplugin_factory1 *) &pair_multisite_creator);
  add_from_words("fix", "multisite/linear", "GPUCOORD no rotation of linear molecules about their axes v0.1",
                 (lammpsplugin_factory2 *) &fix_multisite_linear_creator);

  add_commands(static_cast<LAMMPS *>(lmp));
  stay_in_memory();

#if defined(GPUCOORD_KOKKOS)
  gpucoord_register_kokkos(static_cast<LAMMPS *>(lmp), plugin, register_plugin);
#endif
}
