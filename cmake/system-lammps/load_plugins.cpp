/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// Adds the PLUGIN package to an installed LAMMPS. LAMMPS compiled with PLUGIN has the command
// `plugin` and loads the plugins of LAMMPS_PLUGIN_PATH at the end of LAMMPS::create().
// LAMMPS::post_create(), which always follows, does the same here: the dynamic linker finds the
// definitions of this file before those in the installed library.

#include "command.h"
#include "input.h"
#include "lammps.h"
#include "library.h"
#include "plugin.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

using namespace LAMMPS_NS;

namespace {

Command *create_plugin_command(LAMMPS *lmp)
{
  return new Plugin(lmp);
}

// The `clear` command keeps the list of loaded plugins but deletes their styles. Newer releases
// register the styles again. Older releases unload all plugins.
template <class T> auto restore_plugins(T *lmp, int) -> decltype(plugin_restore(lmp, true))
{
  plugin_restore(lmp, true);
}
template <class T> void restore_plugins(T *lmp, long)
{
  plugin_clear(lmp);
}

using PostCreate = void(LAMMPS *);

PostCreate *installed_post_create()
{
  Dl_info place;
  void *library = nullptr;
  if (dladdr(reinterpret_cast<void *>(&lammps_version), &place))
    library = dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void *function = library ? dlsym(library, "_ZN9LAMMPS_NS6LAMMPS11post_createEv") : nullptr;
  if (!function) {
    fprintf(stderr, "The installed LAMMPS has no LAMMPS::post_create(): %s\n", dlerror());
    abort();
  }
  return reinterpret_cast<PostCreate *>(function);
}

}    // namespace

void LAMMPS::post_create()
{
  static PostCreate *const installed = installed_post_create();
  (*input->command_map)["plugin"] = &create_plugin_command;
  restore_plugins(this, 0);
  plugin_auto_load(this);
  installed(this);
}

// These two functions of the library interface find no plugins in the installed library.

int lammps_plugin_count()
{
  return plugin_get_num_plugins();
}

int lammps_plugin_name(int index, char *style, char *name, int size)
{
  if (!style || !name || size < 1) return 0;
  style[0] = name[0] = '\0';
  const lammpsplugin_t *const plugin = plugin_get_info(index);
  if (!plugin) return 0;
  snprintf(style, size, "%s", plugin->style);
  snprintf(name, size, "%s", plugin->name);
  return 1;
}
