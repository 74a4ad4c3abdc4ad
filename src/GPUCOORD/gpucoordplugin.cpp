/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The library that `plugin load` opens. It needs no symbol of LAMMPS or MPI, so every LAMMPS can
// open it and receive a message why it does not match. The styles are in gpucoord_styles.so in the
// same folder; only the LAMMPS that they were compiled for can open them.

#include "lammpsplugin.h"

#include "library.h"
#include "lmptype.h"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>
#include <link.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace LAMMPS_NS;

// The LAMMPS that this plugin is compiled for. Tests build it for a LAMMPS that does not exist.
#ifndef GPUCOORD_EXPECT_VERSION
#define GPUCOORD_EXPECT_VERSION 20260704
#endif
#ifndef GPUCOORD_EXPECT_TAGINT_SIZE
#define GPUCOORD_EXPECT_TAGINT_SIZE static_cast<int>(sizeof(tagint))
#endif
#ifndef GPUCOORD_EXPECT_MPI_SIZE
#if defined(MPI_STUBS)
#define GPUCOORD_EXPECT_MPI_SIZE 0
#else
#define GPUCOORD_EXPECT_MPI_SIZE static_cast<int>(sizeof(MPI_Comm))
#endif
#endif
#if defined(GPUCOORD_KOKKOS) && !defined(GPUCOORD_EXPECT_KOKKOS_PRECISION)
#define GPUCOORD_EXPECT_KOKKOS_PRECISION GPUCOORD_KOKKOS_PRECISION
#endif

namespace {

// The C interface of the LAMMPS that loads the plugin, the only interface that all releases share.
class CInterface {
 public:
  // of_lammps: address of a function of that LAMMPS.
  explicit CInterface(void *of_lammps)
  {
    Dl_info place;
    if (dladdr(of_lammps, &place)) file = place.dli_fname;
    library = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!library) library = dlopen(nullptr, RTLD_LAZY);    // LAMMPS is linked into the program
  }
  ~CInterface() { dlclose(library); }
  CInterface(const CInterface &) = delete;
  CInterface &operator=(const CInterface &) = delete;

  // Python, for example, opens liblammps with RTLD_LOCAL. The styles need its symbols.
  void make_global() const
  {
    void *again = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    if (again) dlclose(again);
  }

  // Returns null if this LAMMPS has no such function.
  template <class Function> Function *find(const char *name) const
  {
    return reinterpret_cast<Function *>(dlsym(library, name));
  }

  // Returns -1 if this LAMMPS has no such function.
  template <class... Arguments> int call(const char *name, Arguments... arguments) const
  {
    const auto function = find<int(Arguments...)>(name);
    return function ? function(arguments...) : -1;
  }

 private:
  std::string file;
  void *library = nullptr;
};

std::string bits(int size)
{
  return std::to_string(8 * size) + "-bit";
}

// MPI_Comm is an int in MPICH and its derivatives, and a pointer in Open MPI.
std::string mpi_of_size(int size)
{
  return size == 0 ? "no MPI"
                   : "an MPI library with " + bits(size) + " communicators (" +
          (size == sizeof(int) ? "as in MPICH" : "as in Open MPI") + ")";
}

#if defined(GPUCOORD_KOKKOS)

// Lists the given settings that the KOKKOS package of this LAMMPS has.
std::string found_in_kokkos(const CInterface &lammps, const char *category,
                            std::initializer_list<const char *> settings)
{
  std::string found;
  for (const char *setting : settings)
    if (lammps.call("lammps_config_accelerator", "KOKKOS", category, setting) > 0)
      found += (found.empty() ? "" : ",") + std::string(setting);
  return found;
}

// Precision and layout are part of the KOKKOS package's types. The API is part of Kokkos' types.
std::string kokkos_mismatch(const CInterface &lammps)
{
  if (lammps.call("lammps_config_has_package", "KOKKOS") <= 0)
    return "it was compiled for a LAMMPS with the KOKKOS package, but this one has none";
  const struct {
    const char *name;
    std::string expected, found;
  } settings[] = {
      {"precision", GPUCOORD_EXPECT_KOKKOS_PRECISION,
       found_in_kokkos(lammps, "precision", {"double", "mixed", "single"})},
      {"layout", GPUCOORD_KOKKOS_LAYOUT, found_in_kokkos(lammps, "layout", {"default", "legacy"})},
      {"api", GPUCOORD_KOKKOS_APIS,
       found_in_kokkos(lammps, "api", {"cuda", "hip", "openmp", "pthreads", "serial", "sycl"})}};
  for (const auto &setting : settings)
    if (setting.found != setting.expected)
      return std::string("it was compiled for KOKKOS with ") + setting.name + " " +
          setting.expected + ", but this LAMMPS has it with " + setting.name + " " + setting.found;
  return "";
}
#endif

constexpr char BUILD_AGAIN[] = "set LAMMPS_SOURCE_DIR and LAMMPS_BUILD_DIR to the source and the "
                               "build folder of this LAMMPS and build GPUCOORD again";

