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

void gpucoord_register_grids_and_molecules(StyleRegistry &styles)
{
  styles.add("compute", "potential/grid", "GPUCOORD electrostatic potential on a grid v0.1",
             &gpucoord_create<Compute, ComputePotentialGrid>);
  styles.add("fix", "ave/potential/grid", "GPUCOORD mean electrostatic potential on a grid v0.1",
             &gpucoord_create<Fix, FixAvePotentialGrid>);
  styles.add("fix", "multisite/linear",
             "GPUCOORD no rotation of linear molecules about their axes v0.1",
             &gpucoord_create<Fix, FixMultisiteLinear>);
  styles.add("pair", "multisite", "GPUCOORD rigid multi-site molecules v0.1",
             &gpucoord_create_pair<PairMultisite>);
}

}    // namespace LAMMPS_NS
