// Part of GPUCOORD, GPL-2.0. The pair entropy as a function of the moments of distances, and its
// derivatives. Same bits for any number of threads.

#ifndef GPUCOORD_PAIR_ENTROPY_INTEGRAL_H
#define GPUCOORD_PAIR_ENTROPY_INTEGRAL_H

#include "pair_entropy_formulas.h"

#include "gpucoord/pair_entropy.h"

#include <cstddef>
#include <vector>

namespace gpucoord {

// Throws std::invalid_argument if the box has no volume.
void check_volume(double volume);

// S at given sums of Gaussians.
struct PairEntropyValue {
  double value = 0.0;
  double by_log_volume = 0.0;    // dS/d ln V at fixed distances
};

class PairEntropyIntegral {
 public:
  // options: checked
  explicit PairEntropyIntegral(const PairEntropyOptions &);

  int ncells() const { return grid.ncells; }
  double cells_per_distance() const { return 1.0 / grid.size; }
  std::size_t bytes() const { return sizeof(double) * gaussian.capacity(); }

  // Sets the sums of Gaussians of the distances at the nodes k = 1 to N. moments: [ncells];
  // sums: [bins], 1/distance.
  void sum_gaussians(const PowerRow<double> *moments, double *sums, int nthreads) const;

  // sums: of all ranks. Sets g, [bins], and dS/dsums, [bins].
  PairEntropyValue evaluate(const double *sums, const Density &, double *g, double *dSdsum) const;

  // Sets the coefficients of t^n in dS/dr of a pair in each cell, [ncells].
  void set_coefficients(const double *dSdsum, PowerRow<double> *coefficients, int nthreads) const;

 private:
  std::size_t index(int k, int cell) const
  {
    return static_cast<std::size_t>(width) * k + cell - grid.first_cell(k);
  }

  const DistanceGrid grid;
  int width = 0;                   // largest number of cells within reach of a node
  std::vector<double> gaussian;    // [bins][width] G at their centers
};

}    // namespace gpucoord

#endif