// Returns the first mismatch with the way out, or an empty string.
std::string mismatch(const CInterface &lammps, void *lmp)
{
  const int version = lammps.call("lammps_version", lmp);
  if (version < 0)
    return "it does not export its C interface - use a shared liblammps, or link the program with "
           "-rdynamic";
  if (version != GPUCOORD_EXPECT_VERSION)
    return "it was compiled for LAMMPS version " + std::to_string(GPUCOORD_EXPECT_VERSION) +
        ", but this is version " + std::to_string(version) +
        " - use that version, for example build/lmp, which make builds";
  const struct {
    const char *setting;
    int size;
  } types[] = {{"tagint", GPUCOORD_EXPECT_TAGINT_SIZE},
               {"bigint", static_cast<int>(sizeof(bigint))},
               {"imageint", static_cast<int>(sizeof(imageint))}};
  for (const auto &type : types) {
    const int size = lammps.call("lammps_extract_setting", lmp, type.setting);
    if (size != type.size)
      return "it was compiled for " + bits(type.size) + " " + type.setting +
          ", but this LAMMPS has " + bits(size) + " " + type.setting + " - " + BUILD_AGAIN;
  }
  // LAMMPS returns the size of MPI_Comm, or 0 without MPI.
  const int found = lammps.call("lammps_config_has_mpi_support");
  if (found != GPUCOORD_EXPECT_MPI_SIZE)
    return "it was compiled for " + mpi_of_size(GPUCOORD_EXPECT_MPI_SIZE) +
        ", but this LAMMPS has " + mpi_of_size(found) + " - " + BUILD_AGAIN;
#if defined(GPUCOORD_KOKKOS)
  const std::string reason = kokkos_mismatch(lammps);
  if (!reason.empty()) return reason + " - " + BUILD_AGAIN;
#endif
  return "";
}

// Stops all ranks, since LAMMPS would continue and fail when the input uses a style. lammps_error()
// ends the program. The message is also printed on standard error for programs that have turned off
// LAMMPS' output.
void refuse(const CInterface &lammps, void *lmp, const std::string &message)
{
  if (lammps.call("lammps_extract_setting", lmp, "world_rank") <= 0)
    fprintf(stderr, "%s\n", message.c_str());
  const auto lammps_error = lammps.find<void(void *, int, const char *)>("lammps_error");
  if (lammps_error) lammps_error(lmp, LMP_ERROR_ALL, message.c_str());
  exit(1);
}

bool is_same_file(const std::string &one, const std::string &other)
{
  struct stat first, second;
  return stat(one.c_str(), &first) == 0 && stat(other.c_str(), &second) == 0 &&
      first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// File of the libgpucoord.so that this process has loaded, or empty.
std::string loaded_kernels()
{
  void *library = dlopen("libgpucoord.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return "";
  link_map *place = nullptr;
  const std::string file = dlinfo(library, RTLD_DI_LINKMAP, &place) == 0 ? place->l_name : "";
  dlclose(library);
  return file;
}

// Returns null if the styles cannot be opened, and sets the reason with the way out.
lammpsplugin_initfunc open_styles(std::string &why)
{
  Dl_info self;
  char *path = dladdr(reinterpret_cast<void *>(&open_styles), &self)
      ? realpath(self.dli_fname, nullptr)
      : nullptr;
  std::string folder = path ? path : "";
  free(path);
  folder.resize(folder.rfind('/') + 1);
  const std::string kernels = folder + "libgpucoord.so", styles = folder + "gpucoord_styles.so";
  for (const std::string &file : {kernels, styles})
    if (access(file.c_str(), R_OK) != 0) {
      why = "there is no " + file +
          " - keep gpucoordplugin.so, gpucoord_styles.so and libgpucoord.so in one folder";
      return nullptr;
    }
  // The loader reuses a libgpucoord.so that is already loaded, whatever its folder.
  const std::string loaded = loaded_kernels();
  if (!loaded.empty() && !is_same_file(loaded, kernels)) {
    why =
        "this program has loaded another build of GPUCOORD, " + loaded + " - load one of them only";
    return nullptr;
  }
  // Open the kernels first and by their full path: LD_LIBRARY_PATH may lead to those of another
  // build.
  void *library = dlopen(kernels.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library) library = dlopen(styles.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *function = library ? dlsym(library, "gpucoord_register_styles") : nullptr;
  if (!function)
    why = std::string(dlerror()) +
        " - install what is missing, or build GPUCOORD again, with the compiler of this LAMMPS";
  return reinterpret_cast<lammpsplugin_initfunc>(function);
}

}    // namespace

// The only symbol that LAMMPS looks up. Everything else is hidden.
extern "C" __attribute__((visibility("default"))) void lammpsplugin_init(void *lmp, void *handle,
                                                                         void *regfunc)
{
  const CInterface lammps(regfunc);
  std::string reason = mismatch(lammps, lmp);
  if (!reason.empty()) {
    refuse(lammps, lmp, "The GPUCOORD plugin does not match this LAMMPS: " + reason);
    return;
  }
  lammps.make_global();
  const auto gpucoord_register_styles = open_styles(reason);
  if (!gpucoord_register_styles) {
    refuse(lammps, lmp, "The styles of the GPUCOORD plugin cannot be opened: " + reason);
    return;
  }
  gpucoord_register_styles(lmp, handle, regfunc);
}
