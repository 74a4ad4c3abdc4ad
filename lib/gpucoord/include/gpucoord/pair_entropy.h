// Part of GPUCOORD, GPL-2.0. Pair entropy of all atoms, with derivatives and virial.
//
// S = -2 pi rho_b integral of [g ln g - g + 1] r^2 dr from 0 to r_max, in units of k_B. Piaggi,
// Valsson and Parrinello, Phys. Rev. Lett. 119, 015701 (2017). The integral is a trapezoid sum over
// the nodes r_k = k Delta, Delta = r_max/N, k = 0 to N, and
//
//   g(r_k) = 1/(4 pi N_a rho_b r_k^2) sum of G(r_k - r_ij) over atoms i of a and j of b, i != j,
//
// where G is the normalized Gaussian with standard deviation sigma, N_a the number of atoms of a,
// and rho_b the number of atoms of b divided by the volume of the box, both over all ranks. Within
// one group, b is a, and each pair counts twice. g ln g is 0 at g = 0. The integrand is 0 at r = 0,
// because r^2 is 0 there. An atom may have several images of another atom, or of itself, as
// partners.

#ifndef GPUCOORD_PAIR_ENTROPY_H
#define GPUCOORD_PAIR_ENTROPY_H

#include "gpucoord/export.h"
#include "gpucoord/order_parameter.h"
#include "gpucoord/resident_order_parameter.h"
#include "gpucoord/types.h"

#include <memory>
#include <string>

namespace gpucoord {

struct PairEntropyOptions {
  double cutoff = 0.0;    // r_max > 0, distance
  double sigma = 0.0;     // standard deviation of the Gaussians > 0, distance
  int bins = 0;           // N, 1 to MAX_DISTANCE_BINS; r_max/N must not exceed sigma
};

constexpr int MAX_DISTANCE_BINS = 10000;

// Distance, in units of sigma, at which a Gaussian is cut off. Its value there is 1.3e-14 of the
// maximum.
constexpr double GAUSSIAN_REACH = 8.0;

// Returns the distance up to which pairs contribute to g at r_max.
constexpr double reach(const PairEntropyOptions &options)
{
  return options.cutoff + GAUSSIAN_REACH * options.sigma;
}

// Throws OptionError.
GPUCOORD_API void check_options(const PairEntropyOptions &);

// Returns one line: 'pair entropy cutoff 7 sigma 0.2 bins 140'.
GPUCOORD_API std::string description(const PairEntropyOptions &);

// Returns the number of exchanges of an evaluation: one sum over ranks.
constexpr int number_of_exchanges(const PairEntropyOptions &, unsigned)
{
  return 1;
}

// S is one number for all atoms. The value is S itself on each rank, and W of a rank is its share.
// v_i is the number of partners of atom i within r_max. It is output only, and f(v_i) = v_i. The
// global vector is g(r_k), [bins], k = 1 to N. OrderInput::volume is required: evaluate() throws
// std::invalid_argument if it is not positive. The virial of an atom includes a share of the change
// of S with the density. The atoms of a share it equally; with two groups, the atoms of b share the
// same amount in addition. S is 0 if a or b has no atoms.

// Makes the backend that runs on the host with nthreads OpenMP threads. Throws OptionError.
GPUCOORD_API std::unique_ptr<OrderParameter> make_host_order(const PairEntropyOptions &, Precision,
                                                             int nthreads);

// Makes the CUDA backend. device: -1 selects the current GPU. nthreads OpenMP threads prepare
// copies. Throws DeviceError and OptionError.
GPUCOORD_API std::unique_ptr<OrderParameter> make_cuda_order(const PairEntropyOptions &, Precision,
                                                             int device, int nthreads);

// Makes a pair entropy of resident atoms on the current GPU. DeviceAtoms::volume is required:
// evaluate_first() throws std::invalid_argument if it is not positive. Results are bitwise
// independent of the order of sums over pairs, because these are sums of integers. Throws
// DeviceError and OptionError.
GPUCOORD_API std::unique_ptr<ResidentOrderParameter> make_resident_order(const PairEntropyOptions &,
                                                                         Precision);

// Makes a backend of plain loops over all pairs in double, as a reference for testing the others.
// O(N^2).
GPUCOORD_API std::unique_ptr<OrderParameter> make_reference_order(const PairEntropyOptions &);

}    // namespace gpucoord

#endif
