// Part of GPUCOORD, GPL-2.0. A library for LD_PRELOAD, for test_faults.py and test_messages.py. On
// one rank, operator new throws std::bad_alloc in a function of GPUCOORD. An allocation is
// recognized by its call site: all return addresses from operator new to that function. The sites
// of a rank are numbered from 1, in the order in which the rank reaches their call number
// FAULT_CALL.
//   FAULT_RANK=1       rank that fails
//   FAULT_IN=text      part of the demangled name of the function
//   FAULT_SITE=2       number of the site that fails; 0: none, and standard error gets their number
//   FAULT_CALL=3       number of the call of the site that fails, from 1
//
// Or an allocation of GPUCOORD fails before a message, that is, before a call of MPI that other
// ranks may wait for. All allocations are numbered from the time when the environment has FAULT_ON.
//   FAULT_ALLOCATION=5    number of the allocation that fails; 0: none, and standard error gets the
//                         last allocation before each message from another place of GPUCOORD,
//                         and numbers of both places

#include <cxxabi.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

namespace {

constexpr int MAX_MODULES = 8, MAX_SITES = 4096, MAX_FRAMES = 32;

int number_in(const char *variable, int otherwise)
{
  const char *const text = getenv(variable);
  return text ? atoi(text) : otherwise;
}

bool is_on_this_rank()
{
  for (const char *const variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (getenv(variable)) return number_in(variable, 0) == number_in("FAULT_RANK", -1);
  return false;
}

// Reads a whole file. Returns nullptr if there is none.
char *contents_of(const char *name)
{
  FILE *const file = fopen(name, "rb");
  if (!file) return nullptr;
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  auto *const bytes = static_cast<char *>(malloc(size));
  const bool is_complete = bytes && fread(bytes, 1, size, file) == static_cast<std::size_t>(size);
  fclose(file);
  if (is_complete) return bytes;
  free(bytes);
  return nullptr;
}

// A shared library of GPUCOORD with its symbol table. Its functions are hidden from dladdr().
struct Module {
  const void *base = nullptr;
  const Elf64_Sym *symbols = nullptr;
  std::size_t nsymbols = 0;
  const char *names = nullptr;

  explicit operator bool() const { return symbols != nullptr; }

  void read(const char *file_name)
  {
    const char *const bytes = contents_of(file_name);
    if (!bytes) return;
    const auto *const header = reinterpret_cast<const Elf64_Ehdr *>(bytes);
    const auto *const sections = reinterpret_cast<const Elf64_Shdr *>(bytes + header->e_shoff);
    for (int k = 0; k < header->e_shnum; ++k) {
      if (sections[k].sh_type != SHT_SYMTAB) continue;
      symbols = reinterpret_cast<const Elf64_Sym *>(bytes + sections[k].sh_offset);
      nsymbols = sections[k].sh_size / sizeof(Elf64_Sym);
      names = bytes + sections[sections[k].sh_link].sh_offset;
    }
  }

  bool is_in(const void *address, const char *part_of_name) const
  {
    const auto offset = static_cast<Elf64_Addr>(static_cast<const char *>(address) -
                                                static_cast<const char *>(base));
    for (std::size_t k = 0; k < nsymbols; ++k) {
      const Elf64_Sym &symbol = symbols[k];
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || offset < symbol.st_value ||
          offset >= symbol.st_value + symbol.st_size)
        continue;
      char *const name = abi::__cxa_demangle(names + symbol.st_name, nullptr, nullptr, nullptr);
      const bool is_found = strstr(name ? name : names + symbol.st_name, part_of_name) != nullptr;
      free(name);
      if (is_found) return true;
    }
    return false;
  }
};

struct Modules {
  Module known[MAX_MODULES];
  int nknown = 0;

  // Returns GPUCOORD's library at an address, or nullptr. dladdr() would take too long: it searches
  // the symbols of LAMMPS.
  const Module *at(const void *address)
  {
    Search search = {reinterpret_cast<Elf64_Addr>(address), nullptr, nullptr};
    dl_iterate_phdr(examine, &search);
    if (!search.name) return nullptr;
    for (int k = 0; k < nknown; ++k)
      if (known[k].base == search.base) return known[k] ? &known[k] : nullptr;
    if (nknown == MAX_MODULES) return nullptr;
    Module &added = known[nknown++];
    added.base = search.base;
    added.read(search.name);
    return added ? &added : nullptr;
  }

