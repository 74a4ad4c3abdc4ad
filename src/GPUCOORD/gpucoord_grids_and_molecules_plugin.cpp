/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The plugin's styles of potential maps and rigid molecules, and its commands. The Python wheel
// lacks them and has python/left_out_styles.cpp instead.

#include "gpucoord_plugin.h"

#include "compute_potential_grid.h"
#include "fix_ave_potential_grid.h"
#include "fix_multisite_linear.h"
#include "pair_multisite.h"
#include "set_multisite.h"
#include "write_grid.h"

#include "input.h"

namespace LAMMPS_NS {

template <class Style> static Command *create_command(LAMMPS *lmp)
{
  return new Style(lmp);
}

void gpucoord_add_commands(LAMMPS *lmp)
{
  auto &commands = *lmp->input->command_map;
  commands["set_multisite"] = &create_command<SetMultisite>;
  commands["write_grid"] = &create_command<WriteGrid>;
}

void gpucoord_register_grids_and_molecules(LAMMPS *lmp, lammpsplugin_t plugin,
                                           lammpsplugin_regfunc register_plugin)
{
  const auto add = [&](const char *style, const char *name, const char *info) {
    plugin.style = style;
    plugin.name = name;
    plugin.info = info;
    register_plugin(&plugin, lmp);
  };
  plugin.creator.v2 = &gpucoord_create<Compute, ComputePotentialGrid>;
  add("compute", "potential/grid", "GPUCOORD electrostatic potential on a grid v0.1");
  plugin.creator.v2 = &gpucoord_create<Fix, FixAvePotentialGrid>;
  add("fix", "ave/potential/grid", "GPUCOORD mean electrostatic potential on a grid v0.1");
  plugin.creator.v2 = &gpucoord_create<Fix, FixMultisiteLinear>;
  add("fix", "multisite/linear", "GPUCOORD no rotation of linear molecules about their axes v0.1");
  plugin.creator.v1 = &gpucoord_create_pair<PairMultisite>;
  add("pair", "multisite", "GPUCOORD rigid multi-site molecules v0.1");
}

}    // namespace LAMMPS_NS
