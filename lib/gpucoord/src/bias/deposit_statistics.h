// Part of GPUCOORD, GPL-2.0. Statistics of S at the deposits of a bias, of constant size: whether
// sigma and pace suit S, and how far the bias has converged.

#ifndef GPUCOORD_DEPOSIT_STATISTICS_H
#define GPUCOORD_DEPOSIT_STATISTICS_H

#include "gpucoord/export.h"
#include "gpucoord/period.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace gpucoord {

// Mean and variance by Welford's sums.
struct Moments {
  std::int64_t n = 0;
  double mean = 0.0, m2 = 0.0;
  void add(double x)
  {
    const double d = x - mean;
    mean += d / static_cast<double>(++n);
    m2 += d * (x - mean);
  }
  double variance() const { return n > 1 ? m2 / static_cast<double>(n - 1) : 0.0; }
};

// One variable.
class GPUCOORD_TEST_API SampledVariable {
 public:
  explicit SampledVariable(Period);

  void add(double s);

  // Lengths of windows, in samples, in which S does not move far and the bias hardly changes
  static constexpr int SHORT = 5, LONG = 25;
  // Returns the mean of the standard deviations of S in short windows. A jump of S to another
  // basin counts in one window only. 0: no long window is complete
  double fluctuation() const;
  // Returns the correlation of successive samples about the mean of their long window.
  double autocorrelation() const;
  // Returns a value that the correlation of successive samples exceeds with a probability of about
  // 95 %, by all samples: what few samples that hardly differ tell for sure.
  double least_autocorrelation() const;

  // The range of S. If S is periodic, that of its distance from the first sample.
  double lowest() const { return lo; }
  double highest() const { return hi; }
  // Returns how often S went from the lowest fifth of this range to the highest one, or back.
  std::int64_t ncrossings() const;
  double variance() const { return positions[0].variance() + positions[1].variance(); }
  // Returns the last S minus the first one. If S is periodic, the vector between their places on a
  // circle: S that goes around forgets its place, but not its number of turns.
  double position(int k) const { return place[k]; }
  std::size_t bytes() const { return path.capacity() * sizeof(double); }

 private:
  void end_window();
  void shorten_path();

  Period period;
  double last = 0.0, first = 0.0;
  double continuous = 0.0;             // the last S minus the first one, without jumps by a period
  std::array<double, 2> place = {};    // position()
  Moments positions[2];

  double sum_of_products = 0.0;    // of successive values of position()
  double window[LONG] = {}, places[2][LONG] = {};
  double sum_of_deviations = 0.0, sum_of_correlations = 0.0;
  std::int64_t nwindows = 0, ncorrelations = 0;

  double lo = 0.0, hi = 0.0;
  std::vector<double> path;       // S without moves that cannot become crossings
  std::int64_t nforgotten = 0;    // crossings that are no longer in the path
};

// All variables, and the bias.
class GPUCOORD_TEST_API DepositStatistics {
 public:
  explicit DepositStatistics(const std::vector<Period> &);

  using Sum = std::function<double(const double *s)>;
  // s: of a deposit, [variables]. v: the bias
  void add(const double *s, const Sum &v);

  std::int64_t count() const { return n; }
  const SampledVariable &variable(int v) const { return variables[v]; }
  // Returns the number of independent samples that have the same error of the mean of S. It is
  // found from blocks (Flyvbjerg and Petersen, J. Chem. Phys. 91, 461 (1989)).
  double neffective(int v) const;
  // Returns by how much the second half of the deposits changed the bias, apart from a constant:
  // the root mean square over values of S of the first half.
  double change_in_second_half(const Sum &v) const;
  std::size_t bytes() const;

 private:
  void end_block(const Sum &v);

  static constexpr int MAX_BLOCKS = 32, MIN_BLOCKS = 5;
  struct Block {
    std::vector<double> s;       // of its first deposit
    std::vector<double> mean;    // of positions
    // V at the end of the block, at s of this block and the earlier ones
    std::vector<double> v;
  };
  std::vector<SampledVariable> variables;
  std::int64_t n = 0, block_length = 1, nin_block = 0;
  std::vector<Block> blocks;
  Block current;
};

}    // namespace gpucoord

#endif
