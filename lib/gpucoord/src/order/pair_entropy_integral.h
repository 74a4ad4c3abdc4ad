// Part of GPUCOORD, GPL-2.0. The pair entropy as a function of the moments of distances, and its
// derivatives. Same bits for any number of threads.

#ifndef GPUCOORD_PAIR_ENTROPY_INTEGRAL_H
#define GPUCOORD_PAIR_ENTROPY_INTEGRAL_H

#include "distance_moments.h"

#include "gpucoord/pair_entropy.h"

#include <cstddef>
#include <vector>

namespace gpucoord {

// S at given sums of Gaussians.
struct PairEntropyValue {
  double value = 0.0;
  double by_log_volume = 0.0;    // dS/d ln V at fixed distances
};

class PairEntropyIntegral {
 public:
  // options: checked
  explicit PairEntropyIntegral(const PairEntropyOptions &);

  int ncells() const { return n_of_cells; }
  double cells_per_distance() const { return 1.0 / size; }
  std::size_t bytes() const { return sizeof(double) * gaussian.capacity(); }

  // Sets the sums of Gaussians of the distances at the nodes k = 1 to N. moments: [ncells];
  // sums: [bins], 1/distance.
  void sum_gaussians(const PowerRow<double> *moments, double *sums, int nthreads) const;

  // sums: of all ranks. Sets g, [bins], and dS/dsums, [bins].
  PairEntropyValue evaluate(const double *sums, double natoms_a, double natoms_b, double volume,
                            double *g, double *slope) const;

  // Sets the coefficients of t^n in dS/dr of a pair in each cell, [ncells].
  void set_coefficients(const double *slope, PowerRow<double> *coefficients, int nthreads) const;

 private:
  struct Range {
    int first, last;
  };
  double node(int k) const { return (k + 1) * spacing; }    // k = 0 to N - 1
  double offset(int k, int cell) const { return (node(k) - (cell + 0.5) * size) / options.sigma; }
  const double *gaussians(int k) const
  {
    return gaussian.data() + static_cast<std::size_t>(width) * k;
  }

  const PairEntropyOptions options;
  const double spacing, size;    // of nodes and of cells, distance
  const int n_of_cells;
  double factor[NMOMENTS];         // (h/sigma)^n/n!
  std::vector<Range> near;         // [bins] cells within reach of the Gaussian at a node
  int width = 0;                   // largest number of them
  std::vector<double> gaussian;    // [bins][width] G at their centers
};

}    // namespace gpucoord

#endif
