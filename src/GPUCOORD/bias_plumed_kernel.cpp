/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

/* ----------------------------------------------------------------------
   Contributing authors: The GPUCOORD developers
------------------------------------------------------------------------- */

#include "bias_plumed_kernel.h"

#include <cstdlib>
#include <new>
#include <sstream>
#include <stdexcept>
#if !defined(_WIN32)
#include <dlfcn.h>
#endif
#if defined(__GLIBC__) && defined(__GLIBCXX__)
#define GPUCOORD_FIND_STATIC_LIBSTDCXX
#include <link.h>
#endif

using namespace LAMMPS_NS;

// PLUMED's binary interface, from its developer manual ("Plumed.h", plumed_symbol_table_type). New
// versions add members at the end of the table.

extern "C" {
struct PlumedNothrowHandler {
  void *receiver;
  void (*handle)(void *receiver, int code, const char *message, const void *more);
};
}

struct PlumedKernel::SymbolTable {
  int version;
  void *(*create)();
  void (*command)(void *object, const char *key, const void *value);
  void (*finalize)(void *object);
  // Added in version 2.
  void (*command_nothrow)(void *object, const char *key, const void *value, PlumedNothrowHandler);
};

static constexpr int FIRST_API_VERSION = 10;    // PLUMED 2.9

/* ---------------------------------------------------------------------- */

#if defined(GPUCOORD_FIND_STATIC_LIBSTDCXX)
// Returns whether a file is the shared C++ library. Python wheels may contain it under a name such
// as libstdc++-1a2b3c.so.6.
static bool is_libstdcxx(const std::string &file)
{
  return file.compare(file.rfind('/') + 1, 9, "libstdc++") == 0;
}

#endif

// Returns the program or library whose copy of the C++ library replaces functions of the shared one
// in this process, or "". Such a mixture of two copies ends the process while PLUMED, which needs
// the shared one, is loaded.
static std::string static_libstdcxx()
{
#if defined(GPUCOORD_FIND_STATIC_LIBSTDCXX)
  // A program exports only the functions that its libraries use. Memory checkers and other tools
  // replace none of these.
  const char *const functions[] = {"_ZNSt6locale7classicEv",        // std::locale::classic()
                                   "_ZNSt6localeC1Ev",              // std::locale::locale()
                                   "_ZNSt6localeD1Ev",              // std::locale::~locale()
                                   "_ZNSt8ios_baseC2Ev",            // std::ios_base::ios_base()
                                   "_ZNSt8ios_baseD2Ev",            // std::ios_base::~ios_base()
                                   "_ZNSt13runtime_errorC1EPKc",    // std::runtime_error
                                   "_ZNSt9exceptionD2Ev"};          // std::exception
  for (const char *const function : functions) {
    void *const address = dlsym(RTLD_DEFAULT, function);
    Dl_info info;
    const ElfW(Sym) *symbol = nullptr;
    if (!address ||
        !dladdr1(address, &info, reinterpret_cast<void **>(const_cast<ElfW(Sym) **>(&symbol)),
                 RTLD_DL_SYMENT))
      continue;
    // A program without position-independent code has an address for a function of a library.
    const bool is_defined = symbol && symbol->st_shndx != SHN_UNDEF;
    if (is_defined && !is_libstdcxx(info.dli_fname)) return info.dli_fname;
  }
#endif
  return "";
}

