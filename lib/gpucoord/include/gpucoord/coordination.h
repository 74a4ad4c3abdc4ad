// Part of GPUCOORD, GPL-2.0. Coordination numbers of one rank: value, derivatives, virial.
//
// S is a sum of s(r_ij) over pairs of atoms. Within one group every unordered
// pair counts once; between two groups a and b every i in a with every j in b;
// an atom never pairs with itself, but does with its own periodic images where
// those are given as atoms. For each owned atom all its partners are summed
// (gather), so nothing has to be sent back to other ranks.
//
// Pairs of atom types may each have a function of their own, a weight, or no part in S. A weighted S is the
// energy of a pair potential.

#ifndef GPUCOORD_COORDINATION_H
#define GPUCOORD_COORDINATION_H

#include "gpucoord/box.h"
#include "gpucoord/export.h"
#include "gpucoord/switch_table.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace gpucoord {

// What is computed beside the value S, or-ed together. ATOM_VIRIAL only with DERIVATIVES and VIRIAL. WINDOWED,
// by engine list only, goes with DERIVATIVES alone: the derivative of each pair times a window, and no value.
enum Want : unsigned { VALUE = 0, DERIVATIVES = 1, VIRIAL = 2, ATOM_VIRIAL = 4, WINDOWED = 8 };

// columns of the per-atom output
constexpr int peratom_columns(unsigned want)
{
  return want & ATOM_VIRIAL ? 10 : want & DERIVATIVES ? 4 : 0;
}

// Some atoms of a position array. The first nowned of them belong to this rank,
// the others are ghosts.
struct AtomList {
  const int *index = nullptr;    // [n] rows of the position array
  int n = 0;
  int nowned = 0;
};

// Types of atoms, where the table of functions has types, and weights.
struct PairTypes {
  const int *type = nullptr;         // 1 to ntypes, by row of the position array
  // [ntypes + 1][ntypes + 1] of a pair in all sums, symmetric, of one number where the table has no types; null: 1
  const double *weight = nullptr;
};

// A share of the derivatives, as rRESPA splits them: rises from 0 to 1 between two distances and falls back
// to 0 between two others, by x^2 (3 - 2 x).
struct Window {
  double rise_begin = -2.0, rise_end = -1.0;    // distance; as they stand: 1 from r = 0 on
  double fall_begin = 1e30, fall_end = 2e30;    // distance; as they stand: never
};

// Seconds spent, for the bench.
struct Timings {
  double copies = 0.0;       // to and from a device
  double bins = 0.0;         // sorting atoms into cutoff bins
  double pairs = 0.0;        // pair terms
  double reduction = 0.0;    // sums over atoms
  double tested = 0.0;       // distances computed, those of idle lanes included; by engine cells on a device
};

// What one rank contributes. S and W of the whole system are the sums over ranks.
struct Contribution {
  double value = 0.0;      // S
  double virial[6] = {};   // W = -sum (ds/dr)/r d (x) d over pairs: xx yy zz xy xz yz
  Timings timings;
};

// Engine 'cells': own cutoff bins over owned and ghost atoms, any box.
struct CellsInput {
  const double *x = nullptr;    // [nall][3] positions, owned first, then ghosts
  AtomList a, b;                // b.index null: within group a
  PairTypes types;
};

// Engine 'list': full neighbour lists made by the caller, owned and ghost j,
// complete up to dmax for every owned atom of both groups.
struct ListInput {
  const double *x = nullptr;           // [nall][3]
  AtomList a, b;                       // b.index null: within group a; ghosts are not read
  const unsigned char *member = nullptr;    // [nall] bit 1: in a, bit 2: in b; null: all are in a
  const int *numneigh = nullptr;       // [nowned] number of neighbours, by row of x
  const int *const *firstneigh = nullptr;    // [nowned] their rows of x
  int neighmask = ~0;                  // and-ed to each neighbour first
  std::int64_t version = 0;            // lists of the same version are the same, 0: unknown; a
                                       // device keeps its copy of them
  PairTypes types;
  const double *special = nullptr;     // [4] a further weight, by the two highest bits of a neighbour; null: 1
  Window window;                       // for WINDOWED
};

