// Part of GPUCOORD, GPL-2.0. A plugin for test_memory.py with the command memory_of_styles. It
// prints what memory_usage() of each compute, fix and pair style returns, and the memory that this
// process has allocated with malloc(). When a style is deleted, the latter shrinks by what the
// style had.

#include "lammpsplugin.h"

#include "comm.h"
#include "command.h"
#include "compute.h"
#include "fix.h"
#include "force.h"
#include "modify.h"
#include "pair.h"
#include "utils.h"
#include "version.h"

#include <malloc.h>

using namespace LAMMPS_NS;

class MemoryOfStyles : public Command {
 public:
  using Command::Command;

  void command(int, char **) override
  {
    for (Compute *const compute : modify->get_compute_list())
      print(compute->style, compute->memory_usage());
    for (Fix *const fix : modify->get_fix_list()) print(fix->style, fix->memory_usage());
    if (force->pair) print(force->pair_style, force->pair->memory_usage());
#if defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 33)
    const auto allocated = mallinfo2();
#else
    const auto allocated = mallinfo();
#endif
    print("malloc",
          static_cast<double>(allocated.uordblks) + static_cast<double>(allocated.hblkhd));
  }

 private:
  void print(const std::string &style, double bytes)
  {
    if (comm->me == 0) utils::logmesg(lmp, fmt::format("memory of {}: {:.0f}\n", style, bytes));
  }
};

static Command *creator(LAMMPS *lmp)
{
  return new MemoryOfStyles(lmp);
}

extern "C" __attribute__((visibility("default"))) void lammpsplugin_init(void *lmp, void *handle,
                                                                         void *register_plugin)
{
  lammpsplugin_t plugin = {};
  plugin.version = LAMMPS_VERSION;
  plugin.style = "command";
  plugin.name = "memory_of_styles";
  plugin.info = "prints memory";
  plugin.author = "GPUCOORD";
  plugin.creator.v1 = (lammpsplugin_factory1 *) &creator;
  plugin.handle = handle;
  reinterpret_cast<lammpsplugin_regfunc>(register_plugin)(&plugin, lmp);
}
