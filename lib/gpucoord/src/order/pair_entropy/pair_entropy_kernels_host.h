// Part of GPUCOORD, GPL-2.0. The inner loops of the pair entropy on the host.
//
// pair_entropy_kernels_host.cpp is compiled once for each instruction set, as
// ../../pairs/pair_kernels_host.cpp.

#ifndef GPUCOORD_PAIR_ENTROPY_KERNELS_HOST_H
#define GPUCOORD_PAIR_ENTROPY_KERNELS_HOST_H

#include "distance_moments.h"

namespace gpucoord {

// Candidates for the partners of an atom at (xi, yi, zi); self: number of the atom itself among
// them, or -1.
template <class Real> struct PairEntropyCandidates {
  int n;
  const Real *x, *y, *z;    // [n]
  Real xi, yi, zi;
  int self;
};

template <class Real> struct PairEntropyConstants {
  Real reach_sq;     // pairs up to this distance contribute
  Real cutoff_sq;    // pairs up to this distance are counted
  Real cells_per_distance;
};

// Adds the moments of distances to moments, [ncells]. Returns the number of pairs within the
// cutoff.
template <class Real>
using SumMomentsFunction = int (*)(const PairEntropyConstants<Real> &,
                                   const PairEntropyCandidates<Real> &, PowerRow<double> *moments);

// Sums over pairs: D = sum of dS/dr d/r, where d is the vector to the partner; then d (x) D as
// xx yy zz xy xz yz.
constexpr int NDISTANCE_SUMS = 9;

// coefficients: [ncells] of t^n in dS/dr. Adds to sums, [NDISTANCE_SUMS].
template <class Real>
using SumDistanceForcesFunction = void (*)(const PairEntropyConstants<Real> &,
                                           const PairEntropyCandidates<Real> &,
                                           const PowerRow<Real> *coefficients, double *sums);

template <class Real> struct PairEntropyKernels {
  SumMomentsFunction<Real> sum_moments;
  SumDistanceForcesFunction<Real> sum_forces;
};

}    // namespace gpucoord

#endif