 private:
  struct Search {
    Elf64_Addr address;
    const char *name;
    const void *base;
  };

  static int examine(dl_phdr_info *library, std::size_t, void *data)
  {
    // Not by its folder: LAMMPS may be in one of that name.
    const char *const folder_end = strrchr(library->dlpi_name, '/');
    if (!strstr(folder_end ? folder_end : library->dlpi_name, "gpucoord")) return 0;
    auto *const search = static_cast<Search *>(data);
    for (int k = 0; k < library->dlpi_phnum; ++k) {
      const auto &segment = library->dlpi_phdr[k];
      const Elf64_Addr first = library->dlpi_addr + segment.p_vaddr;
      if (segment.p_type != PT_LOAD || search->address < first ||
          search->address >= first + segment.p_memsz)
        continue;
      search->name = library->dlpi_name;
      search->base = reinterpret_cast<const void *>(library->dlpi_addr);
      return 1;
    }
    return 0;
  }
};

struct Fault {
  static Fault &get()
  {
    static Fault fault;
    return fault;
  }

  const bool is_here = is_on_this_rank();
  const char *const function = getenv("FAULT_IN");
  const int site = number_in("FAULT_SITE", 0), call = number_in("FAULT_CALL", 1);
  Modules modules;
  std::uint64_t sites[MAX_SITES] = {};
  int calls[MAX_SITES] = {}, nsites = 0, nnumbered = 0;
  const int allocation = number_in("FAULT_ALLOCATION", -1);    // -1: see 'function'
  int nallocations = 0, last_reported = 0;
  std::uint64_t stack_of_last = 0;

  ~Fault()
  {
    if (is_here && allocation < 0 && site == 0 && nnumbered > 0)
      fprintf(stderr, "fault: %d sites\n", nnumbered);
  }

  bool is_due(const void *caller)
  {
    if (!is_here || !(function || allocation >= 0) || !modules.at(caller)) return false;
    if (allocation >= 0) return is_on() && is_due_now();
    void *frames[MAX_FRAMES];
    const int nframes = backtrace(frames, MAX_FRAMES);
    int k = 0;
    while (k < nframes && frames[k] != caller) ++k;    // skip the frames of this library
    std::uint64_t stack = 1;                           // hash of the return addresses
    for (; k < nframes; ++k) {
      stack = stack * 1099511628211ULL + reinterpret_cast<std::uint64_t>(frames[k]);
      const Module *const module = modules.at(frames[k]);
      if (!module || !module->is_in(frames[k], function)) continue;
      return is_due_at(stack);
    }
    return false;
  }

  bool is_on()
  {
    if (!was_on) was_on = getenv("FAULT_ON") != nullptr;
    return was_on;
  }
  bool was_on = false;

  bool is_due_now()
  {
    if (allocation == 0) {
      stack_of_last = stack_in_gpucoord();
      ++nallocations;
      return false;
    }
    if (++nallocations != allocation) return false;
    fprintf(stderr, "fault: at allocation %d\n", allocation);
    return true;
  }

  // Returns a hash of the calls within GPUCOORD, the same in all runs; 0: there are none.
  std::uint64_t stack_in_gpucoord()
  {
    void *frames[MAX_FRAMES];
    const int nframes = backtrace(frames, MAX_FRAMES);
    std::uint64_t stack = 0;
    for (int k = 0; k < nframes; ++k)
      if (const Module *const module = modules.at(frames[k]))
        stack = (stack + 1) * 1099511628211ULL +
            static_cast<std::uint64_t>(static_cast<const char *>(frames[k]) -
                                       static_cast<const char *>(module->base));
    return stack;
  }

  void before_message(const char *call)
  {
    if (!is_here || allocation != 0 || !is_on()) return;
    const std::uint64_t stack = stack_in_gpucoord();
    int k = 0;
    while (k < nsites && sites[k] != stack) ++k;
    if (stack == 0 || k < nsites || k == MAX_SITES) return;
    // A place without an allocation since the last report may have one when it sends again.
    if (nallocations == last_reported) return;
    sites[nsites++] = stack;
    fprintf(stderr, "fault: allocation %d before %s, places %llx %llx\n", nallocations, call,
            static_cast<unsigned long long>(stack_of_last), static_cast<unsigned long long>(stack));
    last_reported = nallocations;
  }

