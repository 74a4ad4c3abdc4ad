// Part of GPUCOORD, GPL-2.0. The pair entropy as a function of the moments of distances.

#include "pair_entropy_integral.h"

#include <algorithm>
#include <cmath>

namespace gpucoord {

namespace {

  const double PI = std::acos(-1.0);

  // Below it, g ln g - g + 1 continues as a straight line. Rounding leaves such g, also negative
  // ones, where there are no pairs; this changes S by less than 1e-14 of its value without pairs.
  constexpr double SMALLEST_G = 1e-14;

  // Sets He_n(u) for n < NMOMENTS.
  void set_hermite(double u, double *hermite)
  {
    hermite[0] = 1.0;
    hermite[1] = u;
    for (int n = 2; n < NMOMENTS; ++n) hermite[n] = u * hermite[n - 1] - (n - 1) * hermite[n - 2];
  }

}    // namespace

PairEntropyIntegral::PairEntropyIntegral(const PairEntropyOptions &options_in) :
    options(options_in), spacing(options.cutoff / options.bins),
    size(options.sigma / CELLS_PER_SIGMA),
    // one more for a distance that is rounded up
    n_of_cells(static_cast<int>(reach(options) / size) + 2)
{
  factor[0] = 1.0;
  for (int n = 1; n < NMOMENTS; ++n) factor[n] = factor[n - 1] / (CELLS_PER_SIGMA * n);
  for (int k = 0; k < options.bins; ++k) {
    const double reach_of_node = GAUSSIAN_REACH * options.sigma;
    const double first = std::max(0.0, (node(k) - reach_of_node) / size);
    near.push_back({static_cast<int>(first),
                    std::min(n_of_cells - 1, static_cast<int>((node(k) + reach_of_node) / size))});
    width = std::max(width, near.back().last - near.back().first + 1);
  }
  gaussian.resize(static_cast<std::size_t>(width) * options.bins);
  for (int k = 0; k < options.bins; ++k)
    for (int c = near[k].first; c <= near[k].last; ++c) {
      const double u = offset(k, c);
      gaussian[static_cast<std::size_t>(width) * k + c - near[k].first] =
          std::exp(-0.5 * u * u) / (std::sqrt(2.0 * PI) * options.sigma);
    }
}

void PairEntropyIntegral::sum_gaussians(const PowerRow<double> *moments, double *sums,
                                        int nthreads) const
{
#pragma omp parallel for schedule(static) num_threads(nthreads)
  for (int k = 0; k < options.bins; ++k) {
    double sum = 0.0;
    for (int c = near[k].first; c <= near[k].last; ++c) {
      const double *const m = moments[c].v;
      if (m[0] == 0.0) continue;
      double hermite[NMOMENTS], series = 0.0;
      set_hermite(offset(k, c), hermite);
      for (int n = 0; n < NMOMENTS; ++n) series += factor[n] * hermite[n] * m[n];
      sum += gaussians(k)[c - near[k].first] * series;
    }
    sums[k] = sum;
  }
}

PairEntropyValue PairEntropyIntegral::evaluate(const double *sums, double natoms_a, double natoms_b,
                                               double volume, double *g, double *slope) const
{
  PairEntropyValue result;
  std::fill_n(g, options.bins, 0.0);
  std::fill_n(slope, options.bins, 0.0);
  if (natoms_a == 0.0 || natoms_b == 0.0) return result;
  const double density = natoms_b / volume;
  const double log_of_smallest = std::log(SMALLEST_G);
  double integral = 0.0, by_log_density = 0.0;
  for (int k = 0; k < options.bins; ++k) {
    const double r_sq = node(k) * node(k);
    const double weight = (k == options.bins - 1 ? 0.5 : 1.0) * spacing;
    g[k] = sums[k] / (4.0 * PI * natoms_a * density * r_sq);
    double f, by_g;    // g ln g - g + 1 and its derivative
    if (g[k] > SMALLEST_G) {
      by_g = std::log(g[k]);
      f = g[k] * by_g - g[k] + 1.0;
    } else {
      by_g = log_of_smallest;
      f = g[k] * by_g + 1.0 - SMALLEST_G;
    }
    integral += weight * r_sq * f;
    by_log_density += weight * r_sq * (f - g[k] * by_g);
    slope[k] = -weight * by_g / (2.0 * natoms_a);
  }
  result.value = -2.0 * PI * density * integral;
  result.by_log_volume = 2.0 * PI * density * by_log_density;
  return result;
}

void PairEntropyIntegral::set_coefficients(const double *slope, PowerRow<double> *coefficients,
                                           int nthreads) const
{
#pragma omp parallel for schedule(static) num_threads(nthreads)
  for (int c = 0; c < n_of_cells; ++c) {
    double *const sums = coefficients[c].v;
    std::fill_n(sums, NMOMENTS, 0.0);
    // Nodes whose range may have this cell.
    const double reach_of_cell = GAUSSIAN_REACH * options.sigma + size, center = (c + 0.5) * size;
    const int first = std::max(0, static_cast<int>((center - reach_of_cell) / spacing) - 2);
    const int last =
        std::min(options.bins - 1, static_cast<int>((center + reach_of_cell) / spacing));
    for (int k = first; k <= last; ++k) {
      if (c < near[k].first || c > near[k].last) continue;
      double hermite[NMOMENTS];
      set_hermite(offset(k, c), hermite);
      const double weight = slope[k] * gaussians(k)[c - near[k].first] / size;
      for (int n = 1; n < NMOMENTS; ++n) sums[n - 1] += weight * n * factor[n] * hermite[n];
    }
  }
}

}    // namespace gpucoord
