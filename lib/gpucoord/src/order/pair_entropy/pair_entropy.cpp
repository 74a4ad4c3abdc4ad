// Part of GPUCOORD, GPL-2.0. Options of the pair entropy.

#include "gpucoord/pair_entropy.h"

#include "../../core/checks.h"
#include "../../core/range_check.h"

#include <cmath>

namespace gpucoord {

void check_options(const PairEntropyOptions &options)
{
  check_positive<PairEntropyError>("cutoff", "cutoff", options.cutoff);
  check_positive<PairEntropyError>("sigma", "sigma", options.sigma);
  check_range<PairEntropyError>("cutoff", "cutoff", options.cutoff);
  check_range<PairEntropyError>("sigma", "sigma", options.sigma);
  check_range<PairEntropyError>("sigma", "cutoff plus 8 sigma", reach(options));
  if (options.bins < 1 || options.bins > MAX_DISTANCE_BINS)
    throw PairEntropyError("bins",
                           "bins is " + std::to_string(options.bins) + " but must be 1 to " +
                               std::to_string(MAX_DISTANCE_BINS));
  // The trapezoid sum over a Gaussian is wrong by 2 exp(-2 pi^2 (sigma/Delta)^2): 5e-9 at the
  // limit, 1e-34 at half of it.
  const double size = options.cutoff / options.bins;
  if (size <= options.sigma * (1.0 + 1e-12)) return;
  const double minimum = std::ceil(options.cutoff / options.sigma * (1.0 - 1e-12));
  const std::string problem = "bins of " + short_text(size) + " are wider than sigma " +
      short_text(options.sigma) + ", so the integral would miss Gaussians between them - ";
  if (minimum > MAX_DISTANCE_BINS)
    throw PairEntropyError("bins",
                           problem + "with at most " + std::to_string(MAX_DISTANCE_BINS) +
                               " bins, use a sigma of at least " +
                               short_text(options.cutoff / MAX_DISTANCE_BINS) +
                               " or a smaller cutoff");
  throw PairEntropyError("bins",
                         problem + "use at least " + std::to_string(static_cast<int>(minimum)) +
                             " bins, better twice as many, or a larger sigma");
}

std::string description(const PairEntropyOptions &options)
{
  return "pair entropy cutoff " + short_text(options.cutoff) + " sigma " +
      short_text(options.sigma) + " bins " + std::to_string(options.bins);
}

}    // namespace gpucoord