  bool is_due_at(std::uint64_t stack)
  {
    int k = 0;
    while (k < nsites && sites[k] != stack) ++k;
    if (k == MAX_SITES) return false;
    if (k == nsites) sites[nsites++] = stack;
    if (++calls[k] != call || ++nnumbered != site) return false;
    fprintf(stderr, "fault: at site %d\n", site);
    return true;
  }
};

}    // namespace

__attribute__((noinline)) void *operator new(std::size_t size)
{
  static thread_local bool is_inside = false;
  if (!is_inside) {
    is_inside = true;
    const bool is_due = Fault::get().is_due(__builtin_return_address(0));
    is_inside = false;
    if (is_due) throw std::bad_alloc();
  }
  void *const memory = malloc(size ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void operator delete(void *memory) noexcept
{
  free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
  free(memory);
}

// Messages. Those that only wait are left out.

extern "C" {

#define GPUCOORD_MESSAGE(name, parameters, arguments) \
  int MPI_##name parameters                           \
  {                                                   \
    Fault::get().before_message("MPI_" #name);        \
    return PMPI_##name arguments;                     \
  }

GPUCOORD_MESSAGE(Barrier, (MPI_Comm comm), (comm))
GPUCOORD_MESSAGE(Bcast, (void *x, int n, MPI_Datatype type, int root, MPI_Comm comm),
                 (x, n, type, root, comm))
GPUCOORD_MESSAGE(Reduce,
                 (const void *x, void *to, int n, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm),
                 (x, to, n, type, op, root, comm))
GPUCOORD_MESSAGE(Allreduce,
                 (const void *x, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                 (x, to, n, type, op, comm))
GPUCOORD_MESSAGE(Iallreduce,
                 (const void *x, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                  MPI_Request *request),
                 (x, to, n, type, op, comm, request))
GPUCOORD_MESSAGE(Scan,
                 (const void *x, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                 (x, to, n, type, op, comm))
GPUCOORD_MESSAGE(Allgather,
                 (const void *x, int n, MPI_Datatype type, void *to, int nto, MPI_Datatype type_to,
                  MPI_Comm comm),
                 (x, n, type, to, nto, type_to, comm))
GPUCOORD_MESSAGE(Allgatherv,
                 (const void *x, int n, MPI_Datatype type, void *to, const int *nto,
                  const int *begins, MPI_Datatype type_to, MPI_Comm comm),
                 (x, n, type, to, nto, begins, type_to, comm))
GPUCOORD_MESSAGE(Gather,
                 (const void *x, int n, MPI_Datatype type, void *to, int nto, MPI_Datatype type_to,
                  int root, MPI_Comm comm),
                 (x, n, type, to, nto, type_to, root, comm))
GPUCOORD_MESSAGE(Gatherv,
                 (const void *x, int n, MPI_Datatype type, void *to, const int *nto,
                  const int *begins, MPI_Datatype type_to, int root, MPI_Comm comm),
                 (x, n, type, to, nto, begins, type_to, root, comm))
GPUCOORD_MESSAGE(Ssend, (const void *x, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
                 (x, n, type, to, tag, comm))
GPUCOORD_MESSAGE(Send, (const void *x, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
                 (x, n, type, to, tag, comm))
GPUCOORD_MESSAGE(Irecv,
                 (void *x, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request *request),
                 (x, n, type, from, tag, comm, request))
GPUCOORD_MESSAGE(Recv,
                 (void *x, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Status *status),
                 (x, n, type, from, tag, comm, status))
GPUCOORD_MESSAGE(Sendrecv,
                 (const void *x, int n, MPI_Datatype type, int to, int tag, void *y, int ny,
                  MPI_Datatype type_y, int from, int tag_y, MPI_Comm comm, MPI_Status *status),
                 (x, n, type, to, tag, y, ny, type_y, from, tag_y, comm, status))
}
