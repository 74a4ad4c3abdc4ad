// Part of GPUCOORD, GPL-2.0. A plugin for commands/bias/test_bias_errors.py and
// test_bias_warnings.py. Fix test/box reports changes of the box size, like a barostat whose name
// fix coord/bias does not check. The other fixes do nothing, but have names of fixes of packages
// that a test build of LAMMPS lacks.

#include "lammpsplugin.h"

#include "fix.h"
#include "version.h"

using namespace LAMMPS_NS;

class BoxFix : public Fix {
 public:
  BoxFix(LAMMPS *lmp, int narg, char **arg) : Fix(lmp, narg, arg) { box_change = BOX_CHANGE_X; }
  int setmask() override { return 0; }
};

class IdleFix : public Fix {
 public:
  using Fix::Fix;
  int setmask() override { return 0; }
};

static Fix *idle(LAMMPS *lmp, int narg, char **arg)
{
  return new IdleFix(lmp, narg, arg);
}

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
  const auto add = reinterpret_cast<lammpsplugin_regfunc>(register_plugin);
  add(&plugin, lmp);
  plugin.info = "does nothing";
  plugin.creator.v2 = (lammpsplugin_factory2 *) &idle;
  for (const char *const name :
       {"freeze", "damping/cundall", "neb", "alchemy", "grem", "lb/viscous", "smd/setvel", "pafi",
        "filter/corotate", "pimd/nvt", "append/atoms"}) {
    plugin.name = name;
    add(&plugin, lmp);
  }
}
