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

#include <string>

#define COORD_STYLE_CLASSES
#include "coord_styles.h"

// clang-format off
#include "compute_coord_energy_kokkos.h"
#include "compute_coord_geometry_kokkos.h"
#include "compute_coord_pair_kokkos.h"
#include "compute_coord_shape_kokkos.h"
#include "compute_potential_grid_kokkos.h"
#include "fix_coord_bias_kokkos.h"
#include "fix_coord_plumed_kokkos.h"
#include "fix_multisite_linear_kokkos.h"
#include "pair_coord_kokkos.h"
#include "pair_multisite_kokkos.h"
// clang-format on

namespace LAMMPS_NS {

// Returns the text of a collective variable, or 'other'. style: with its suffix
static const char *info_of(const std::string &style, const char *other)
{
#define ORDER_PARAMETER(name, definition, text) OTHER_VARIABLE(name, Class, text)
#define OTHER_VARIABLE(name, Class, text) \
  if (style.find(#name "/") == 0) return "GPUCOORD " text ", KOKKOS, v0.1";
#include "coord_styles.h"
  return other;
}

void gpucoord_register_kokkos(StyleRegistry &styles)
{
  // The headers define names and classes. LAMMPS' lists of styles include them in the same way.
#define PAIR_CLASS
#define PairStyle(key, Class) styles.add("pair", #key, info, &gpucoord_create_pair<Class>)
#define COMPUTE_CLASS
#define ComputeStyle(key, Class) \
  styles.add("compute", #key, info_of(#key, info), &gpucoord_create<Compute, Class>)
#define FIX_CLASS
#define FixStyle(key, Class) styles.add("fix", #key, info, &gpucoord_create<Fix, Class>)

  const char *info = "";
#include "compute_coord_energy_kokkos.h"
#include "compute_coord_geometry_kokkos.h"
#include "compute_coord_pair_kokkos.h"
#include "compute_coord_shape_kokkos.h"

  info = "GPUCOORD electrostatic potential on a grid, KOKKOS, v0.1";
#include "compute_potential_grid_kokkos.h"

  info = "GPUCOORD bias potential, KOKKOS, v0.1";
#include "fix_coord_bias_kokkos.h"

  info = "GPUCOORD biases of PLUMED, KOKKOS, v0.1";
#include "fix_coord_plumed_kokkos.h"

  info = "GPUCOORD rotation of linear molecules, KOKKOS, v0.1";
#include "fix_multisite_linear_kokkos.h"

  info = "GPUCOORD pair potential of a switching function, KOKKOS, v0.1";
#include "pair_coord_kokkos.h"

  info = "GPUCOORD rigid multi-site molecules, KOKKOS, v0.1";
#include "pair_multisite_kokkos.h"
}
}    // namespace LAMMPS_NS
