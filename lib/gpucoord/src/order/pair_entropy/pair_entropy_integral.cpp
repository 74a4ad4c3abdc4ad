// Part of GPUCOORD, GPL-2.0. The pair entropy as a function of the moments of distances.

#include "pair_entropy_integral.h"

#include <algorithm>
#include <stdexcept>

namespace gpucoord {

void check_volume(double volume)
{
  if (!(volume > 0.0))
    throw std::invalid_argument("the pair entropy needs the density, and so a box that is periodic "
                                "in all directions");
}

PairEntropyIntegral::PairEntropyIntegral(const PairEntropyOptions &options) :
    grid(make_distance_grid(options, CELLS_PER_SIGMA))
{
  for (int k = 0; k < grid.bins; ++k)
    width = std::max(width, grid.last_cell(k) - grid.first_cell(k) + 1);
  gaussian.resize(static_cast<std::size_t>(width) * grid.bins);
  for (int k = 0; k < grid.bins; ++k)
    for (int c = grid.first_cell(k); c <= grid.last_cell(k); ++c)
      gaussian[index(k, c)] = grid.gaussian(grid.offset(k, c));
}

void PairEntropyIntegral::sum_gaussians(const PowerRow<double> *moments, double *sums,
                                        int nthreads) const
{
#pragma omp parallel for schedule(static) num_threads(nthreads)
  for (int k = 0; k < grid.bins; ++k) {
    double sum = 0.0;
    for (int c = grid.first_cell(k); c <= grid.last_cell(k); ++c) {
      const double *const m = moments[c].v;
      if (m[0] == 0.0) continue;
      sum += gaussian[index(k, c)] * gaussian_series<NMOMENTS>(grid.offset(k, c), grid.ratio, m);
    }
    sums[k] = sum;
  }
}

PairEntropyValue PairEntropyIntegral::evaluate(const double *sums, const Density &density,
                                               double *g, double *dSdsum) const
{
  PairEntropyValue result;
  for (int k = 0; k < grid.bins; ++k) {
    const NodeTerm term = node_term(grid, k, sums[k], density);
    result.value += term.value;
    result.by_log_volume += term.by_log_volume;
    g[k] = term.g;
    dSdsum[k] = term.dSdsum;
  }
  return result;
}

void PairEntropyIntegral::set_coefficients(const double *dSdsum, PowerRow<double> *coefficients,
                                           int nthreads) const
{
#pragma omp parallel for schedule(static) num_threads(nthreads)
  for (int c = 0; c < grid.ncells; ++c) {
    double *const sums = coefficients[c].v;
    std::fill_n(sums, NMOMENTS, 0.0);
    for (int k = grid.first_node(c); k <= grid.last_node(c); ++k)
      if (c >= grid.first_cell(k) && c <= grid.last_cell(k))
        add_derivative<NMOMENTS>(grid.offset(k, c), grid.ratio,
                                 dSdsum[k] * gaussian[index(k, c)] / grid.size, sums);
  }
}

}    // namespace gpucoord
