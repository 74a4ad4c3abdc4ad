// Part of GPUCOORD, GPL-2.0. Arguments of the kernels of the pair entropy, and the contents of
// cells of distances on a GPU.
//
// Sums over pairs are sums of integers, so that they are bitwise independent of the order.
//
// Pair terms in double: NMOMENTS moments of cells of sigma/CELLS_PER_SIGMA, as on the host. A sum
// is the integer nearest to scale (2 t)^n, |2 t| <= 1, in two's complement. There are fewer than
// 2^PAIR_BITS pairs, and scale is a power of two of at most 2^(61 - PAIR_BITS), so no sum overflows
// 63 bits: each term is at most scale + 1/2.
//
// Pair terms in float: the number of distances and the sum of their offsets within cells of
// sigma/FINE_CELLS_PER_SIGMA. The third moment assumes distances that are spread evenly over their
// cell. The error of the Gaussian of a distance is then at most 6e-6 of its maximum, 2e-6 rms.
// These errors cancel in sums over many distances. In a perfect lattice they do not cancel, because
// all pairs of a shell have the same error. Float positions cause errors of the same size if sigma
// is 2 percent of the distance.

#ifndef GPUCOORD_PAIR_ENTROPY_ARGUMENTS_CUDA_H
#define GPUCOORD_PAIR_ENTROPY_ARGUMENTS_CUDA_H

#include "../partners_in_range.h"
#include "pair_entropy_formulas.h"

#include "../../pairs/pair_arguments_cuda.h"

#include <cuda_runtime.h>

#include <cstddef>

namespace gpucoord {

using SumOfCells = unsigned long long;    // as atomicAdd() has it

constexpr int FINE_CELLS_PER_SIGMA = 128;

// REACH: where a Gaussian is cut, in sigma: at 1.5e-8 of its maximum in float, below the errors of
// cells. PER_SIGMA: cells; NUMBERS: integers of a cell; WORDS: 32-bit words of a cell in shared
// memory; MOMENTS: moments that follow from them; COEFFICIENTS: of t^n in dS/dr, for cells of
// sigma/CELLS_PER_SIGMA. Four of them are right to 2e-6 of the largest derivative.
template <class Real> struct DistanceCells;
template <> struct DistanceCells<float> {
  static constexpr double REACH = 6.0;
  static constexpr int PER_SIGMA = FINE_CELLS_PER_SIGMA, NUMBERS = 2, WORDS = 1, MOMENTS = 3;
  static constexpr int COEFFICIENTS = 4;
};
template <> struct DistanceCells<double> {
  static constexpr double REACH = GAUSSIAN_REACH;
  static constexpr int PER_SIGMA = CELLS_PER_SIGMA, NUMBERS = NMOMENTS, WORDS = 2 * NMOMENTS,
                       MOMENTS = NMOMENTS;
  static constexpr int COEFFICIENTS = NMOMENTS - 1;
};

// Coefficients of t^n, padded for loads of 16 bytes.
template <class Real> struct alignas(16) DerivativeRow {
  static constexpr int SIZE = (DistanceCells<Real>::COEFFICIENTS + 3) / 4 * 4;
  Real v[SIZE];
};

template <class Real> struct DistanceArguments : PointRows {
  DistanceGrid cells;          // cells of the sums
  Real reach_sq, cutoff_sq;    // distance^2
  double scale;                // integers over terms, in double
  SumOfCells *sums;            // [NUMBERS][ncells]
  // [nlocal] number of partners within the cutoff; null: not needed.
  double *value;
  // value null: a pair of points below this number is in the rows of both. Otherwise 0.
  int nowned;
  int *any_partners;    // set to 1 if a row has partners
};

// Numbers of an evaluation, in device memory.
struct EntropySums {
  double by_log_volume;    // dS/d ln V at fixed distances
  Density density;
};

template <class Real> struct DistanceForceArguments : PointRows {
  DistanceGrid cells;                        // cells of the coefficients
  Real reach_sq;                             // distance^2
  double factor;                             // number of terms of S of a pair
  const DerivativeRow<Real> *derivatives;    // [ncells]
  RowArguments out;                          // outputs
};

// Tells how sum_distances() runs on the current GPU.
struct DistanceLaunch {
  std::size_t shared_bytes;    // sums of a block; 0: they do not fit
  unsigned max_blocks;         // largest number of resident blocks, of the kernel that allows more
};

// Enqueue kernels. Throw DeviceError.
template <class Real> struct PairEntropyLaunchers {
  DistanceLaunch (*prepare)(const DistanceGrid &);
  // Adds the distances of the rows of a.
  void (*sum_distances)(const DistanceArguments<Real> &, const DistanceLaunch &, cudaStream_t);
  // Sets sums of Gaussians, [bins], and the numbers of atoms behind them.
  void (*sum_gaussians)(const DistanceArguments<Real> &, double natoms_a, double natoms_b,
                        double *gaussians, cudaStream_t);
  // Sets the coefficients, and the virial of this rank to the part of the density.
  void (*set_derivatives)(const DistanceGrid &, const double *dSdsum, const EntropySums *,
                          double natoms_a, DerivativeRow<Real> *, WarpSums *total, cudaStream_t);
  void (*sum_forces)(const DistanceForceArguments<Real> &, unsigned want, cudaStream_t);
};

template <class Real> PairEntropyLaunchers<Real> pair_entropy_launchers();

// Sets S, g and dS/dsum, [bins], from sums over all ranks.
void evaluate_entropy(const DistanceGrid &, const double *gaussians, double volume, double *value,
                      EntropySums *, double *g, double *dSdsum, cudaStream_t);

}    // namespace gpucoord

#endif
