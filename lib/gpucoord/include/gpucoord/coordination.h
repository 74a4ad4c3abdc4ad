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

#include "gpucoord/export.h"
#include "gpucoord/pairs.h"

#include <memory>

namespace gpucoord {

// What one rank contributes. S and W of the whole system are the sums over ranks.
struct Contribution {
  double value = 0.0;       // S
  double virial[6] = {};    // W = -sum (ds/dr)/r d (x) d over pairs: xx yy zz xy xz yz
  Timings timings;
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
GPUCOORD_API std::unique_ptr<Coordination> make_host_coordination(const SwitchTable &, Precision,
                                                                  int nthreads);

// The backend that computes on a GPU and prepares data with the given number of OpenMP
// threads. device -1: the GPU that is current in each call, which must not change. Results
// do not depend on the number of threads; they are the same bits on GPUs of one kind. Throws
// DeviceError, then or later.
GPUCOORD_API std::unique_ptr<Coordination> make_cuda_coordination(const SwitchTable &, Precision,
                                                                  int device, int nthreads);

// The same by plain loops over all pairs, in double, to check a backend against.
// O(N^2); for CellsInput of any engine.
GPUCOORD_API Contribution reference_cells(const SwitchTable &, const CellsInput &, unsigned want,
                                          double *peratom);
GPUCOORD_API Contribution reference_allpairs(const SwitchTable &, const AllPairsInput &,
                                             unsigned want, double *peratom);
GPUCOORD_API Contribution reference_pairs(const SwitchTable &, const PairsInput &, unsigned want,
                                          double *peratom);

}    // namespace gpucoord

#endif