// Engine 'allpairs': owned atoms against atoms gathered from all ranks, nearest
// images. The same atom has the same id in both.
struct AllPairsInput {
  Box box;
  struct Group {
    const double *x = nullptr;    // [n][3] positions of the atoms of all ranks, the same on every rank
    std::int64_t n = 0;
    std::int64_t first_owned = 0;        // this rank's atoms are consecutive
    std::int64_t nowned = 0;
    const std::int64_t *id = nullptr;    // [n] what makes an atom the same in both groups
    const int *row = nullptr;            // [nowned] row of the per-atom output
    const int *type = nullptr;           // [n] where the table of functions has types
  } a, b;                                // b.x null: within group a
};

// Pair mode: the k-th atom of one group with the k-th of the other, nearest image.
struct PairsInput {
  Box box;
  std::int64_t n = 0;
  const double *xa = nullptr, *xb = nullptr;       // [n][3]
  const int *row_a = nullptr, *row_b = nullptr;    // [n] row of the per-atom output; -1: not owned
  const int *type_a = nullptr, *type_b = nullptr;  // [n] where the table of functions has types
};

// One coordination number on one rank. Not thread-safe; it threads by itself.
//
// peratom is [nlocal][peratom_columns(want)] and is added to: the sum of s over the pairs
// of S that contain the atom; dS/dx, dS/dy, dS/dz of the atom; with ATOM_VIRIAL the sum of
// -(ds/dr)/r d (x) d over the same pairs: xx yy zz xy xz yz. A pair gives its whole term to
// both of its atoms, once for each order in which it counts in S: over the atoms of all ranks
// s_i adds up to 2 S, and the virial of the atoms to 2 W. peratom is not used, and may be
// null, where want lacks DERIVATIVES. Atom indices, counts and buffers must be valid,
// positions finite and the atoms of a pair different; nothing is checked here but that
// a range without end never comes to cells or list (std::invalid_argument).
class GPUCOORD_API Coordination {
 public:
  virtual ~Coordination() = default;
  virtual Contribution cells(const CellsInput &, unsigned want, double *peratom) = 0;
  virtual Contribution list(const ListInput &, unsigned want, double *peratom) = 0;
  virtual Contribution allpairs(const AllPairsInput &, unsigned want, double *peratom) = 0;
  virtual Contribution pairs(const PairsInput &, unsigned want, double *peratom) = 0;
};

// The backend that computes on the host with the given number of OpenMP threads.
// The results do not depend on that number.
GPUCOORD_API std::unique_ptr<Coordination> make_host_coordination(const SwitchTable &, Precision, int nthreads);

// A GPU that has failed, or has no memory left; what() says what and how much.
class GPUCOORD_API DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The GPUs that this process can use.
struct CudaDevices {
  int count = 0;
  std::string why_none;    // where count is 0: no driver, no GPU, or a build without CUDA
};
GPUCOORD_API CudaDevices find_cuda_devices();

// name of a GPU, 0 <= device < count
GPUCOORD_API std::string cuda_device_name(int device);

// The backend that computes on a GPU and prepares data with the given number of OpenMP
// threads. device -1: the GPU that is current in each call, which must not change. Results
// do not depend on the number of threads; they are the same bits on GPUs of one kind. Throws
// DeviceError, then or later.
GPUCOORD_API std::unique_ptr<Coordination> make_cuda_coordination(const SwitchTable &, Precision, int device, int nthreads);

// name of the instruction set that the host kernels use on this machine
GPUCOORD_API const char *host_instruction_set();

// The same by plain loops over all pairs, in double, to check a backend against.
// O(N^2); for CellsInput of any engine.
GPUCOORD_API Contribution reference_cells(const SwitchTable &, const CellsInput &, unsigned want, double *peratom);
GPUCOORD_API Contribution reference_allpairs(const SwitchTable &, const AllPairsInput &, unsigned want, double *peratom);
GPUCOORD_API Contribution reference_pairs(const SwitchTable &, const PairsInput &, unsigned want, double *peratom);

}    // namespace gpucoord

#endif
