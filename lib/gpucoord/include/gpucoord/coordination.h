// Part of GPUCOORD, GPL-2.0. Coordination numbers of one rank: value, derivatives, virial.
//
// S is a sum of s(r_ij) over pairs of atoms. Within one group, each unordered pair counts once.
// Between two groups, each atom i of a pairs with each atom j of b. An atom never pairs with
// itself, but it pairs with its own periodic images if these are given as atoms. Each owned atom
// sums over all its partners (gather), so that results need no reverse communication.
//
// Each pair of atom types may have a separate function, a weight, or no interaction. A weighted S
// is the energy of a pair potential.

#ifndef GPUCOORD_COORDINATION_H
#define GPUCOORD_COORDINATION_H

#include "gpucoord/contribution.h"
#include "gpucoord/export.h"
#include "gpucoord/pairs.h"

#include <cstddef>
#include <memory>

namespace gpucoord {

// One coordination number on one rank. Not thread-safe. Uses OpenMP internally.
//
// want: see Want in pairs.h. Results are added to peratom, [nlocal][peratom_columns(want)]:
// - column 0: sum of s over the pairs of S that contain the atom;
// - columns 1 to 3: dS/dx, dS/dy, dS/dz of the atom, 1/distance;
// - columns 4 to 9, with ATOM_VIRIAL: sum of -(ds/dr)/r d (x) d over the same pairs: xx yy zz xy xz
//   yz.
//
// A pair adds its whole term to both atoms, once for each order in which it counts in S. Summed
// over the atoms of all ranks, column 0 gives 2 S, and the virials give 2 W. If want lacks
// DERIVATIVES, peratom is not used and may be null.
//
// With a second pass (SecondPass in pairs.h), S is a function of coordination numbers. dS/dx and
// the virials are those of the sum of w_i s_i over the atoms i of a, with constant weights. The
// value is the sum of s_i, or S if a GPU evaluated f. Column 0 is s_i for the atoms of a. In pair
// mode, s_i is the sum over all pairs whose first atom is i. WINDOWED is not supported. If the
// atoms of a pair are on two ranks, each rank has a share of its W. The shares depend on the
// backend, but their sum does not.
//
// Atom indices, counts and buffers must be valid, positions finite, and the atoms of a pair
// different; the functions do not check this. cells() and list() throw std::invalid_argument if
// dmax is infinite. The CUDA backend throws DeviceError.
class GPUCOORD_API Coordination {
 public:
  virtual ~Coordination() = default;
  virtual Contribution cells(const CellsInput &, unsigned want, double *peratom) = 0;
  virtual Contribution list(const ListInput &, unsigned want, double *peratom) = 0;
  virtual Contribution allpairs(const AllPairsInput &, unsigned want, double *peratom) = 0;
  virtual Contribution pairs(const PairsInput &, unsigned want, double *peratom) = 0;
  // Returns the allocated memory, on the host and on the GPU.
  virtual std::size_t bytes() const = 0;
};

// Makes the backend that runs on the host with nthreads OpenMP threads. Results do not depend on
// nthreads.
GPUCOORD_API std::unique_ptr<Coordination> make_host_coordination(const SwitchTable &, Precision,
                                                                  int nthreads);

// Makes the backend that runs on a GPU and prepares data with nthreads OpenMP threads. device: -1
// selects the current GPU, which must be the same in all calls. Results do not depend on nthreads,
// and are bitwise equal on GPUs of the same model. This function and the backend throw DeviceError.
GPUCOORD_API std::unique_ptr<Coordination> make_cuda_coordination(const SwitchTable &, Precision,
                                                                  int device, int nthreads);

// Computes the sums by plain loops over all pairs in double, as a reference for testing the
// backends. O(N^2). The positions of reference_cells() may be those of engine 'cells' or of a pass
// over lists.
GPUCOORD_API Contribution reference_cells(const SwitchTable &, const CellsInput &, unsigned want,
                                          double *peratom);
GPUCOORD_API Contribution reference_allpairs(const SwitchTable &, const AllPairsInput &,
                                             unsigned want, double *peratom);
GPUCOORD_API Contribution reference_pairs(const SwitchTable &, const PairsInput &, unsigned want,
                                          double *peratom);

}    // namespace gpucoord

#endif
