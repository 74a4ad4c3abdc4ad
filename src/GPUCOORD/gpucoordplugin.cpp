/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The library that `plugin load` opens. It needs no symbols of LAMMPS or MPI, so that every LAMMPS
// can open it. It finds the styles that were compiled for this LAMMPS among the files
//   gpucoord_styles.RELEASE.MPI.SIZES[.KOKKOS].so
// in its folder, for example gpucoord_styles.20260704.openmpi.smallbig.so, or reports why there is
// no match: only a matching LAMMPS has all symbols that such a file needs. All of them share
// libgpucoord.so in the same folder.

#include "library.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <dlfcn.h>
#include <initializer_list>
#include <link.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

// The C interface of the LAMMPS that loads the plugin, the only interface that all releases share.
class CInterface {
 public:
  // lammps_function: address of a function of that LAMMPS
  explicit CInterface(void *lammps_function)
  {
    Dl_info info;
    if (dladdr(lammps_function, &info)) file = info.dli_fname;
    library = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!library) library = dlopen(nullptr, RTLD_LAZY);    // LAMMPS is linked into the program
  }
  ~CInterface() { dlclose(library); }
  CInterface(const CInterface &) = delete;
  CInterface &operator=(const CInterface &) = delete;

  // Some programs, for example Python, open liblammps with RTLD_LOCAL. The styles need its symbols.
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

// Returns the names of the known settings of this LAMMPS' KOKKOS package, each with a leading _.
std::string found_in_kokkos(const CInterface &lammps, const char *category,
                            std::initializer_list<const char *> settings)
{
  std::string found;
  for (const char *setting : settings)
    if (lammps.call("lammps_config_accelerator", "KOKKOS", category, setting) > 0)
      found += std::string("_") + setting;
  return found;
}

// Kind of styles, as in the name of their file: the properties in which they must match LAMMPS.
struct Kind {
  std::string plain;     // RELEASE.MPI.SIZES
  std::string kokkos;    // KOKKOS, or empty

  std::string file() const
  {
    return PREFIX + plain + (kokkos.empty() ? "" : "." + kokkos) + SUFFIX;
  }

  // Returns a text for messages, for example: LAMMPS 20260704 (openmpi, smallbig, no KOKKOS)
  std::string text() const
  {
    const auto dot = plain.find('.'), second = plain.find('.', dot + 1);
    return "LAMMPS " + plain.substr(0, dot) + " (" + plain.substr(dot + 1, second - dot - 1) +
        ", " + plain.substr(second + 1) + ", " + (kokkos.empty() ? "no KOKKOS" : kokkos) + ")";
  }

  static constexpr char PREFIX[] = "gpucoord_styles.", SUFFIX[] = ".so";
};

// MPI_Comm is an int in MPICH and its derivatives, and a pointer in Open MPI. LAMMPS returns its
// size, or 0 without MPI.
std::string mpi_of_size(int size)
{
  return size == 0 ? "nompi" : size == sizeof(int) ? "mpich" : "openmpi";
}

// Precision and layout determine the types of the KOKKOS package. The API determines the types of
// Kokkos.
Kind kind_of(const CInterface &lammps, void *lmp)
{
  const int tagint = lammps.call("lammps_extract_setting", lmp, "tagint");
  const int bigint = lammps.call("lammps_extract_setting", lmp, "bigint");
  const std::string small = "small", big = "big";
  Kind kind;
  kind.plain = std::to_string(lammps.call("lammps_version", lmp)) + "." +
      mpi_of_size(lammps.call("lammps_config_has_mpi_support")) + "." +
      (tagint == 4 ? small : big) + (bigint == 4 ? small : big);
  if (lammps.call("lammps_config_has_package", "KOKKOS") > 0)
    kind.kokkos = "kokkos" + found_in_kokkos(lammps, "precision", {"double", "mixed", "single"}) +
        found_in_kokkos(lammps, "layout", {"default", "legacy"}) +
        found_in_kokkos(lammps, "api", {"cuda", "hip", "openmp", "pthreads", "serial", "sycl"});
  return kind;
}

// Returns the kinds of the styles in a folder, in the order of their names.
std::vector<Kind> kinds_in(const std::string &folder)
{
  const std::string prefix = Kind::PREFIX, suffix = Kind::SUFFIX;
  std::vector<Kind> kinds;
  DIR *const entries = opendir(folder.c_str());
  if (!entries) return kinds;
  while (const dirent *const entry = readdir(entries)) {
    const std::string name = entry->d_name;
    if (name.size() <= prefix.size() + suffix.size() ||
        name.compare(0, prefix.size(), prefix) != 0 ||
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0)
      continue;
    const std::string inner =
        name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    const auto kokkos = inner.find(".kokkos");
    kinds.push_back(
        {inner.substr(0, kokkos), kokkos == std::string::npos ? "" : inner.substr(kokkos + 1)});
  }
  closedir(entries);
  std::sort(kinds.begin(), kinds.end(), [](const Kind &one, const Kind &other) {
    return one.file() < other.file();
  });
  return kinds;
}

