// Part of GPUCOORD, GPL-2.0. Moments of distances, for fast sums of Gaussians of the distances.
//
// Distances are sorted into cells of sigma/CELLS_PER_SIGMA. A cell with center c holds the moments
// M_n, the sums of t^n over its distances r = c + t h, where h is its size and |t| <= 1/2. By the
// Taylor series of a Gaussian, the sum of G(x - r) over the distances of the cell is
//
//   G(x - c) sum of He_n(u) (h/sigma)^n M_n/n! over n, u = (x - c)/sigma,
//
// with Hermite polynomials He_n. The error of the terms n < NMOMENTS is 1.1e-13 of the maximum of
// G, and 1.7e-11 for the derivative, because |He_8(u)| exp(-u^2/2) <= 105. A pair thus costs
// NMOMENTS sums instead of one exponential per node within GAUSSIAN_REACH sigma.

#ifndef GPUCOORD_DISTANCE_MOMENTS_H
#define GPUCOORD_DISTANCE_MOMENTS_H

namespace gpucoord {

constexpr int NMOMENTS = 8;
constexpr int CELLS_PER_SIGMA = 10;

// Moments of a cell, or coefficients of powers of t. In double: 64 bytes, one cache line.
template <class Real> struct alignas(sizeof(Real) * NMOMENTS) PowerRow {
  Real v[NMOMENTS];
};

}    // namespace gpucoord

#endif
