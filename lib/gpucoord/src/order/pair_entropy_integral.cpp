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
      gaussian[place(k, c)] = grid.gaussian(grid.offset(k, c));
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
      sum += gaussian[place(k, c)] * gaussian_series<NMOMENTS>(grid.offset(k, c), grid.ratio, m);
    }
    sums[k] = sum;
  }
}

PairEntropyValue PairEntropyIntegral::evaluate(const double *sums, const Density &density,
                                               double *g, double *slope) const
{
  PairEntropyValue result;
  for (int k = 0; k < grid.bins; ++k) {
    const NodeTerm term = node_term(grid, k, sums[k], density);
    result.value += term.value;
    result.by_log_volume += term.by_log_volume;
    g[k] = term.g;
    slope[k] = term.slope;
  }
  return result;
}

void PairEntropyIntegral::set_coefficients(const double *slope, PowerRow<double> *coefficients,
                                           int nthreads) const
{
#pragma omp parallel for schedule(static) num_threads(nthreads)
  for (int c = 0; c < grid.ncells; ++c) {
    double *const sums = coefficients[c].v;
    std::fill_n(sums, NMOMENTS, 0.0);
    for (int k = grid.first_node(c); k <= grid.last_node(c); ++k)
      if (c >= grid.first_cell(k) && c <= grid.last_cell(k))
        add_slope<NMOMENTS>(grid.offset(k, c), grid.ratio,
                            slope[k] * gaussian[place(k, c)] / grid.size, sums);
  }
}

}    // namespace gpucoord
