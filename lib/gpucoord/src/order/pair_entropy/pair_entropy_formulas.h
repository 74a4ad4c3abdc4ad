// Part of GPUCOORD, GPL-2.0. Formulas of the pair entropy that host and GPU share: sums of
// Gaussians from moments (distance_moments.h), the terms of the integral, and dS/dr.

#ifndef GPUCOORD_PAIR_ENTROPY_FORMULAS_H
#define GPUCOORD_PAIR_ENTROPY_FORMULAS_H

#include "distance_moments.h"

#include "../../core/config.h"

#include "gpucoord/pair_entropy.h"

#include <cmath>

namespace gpucoord {

// Nodes of the integral, and cells of distances. Plain data, so that kernels take it by value.
struct DistanceGrid {
  double sigma, spacing, size;    // width of Gaussians, spacing of nodes, size of cells, distance
  double ratio;                   // size of a cell over sigma
  double reach;                   // distance from the center where a Gaussian is cut
  int bins, ncells;

  // Node k = 0 to bins - 1.
  GPUCOORD_HD double node(int k) const { return (k + 1) * spacing; }
  GPUCOORD_HD double offset(int k, int cell) const
  {
    return (node(k) - (cell + 0.5) * size) / sigma;
  }
  // The Gaussian of a distance at the center of a cell, at an offset, 1/distance.
  GPUCOORD_HD double gaussian(double u) const
  {
    constexpr double SQRT_2_PI = 2.50662827463100050242;
    return std::exp(-0.5 * u * u) / (SQRT_2_PI * sigma);
  }
  // Cells within reach of the Gaussian at a node.
  GPUCOORD_HD int first_cell(int k) const
  {
    const double first = (node(k) - reach) / size;
    return first > 0.0 ? static_cast<int>(first) : 0;
  }
  GPUCOORD_HD int last_cell(int k) const
  {
    const int last = static_cast<int>((node(k) + reach) / size);
    return last < ncells ? last : ncells - 1;
  }
  // Nodes that may have a cell within reach, and possibly others.
  GPUCOORD_HD int first_node(int cell) const
  {
    const int first = static_cast<int>(((cell - 0.5) * size - reach) / spacing);
    return first > 2 ? first - 2 : 0;
  }
  GPUCOORD_HD int last_node(int cell) const
  {
    const int last = static_cast<int>(((cell + 1.5) * size + reach) / spacing);
    return last < bins ? last : bins - 1;
  }
};

// gaussian_reach: where a Gaussian is cut, in sigma.
inline DistanceGrid make_distance_grid(const PairEntropyOptions &options, int cells_per_sigma,
                                       double gaussian_reach = GAUSSIAN_REACH)
{
  DistanceGrid grid;
  grid.sigma = options.sigma;
  grid.bins = options.bins;
  grid.spacing = options.cutoff / options.bins;
  grid.size = options.sigma / cells_per_sigma;
  grid.ratio = 1.0 / cells_per_sigma;
  grid.reach = gaussian_reach * options.sigma;
  // A distance may be rounded up.
  grid.ncells = static_cast<int>((options.cutoff + grid.reach) / grid.size) + 2;
  return grid;
}

// Calls f(n, He_n(u) ratio^n/n!) for n < N, u = offset of the node from the cell.
template <int N, class F> GPUCOORD_HD void for_each_hermite(double u, double ratio, const F &f)
{
  double before = 0.0, hermite = 1.0, factor = 1.0;
  for (int n = 0; n < N; ++n) {
    f(n, factor * hermite);
    const double next = u * hermite - n * before;
    before = hermite;
    hermite = next;
    factor *= ratio / (n + 1);
  }
}

// The Gaussians of the distances of a cell over that of a distance at its center.
template <int N> GPUCOORD_HD double gaussian_series(double u, double ratio, const double *moments)
{
  double sum = 0.0;
  for_each_hermite<N>(u, ratio, [&](int n, double term) {
    sum += term * moments[n];
  });
  return sum;
}

// Adds the part of a node in dS/dr of a distance in a cell, as coefficients of t^n, n < N - 1.
// weight: dS/dsum of the node times the Gaussian of the center of the cell, over the size of cells.
template <int N>
GPUCOORD_HD void add_derivative(double u, double ratio, double weight, double *coefficients)
{
  for_each_hermite<N>(u, ratio, [&](int n, double term) {
    if (n > 0) coefficients[n - 1] += weight * n * term;
  });
}

// Numbers of atoms in both groups and the volume of the box, of all ranks.
struct Density {
  double natoms_a, natoms_b, volume;
  GPUCOORD_HD bool has_pairs() const { return natoms_a > 0.0 && natoms_b > 0.0; }
};

// A node in the integral.
struct NodeTerm {
  double g;
  double value, by_log_volume;    // terms of S and dS/d ln V
  double dSdsum;                  // dS/dsum
};

// sum: of Gaussians of all ranks, 1/distance.
GPUCOORD_HD NodeTerm node_term(const DistanceGrid &grid, int k, double sum, const Density &totals)
{
  constexpr double PI = 3.14159265358979323846;
  // Below it, g ln g - g + 1 continues as a straight line. Rounding leaves such g, also negative
  // ones, where there are no pairs; this changes S by less than 1e-14 of its value without pairs.
  constexpr double SMALLEST_G = 1e-14, LOG_OF_SMALLEST = -32.23619130191664;
  if (!totals.has_pairs()) return {0.0, 0.0, 0.0, 0.0};
  const double density = totals.natoms_b / totals.volume, r_sq = grid.node(k) * grid.node(k);
  const double weight = (k == grid.bins - 1 ? 0.5 : 1.0) * grid.spacing;
  NodeTerm term;
  term.g = sum / (4.0 * PI * totals.natoms_a * density * r_sq);
  const bool is_small = !(term.g > SMALLEST_G);
  const double log_g = is_small ? LOG_OF_SMALLEST : std::log(term.g);
  const double f = term.g * log_g + 1.0 - (is_small ? SMALLEST_G : term.g);    // g ln g - g + 1
  term.value = -2.0 * PI * density * weight * r_sq * f;
  term.by_log_volume = 2.0 * PI * density * weight * r_sq * (f - term.g * log_g);
  term.dSdsum = -weight * log_g / (2.0 * totals.natoms_a);
  return term;
}

}    // namespace gpucoord

#endif
