/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The parts of the registration of the plugin's styles. *plugin.cpp use it, no style does.

#ifndef LMP_GPUCOORD_PLUGIN_H
#define LMP_GPUCOORD_PLUGIN_H

#include "lammpsplugin.h"

#include "force.h"
#include "lammps.h"
#include "modify.h"
#include "pair.h"
#include "version.h"

namespace LAMMPS_NS {

// The clear command of LAMMPS keeps commands, and LAMMPS warns about each plugin command that it
// restores afterwards. Commands are therefore not registered like styles. They are added to the
// command list of each LAMMPS instance that loads the plugin or creates one of its styles.
void gpucoord_add_commands(LAMMPS *lmp);

// Registers styles of the plugin with one LAMMPS instance. LAMMPS keeps the pointers to the texts,
// which must be string literals.
class StyleRegistry {
 public:
  StyleRegistry(LAMMPS *lmp_in, void *handle, lammpsplugin_regfunc regfunc) :
      lmp(lmp_in), register_plugin(regfunc), plugin()
  {
    plugin.version = LAMMPS_VERSION;
    plugin.author = "The GPUCOORD developers";
    plugin.handle = handle;
  }

  // The type of create() differs: that of pair styles takes no arguments of a command.
  void add(const char *style, const char *name, const char *info, lammpsplugin_factory1 *create)
  {
    plugin.creator.v1 = create;
    add(style, name, info);
  }
  void add(const char *style, const char *name, const char *info, lammpsplugin_factory2 *create)
  {
    plugin.creator.v2 = create;
    add(style, name, info);
  }

 private:
  LAMMPS *lmp;
  lammpsplugin_regfunc register_plugin;
  lammpsplugin_t plugin;

  void add(const char *style, const char *name, const char *info)
  {
    plugin.style = style;
    plugin.name = name;
    plugin.info = info;
    register_plugin(&plugin, lmp);
    // LAMMPS 4 Feb 2025 ignores a style that another instance in this process has loaded.
    const std::string kind = style;
    if (kind == "pair")
      lmp->force->pair_map->emplace(name, reinterpret_cast<Force::PairCreator>(plugin.creator.v1));
    else if (kind == "compute")
      lmp->modify->compute_map->emplace(
          name, reinterpret_cast<Modify::ComputeCreator>(plugin.creator.v2));
    else if (kind == "fix")
      lmp->modify->fix_map->emplace(name, reinterpret_cast<Modify::FixCreator>(plugin.creator.v2));
  }
};

// Register the styles of potential maps and rigid molecules, and those of KOKKOS.
void gpucoord_register_grids_and_molecules(StyleRegistry &styles);
void gpucoord_register_kokkos(StyleRegistry &styles);

// Function that LAMMPS calls to create a style of the plugin.

template <class Style> void *gpucoord_create_pair(void *lmp)
{
  gpucoord_add_commands(static_cast<LAMMPS *>(lmp));
  return static_cast<Pair *>(new Style(static_cast<LAMMPS *>(lmp)));
}

template <class Base, class Style> void *gpucoord_create(void *lmp, int narg, char **arg)
{
  gpucoord_add_commands(static_cast<LAMMPS *>(lmp));
  return static_cast<Base *>(new Style(static_cast<LAMMPS *>(lmp), narg, arg));
}

}    // namespace LAMMPS_NS

#endif
