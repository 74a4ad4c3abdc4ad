/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "lammpsplugin.h"

#include "library.h"
#include "lmptype.h"

#include <mpi.h>
#include <string>

#if defined(GPUCOORD_KOKKOS)
#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>
#endif

using namespace LAMMPS_NS;

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

// Those of the settings that the KOKKOS package of this LAMMPS has.

static std::string found_in_kokkos(const char *category, std::initializer_list<const char *> settings)
{
  std::string found;
  for (const char *setting : settings)
    if (lammps_config_accelerator("KOKKOS", category, setting))
      found += (found.empty() ? "" : ",") + std::string(setting);
  return found;
}

// Precision and layout are in the types of the KOKKOS package, APIs in those of Kokkos.

static std::string kokkos_mismatch()
{
  if (!lammps_config_has_package("KOKKOS"))
    return "it was compiled for a LAMMPS with the KOKKOS package, but this one has none";
  const struct {
    const char *name;
    std::string expected, found;
  } settings[] = {
      {"precision", GPUCOORD_EXPECT_KOKKOS_PRECISION,
       found_in_kokkos("precision", {"double", "mixed", "single"})},
      {"layout", GPUCOORD_KOKKOS_LAYOUT, found_in_kokkos("layout", {"default", "legacy"})},
      {"api", GPUCOORD_KOKKOS_APIS,
       found_in_kokkos("api", {"cuda", "hip", "openmp", "pthreads", "serial", "sycl"})}};
  for (const auto &setting : settings)
    if (setting.found != setting.expected)
      return std::string("it was compiled for KOKKOS with ") + setting.name + " " + setting.expected +
          ", but this LAMMPS has it with " + setting.name + " " + setting.found;
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

static void refuse(void *lmp, const std::string &message)
{
  lammps_error(lmp, LMP_ERROR_ALL,
               (message + " - set LAMMPS_SOURCE_DIR to the source of this LAMMPS and build GPUCOORD again")
                   .c_str());
}

#if defined(GPUCOORD_KOKKOS)

// Styles that use Kokkos are in a library of their own, beside this one: the symbols that they need of
// LAMMPS could be missing in one that does not match, which then could not open it to be told why.

static lammpsplugin_initfunc open_styles(std::string &why)
{
  Dl_info self;
  char *path = dladdr(reinterpret_cast<void *>(&open_styles), &self) ? realpath(self.dli_fname, nullptr)
                                                                     : nullptr;
  const std::string folder = path ? path : "";
  free(path);
  const std::string file = folder.substr(0, folder.rfind('/') + 1) + "gpucoord_styles.so";
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *function = library ? dlsym(library, "gpucoord_register_styles") : nullptr;
  if (!function) why = dlerror();
  return reinterpret_cast<lammpsplugin_initfunc>(function);
}
#else
extern "C" void gpucoord_register_styles(void *lmp, void *handle, void *regfunc);
#endif

// the one symbol that LAMMPS looks up; everything else is hidden

extern "C" __attribute__((visibility("default"))) void lammpsplugin_init(void *lmp, void *handle, void *regfunc)
{
  std::string reason = mismatch(lmp);
  if (!reason.empty()) {
    refuse(lmp, "The GPUCOORD plugin does not match this LAMMPS: " + reason);
    return;
  }
#if defined(GPUCOORD_KOKKOS)
  const auto gpucoord_register_styles = open_styles(reason);
  if (!gpucoord_register_styles) {
    refuse(lmp, "The styles of the GPUCOORD plugin, gpucoord_styles.so beside it, cannot be opened: " + reason);
    return;
  }
#endif
  gpucoord_register_styles(lmp, handle, regfunc);
}
