// Part of GPUCOORD, GPL-2.0. A plugin for commands/bias/test_bias_errors.py. Its fix reports
// changes of the box size, like a barostat whose name fix coord/bias does not check.

#include "lammpsplugin.h"

#include "fix.h"
#include "version.h"

using namespace LAMMPS_NS;

class BoxFix : public Fix {
 public:
  BoxFix(LAMMPS *lmp, int narg, char **arg) : Fix(lmp, narg, arg) { box_change = BOX_CHANGE_X; }
  int setmask() override { return 0; }
};

static Fix *creator(LAMMPS *lmp, int narg, char **arg)
{
  return new BoxFix(lmp, narg, arg);
}

extern "C" __attribute__((visibility("default"))) void lammpsplugin_init(void *lmp, void *handle,
                                                                         void *register_plugin)
{
  lammpsplugin_t plugin = {};
  plugin.version = LAMMPS_VERSION;
  plugin.style = "fix";
  plugin.name = "test/box";
  plugin.info = "changes the box";
  plugin.author = "GPUCOORD";
  plugin.creator.v2 = (lammpsplugin_factory2 *) &creator;
  plugin.handle = handle;
  reinterpret_cast<lammpsplugin_regfunc>(register_plugin)(&plugin, lmp);
}
