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
#include <vector>

using namespace LAMMPS_NS;

#if defined(GPUCOORD_KOKKOS)
namespace LAMMPS_NS {
// in src/KOKKOS/gpucoord_kokkos_plugin.cpp, which alone is compiled with Kokkos
void gpucoord_register_kokkos(LAMMPS *lmp, lammpsplugin_t plugin, lammpsplugin_regfunc register_plugin);
}    // namespace LAMMPS_NS
#endif

// The LAMMPS that this plugin was compiled for. Tests build it for one that does
// not exist.
#ifndef GPUCOORD_EXPECT_VERSION
#define GPUCOORD_EXPECT_VERSION 20260704
#endif
#ifndef GPUCOORD_EXPECT_TAGINT_SIZE
#define GPUCOORD_EXPECT_TAGINT_SIZE static_cast<int>(sizeof(tagint))
#endif
#if defined(GPUCOORD_KOKKOS) && !defined(GPUCOORD_EXPECT_KOKKOS_PRECISION)
#define GPUCOORD_EXPECT_KOKKOS_PRECISION GPUCOORD_KOKKOS_PRECISION
#endif

// LAMMPS itself only prints a note when versions differ, and checks no sizes. The
// C library interface is the one thing that is safe to call before that is known.

#if defined(GPUCOORD_KOKKOS)
static bool has_kokkos(const char *category, const std::string &setting)
{
  return lammps_config_accelerator("KOKKOS", category, setting.c_str());
}

// Precision and layout are in the types of the KOKKOS package, and APIs in those of Kokkos. LAMMPS
// without KOKKOS needs no check here: this plugin cannot even be opened there, as symbols are missing.

static std::string kokkos_mismatch()
{
  const struct {
    const char *category, *expected;
    std::vector<std::string> all;
  } settings[] = {{"precision", GPUCOORD_EXPECT_KOKKOS_PRECISION, {"double", "mixed", "single"}},
                  {"layout", GPUCOORD_KOKKOS_LAYOUT, {"legacy", "default"}}};
  if (!lammps_config_has_package("KOKKOS"))
    return "it was compiled for a LAMMPS with the KOKKOS package, but this one has none";
  for (const auto &setting : settings)
    for (const auto &found : setting.all)
      if (found != setting.expected && has_kokkos(setting.category, found))
        return std::string("it was compiled for KOKKOS of ") + setting.category + " " +
            setting.expected + ", but this LAMMPS has " + found;
  const std::string expected = GPUCOORD_KOKKOS_APIS;
  std::string found;
  for (const char *api : {"openmp", "serial", "pthreads", "cuda", "hip", "sycl"})
    if (has_kokkos("api", api)) found += (found.empty() ? "" : ",") + std::string(api);
  if (found != expected)
    return "it was compiled for KOKKOS with " + expected + ", but this LAMMPS has it with " + found;
  return "";
}
#endif

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
#if defined(GPUCOORD_KOKKOS)
  return kokkos_mismatch();
#else
  return "";
#endif
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

#if defined(GPUCOORD_KOKKOS)
  gpucoord_register_kokkos(static_cast<LAMMPS *>(lmp), plugin, register_plugin);
#endif
}