// Selects the styles for this LAMMPS: those with its KOKKOS package, or those without KOKKOS.
// Returns the file, or "" and the mismatch with the way out.
std::string choose_styles(const CInterface &lammps, void *lmp, const std::string &folder,
                          std::string &why)
{
  if (lammps.call("lammps_version", lmp) < 0) {
    why = "it does not export its C interface - use a shared liblammps, or link the program with "
          "-rdynamic";
    return "";
  }
  const Kind wanted = kind_of(lammps, lmp);
  for (const Kind &kind : {wanted, Kind{wanted.plain, ""}})
    if (access((folder + kind.file()).c_str(), F_OK) == 0) return folder + kind.file();

  std::string found;
  for (const Kind &kind : kinds_in(folder)) found += (found.empty() ? "" : " and ") + kind.text();
  if (found.empty())
    why = "there is no gpucoord_styles.*.so in " + folder +
        " - keep gpucoordplugin.so, libgpucoord.so and the gpucoord_styles.*.so of each LAMMPS in "
        "one folder";
  else
    why = "it was compiled for " + found + ", but this is " + wanted.text() +
        " - set LAMMPS_SOURCE_DIR and LAMMPS_BUILD_DIR to the source and the build folder of this "
        "LAMMPS, build GPUCOORD again, and copy its gpucoord_styles.*.so to " +
        folder;
  return "";
}

// Stops all ranks, because LAMMPS would continue and fail when the input uses a style.
// lammps_error() ends the program. The message is also printed on standard error, for programs that
// have turned off LAMMPS' output.
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

// Returns the file of the libgpucoord.so that this process has loaded, or "".
std::string loaded_kernels()
{
  void *library = dlopen("libgpucoord.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return "";
  link_map *map = nullptr;
  const std::string file = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
  dlclose(library);
  return file;
}

// Returns the folder of this library, with a slash at the end.
std::string own_folder()
{
  Dl_info self;
  char *path = dladdr(reinterpret_cast<void *>(&own_folder), &self)
      ? realpath(self.dli_fname, nullptr)
      : nullptr;
  std::string folder = path ? path : "";
  free(path);
  folder.resize(folder.rfind('/') + 1);
  return folder;
}

// Registers the styles with LAMMPS. The arguments are those of lammpsplugin_init().
using RegisterStyles = void(void *lmp, void *handle, void *regfunc);

// Returns null if the styles cannot be opened, and sets the reason with the way out.
RegisterStyles *open_styles(const std::string &folder, const std::string &styles, std::string &why)
{
  const std::string kernels = folder + "libgpucoord.so";
  if (access(kernels.c_str(), R_OK) != 0) {
    why = "there is no " + kernels +
        " - keep gpucoordplugin.so, libgpucoord.so and the gpucoord_styles.*.so of each LAMMPS in "
        "one folder";
    return nullptr;
  }
  // The loader reuses a libgpucoord.so that is already loaded, whatever its folder.
  const std::string loaded = loaded_kernels();
  if (!loaded.empty() && !is_same_file(loaded, kernels)) {
    why =
        "this program has loaded another build of GPUCOORD, " + loaded + " - load one of them only";
    return nullptr;
  }
  // Open the kernels first and by their full path, because LD_LIBRARY_PATH may lead to those of
  // another build.
  void *library = dlopen(kernels.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library) library = dlopen(styles.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *function = library ? dlsym(library, "gpucoord_register_styles") : nullptr;
  if (!function) {
    const std::string error = dlerror();
    // The version of the symbols of libgpucoord.so: lib/gpucoord/exports.map.in
    const bool other_revision = error.find("GPUCOORD_INTERFACE_") != std::string::npos;
    why = error +
        (other_revision
             ? " - " + styles + " and " + kernels +
                 " are of different revisions of GPUCOORD: copy both from one build, or build "
                 "both again"
             : " - install what is missing, or build GPUCOORD again, with the compiler of this "
               "LAMMPS");
  }
  return reinterpret_cast<RegisterStyles *>(function);
}

}    // namespace

// The only symbol that LAMMPS looks up. Everything else is hidden.
extern "C" __attribute__((visibility("default"))) void lammpsplugin_init(void *lmp, void *handle,
                                                                         void *regfunc)
{
  const CInterface lammps(regfunc);
  const std::string folder = own_folder();
  std::string reason;
  const std::string styles = choose_styles(lammps, lmp, folder, reason);
  if (styles.empty()) {
    refuse(lammps, lmp, "The GPUCOORD plugin does not match this LAMMPS: " + reason);
    return;
  }
  lammps.make_global();
  RegisterStyles *const gpucoord_register_styles = open_styles(folder, styles, reason);
  if (!gpucoord_register_styles) {
    refuse(lammps, lmp, "The styles of the GPUCOORD plugin cannot be opened: " + reason);
    return;
  }
  gpucoord_register_styles(lmp, handle, regfunc);
}
