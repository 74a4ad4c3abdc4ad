// Part of GPUCOORD, GPL-2.0. Similarity of atoms to crystal environments, with derivatives and
// virial.
//
// An environment e is a list of n_e vectors r_k from a center to its neighbors. An atom i has
// k_e(i) = 1/n_e sum of exp(-|d_ij - r_k|^2/(4 sigma^2)) over its partners j and the vectors of e.
// Piaggi and Parrinello, J. Chem. Phys. 150, 244119 (2019).
//
// The vectors are fixed in space: S changes when all atoms are rotated, and W is not symmetric. Its
// elements xy, xz, yz belong to the strains that tilt a triclinic box (contribution.h).

#ifndef GPUCOORD_ENVIRONMENT_SIMILARITY_H
#define GPUCOORD_ENVIRONMENT_SIMILARITY_H

#include "gpucoord/atom_function.h"
#include "gpucoord/export.h"
#include "gpucoord/order_parameter.h"
#include "gpucoord/resident_order_parameter.h"
#include "gpucoord/types.h"

#include <memory>
#include <string>
#include <vector>

namespace gpucoord {

struct EnvironmentVector {
  double r[3];     // distance; not 0
  int type = 0;    // type of the partner, from 1; 0: any type
};
using Environment = std::vector<EnvironmentVector>;

// Relative rounding error of the derivatives: 2e-16 lambda; absolute rounding error of v:
// 2e-16/lambda.
constexpr double MIN_LAMBDA = 1e-3, MAX_LAMBDA = 1e6;

struct EnvironmentOptions {
  // With one environment, v_i = k(i). With several, v_i = 1/lambda ln sum of exp(lambda k_e(i))
  // over e, which is close to the largest k_e(i).
  std::vector<Environment> environments;
  double sigma = 0.0;       // distance, > 0
  double lambda = 100.0;    // MIN_LAMBDA to MAX_LAMBDA
  // > 0. Partners are the atoms within the length of the longest vector plus cutoff sigma. A pair
  // at this distance adds at most exp(-cutoff^2/4)/n_e for each of the longest vectors.
  double cutoff = 8.0;
  AtomFunctionOptions function;    // S = sum of f(v_i)
};

enum class CrystalStructure {
  FCC,        // 12 nearest neighbors
  BCC,        // 8 nearest and 6 next-nearest neighbors
  SC,         // 6 nearest neighbors
  DIAMOND,    // 4 nearest neighbors of each sublattice: 2 environments
  HCP         // 12 nearest neighbors of each sublattice: 2 environments
};

// Returns the environments of a structure with lattice constant a, and for HCP lattice constant c
// along z (distance). Cubic axes are along x, y, z. HCP has a neighbor along x. Throws
// OptionError.
GPUCOORD_API std::vector<Environment> make_environments(CrystalStructure, double a, double c = 0.0);

// Throws OptionError; for the function, AtomFunctionError.
GPUCOORD_API void check_options(const EnvironmentOptions &);

// Returns one line: '2 environments of 12 and 12 vectors, sigma 0.4, cutoff 8, lambda 100'.
GPUCOORD_API std::string description(const EnvironmentOptions &);

// Returns whether at least one vector has a type.
GPUCOORD_API bool has_types(const EnvironmentOptions &);

// Returns the largest distance of partners.
GPUCOORD_API double reach(const EnvironmentOptions &);

// Makes the backend that runs on the host with nthreads OpenMP threads. The input needs types if a
// vector has a type. Throws OptionError and AtomFunctionError.
GPUCOORD_API std::unique_ptr<OrderParameter> make_host_order(const EnvironmentOptions &, Precision,
                                                             int nthreads);

// Makes the CUDA backend on this GPU. device: -1 selects the current GPU. nthreads OpenMP threads
// prepare copies. Throws DeviceError, OptionError and AtomFunctionError.
GPUCOORD_API std::unique_ptr<OrderParameter> make_cuda_order(const EnvironmentOptions &, Precision,
                                                             int device, int nthreads);

// Makes an order parameter of resident atoms on the current GPU. Does not use
// EnvironmentOptions::function. The atoms need types if a vector has a type; otherwise rebuild()
// throws std::invalid_argument. Throws DeviceError, OptionError and AtomFunctionError.
GPUCOORD_API std::unique_ptr<ResidentOrderParameter> make_resident_order(const EnvironmentOptions &,
                                                                         Precision);

// Makes a backend of plain loops over all pairs in double, as a reference for testing the others.
// O(N^2).
GPUCOORD_API std::unique_ptr<OrderParameter> make_reference_order(const EnvironmentOptions &);

}    // namespace gpucoord

#endif