PlumedKernel::PlumedKernel(const std::string &file, const void *mpi_init) : path(file)
{
  const char *const variable = getenv("PLUMED_KERNEL");
  if (path.empty() && variable) path = variable;
  if (path.empty())
    throw std::runtime_error("no PLUMED library is named - use keyword kernel, or set the "
                             "environment variable PLUMED_KERNEL, to the file libplumedKernel.so");

#if defined(_WIN32)
  throw std::runtime_error("PLUMED libraries cannot be loaded on Windows - use Linux or macOS");
#else
  const std::string copy = static_libstdcxx();
  if (!copy.empty())
    throw std::runtime_error(
        "PLUMED cannot be loaded, because this process then has two copies of the C++ library, "
        "libstdc++: " +
        copy +
        " has its own - build LAMMPS and GPUCOORD without the option "
        "-static-libstdc++, for example with the compiler /usr/bin/g++");

  // Local symbols, because LAMMPS may have loaded another PLUMED. The library's own symbols have
  // priority, because that PLUMED may have made its symbols global.
  int flags = RTLD_NOW | RTLD_LOCAL;
#if defined(RTLD_DEEPBIND)
  flags |= RTLD_DEEPBIND;
#endif
  void *const handle = dlopen(path.c_str(), flags);
  if (!handle)
    throw std::runtime_error("the PLUMED library cannot be loaded: " + std::string(dlerror()) +
                             " - give the path of libplumedKernel.so, and make the libraries that "
                             "it needs known by LD_LIBRARY_PATH");
  table = static_cast<const SymbolTable *>(dlsym(handle, "plumed_symbol_table"));
  if (!table || table->version < 2)
    throw std::runtime_error("the library " + path +
                             " is not a PLUMED kernel of version 2.9 or later - give the file "
                             "libplumedKernel.so of a newer PLUMED");
  const void *const plumed_mpi_init = dlsym(handle, "MPI_Init");
  // In a program without position-independent code, the address of MPI_Init is inside the program.
  // Only a function whose address the program does not take has the same address everywhere.
  const void *const finalize = dlsym(RTLD_DEFAULT, "MPI_Finalize");
  const bool is_same = plumed_mpi_init == mpi_init ||
      (finalize && finalize == dlsym(handle, "MPI_Finalize"));
  if (plumed_mpi_init && mpi_init && !is_same)
    throw std::runtime_error("the PLUMED library " + path +
                             " is linked to a different MPI than LAMMPS - use a PLUMED that is "
                             "built with the MPI of LAMMPS, or without MPI");
  if (plumed_mpi_init && !mpi_init)
    throw std::runtime_error(
        "the PLUMED library " + path +
        " is linked to an MPI, but LAMMPS is not - use a PLUMED that is built without MPI");
#endif
}

/* ---------------------------------------------------------------------- */

Plumed::Plumed(std::shared_ptr<const PlumedKernel> kernel_in) :
    kernel(std::move(kernel_in)), object(kernel->symbols().create())
{
  int version = 0;
  try {
    command("getApiVersion", &version);
    if (version < FIRST_API_VERSION)
      throw std::runtime_error("the PLUMED library " + kernel->file() + " has the interface " +
                               std::to_string(version) + ", that of PLUMED 2.9 is " +
                               std::to_string(FIRST_API_VERSION) + " - use PLUMED 2.9 or later");
  } catch (...) {
    kernel->symbols().finalize(object);
    throw;
  }
}

Plumed::~Plumed()
{
  kernel->symbols().finalize(object);
}

// Returns the message without PLUMED's frames of '+' and without the position in its source.
static std::string in_one_line(const std::string &message)
{
  std::istringstream lines(message);
  std::string line, text;
  while (std::getline(lines, line)) {
    if (line.compare(0, 3, "+++") == 0) continue;
    if (line.compare(0, 1, "(") == 0 && line.find(".cpp:") != std::string::npos) continue;
    const auto begin = line.find_first_not_of(" \t"), end = line.find_last_not_of(" \t");
    if (begin == std::string::npos) continue;
    text += (text.empty() ? "" : " ") + line.substr(begin, end + 1 - begin);
  }
  return text.empty() ? message : text;
}

static void keep_message(void *receiver, int /*code*/, const char *message, const void * /*more*/)
{
  *static_cast<std::string *>(receiver) = message && *message ? message : "an error of PLUMED";
}

void Plumed::command(const char *key, const void *value)
{
  std::string message;
  kernel->symbols().command_nothrow(object, key, value, {&message, keep_message});
  if (message.find("std::bad_alloc") == 0) throw std::bad_alloc();
  if (!message.empty()) throw std::runtime_error("PLUMED: " + in_one_line(message));
}
