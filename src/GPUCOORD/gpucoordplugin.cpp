/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "lammpsplugin.h"

#include "compute_coord_gpu.h"
#include "fix_coord_bias.h"
#include "pair_coord.h"

#include "library.h"
#include "version.h"

#include <cstring>
#include <string>

using namespace LAMMPS_NS;

// The LAMMPS that this plugin was compiled for. Tests build it for one that does
// not exist.
#ifndef GPUCOORD_EXPECT_VERSION
#define GPUCOORD_EXPECT_VERSION 20260704
#endif
#ifndef GPUCOORD_EXPECT_TAGINT_SIZE
#define GPUCOORD_EXPECT_TAGINT_SIZE static_cast<int>(sizeof(tagint))
#endif

// LAMMPS itself only prints a note when versions differ, and checks no sizes. The
// C library interface is the one thing that is safe to call before that is known.

static std::string mismatch(void *lmp)
{
  if (lammps_version(lmp) != GPUCOORD_EXPECT_VERSION)
    return "it was compiled for LAMMPS version " + std::to_string(GPUCOORD_EXPECT_VERSION) +
        ", but this is version " + std::to_string(lammps_version(lmp));
  const struct {
    const char *setting;
    int size;
  } types[] = {{"tagint", GPUCOORD_EXPECT_TAGINT_SIZE},
               {"bigint", static_cast<int>(sizeof(bigint))},
               {"imageint", static_cast<int>(sizeof(imageint))}};
  for (const auto &type : types) {
    const int size = lammps_extract_setting(lmp, type.setting);
    if (size != type.size)
      return std::string("it was compiled for ") + std::to_string(8 * type.size) + "-bit " +
          type.setting + ", but this LAMMPS has " + std::to_string(8 * size) + "-bit " + type.setting;
  }
  // LAMMPS answers with the size of MPI_Comm: Open MPI and MPICH differ in it
#if defined(MPI_STUBS)
  const int mpi = 0;
#else
  const int mpi = sizeof(MPI_Comm);
#endif
  if (lammps_config_has_mpi_support() != mpi)
    return "it was compiled with another MPI library";
  return "";
}

static Compute *compute_coord_gpu_creator(LAMMPS *lmp, int narg, char **arg)
{
  return new ComputeCoordGPU(lmp, narg, arg);
}

static Fix *fix_coord_bias_creator(LAMMPS *lmp, int narg, char **arg)
{
  return new FixCoordBias(lmp, narg, arg);
}

static Pair *pair_coord_creator(LAMMPS *lmp)
{
  return new PairCoord(lmp);
}

// the one symbol that LAMMPS looks up; everything else is hidden

extern "C" __attribute__((visibility("default"))) void lammpsplugin_init(void *lmp, void *handle, void *regfunc)
{
  const std::string reason = mismatch(lmp);
  if (!reason.empty()) {
    lammps_error(lmp, LMP_ERROR_ALL,
                 ("The GPUCOORD plugin does not match this LAMMPS: " + reason +
                  " - set LAMMPS_SOURCE_DIR to the source of this LAMMPS and build GPUCOORD again")
                     .c_str());
    return;
  }

  lammpsplugin_t plugin;
  memset(&plugin, 0, sizeof(plugin));
  const auto register_plugin = (lammpsplugin_regfunc) regfunc;
  plugin.version = LAMMPS_VERSION;
  plugin.style = "compute";
  plugin.name = "coord/gpu";
  plugin.info = "GPUCOORD coordination number v0.1";
  plugin.author = "The GPUCOORD developers";
  plugin.creator.v2 = (lammpsplugin_factory2 *) &compute_coord_gpu_creator;
  plugin.handle = handle;
  register_plugin(&plugin, lmp);

  plugin.style = "fix";
  plugin.name = "coord/bias";
  plugin.info = "GPUCOORD bias potential v0.1";
  plugin.creator.v2 = (lammpsplugin_factory2 *) &fix_coord_bias_creator;
  register_plugin(&plugin, lmp);

  plugin.style = "pair";
  plugin.name = "coord";
  plugin.info = "GPUCOORD pair potential of a switching function v0.1";
  plugin.creator.v1 = (lammpsplugin_factory1 *) &pair_coord_creator;
  register_plugin(&plugin, lmp);
}
