// Part of GPUCOORD, GPL-2.0. Options of the pair entropy, and its CUDA backend for host arrays.

#include "gpucoord/pair_entropy.h"

#include "../order_cuda.h"
#include "pair_entropy_integral.h"

#include "../../core/checks.h"
#include "../../core/range_check.h"

#include <cmath>
#include <utility>

namespace gpucoord {

void check_options(const PairEntropyOptions &options)
{
  check_positive<OptionError>("cutoff", "cutoff", options.cutoff);
  check_positive<OptionError>("sigma", "sigma", options.sigma);
  check_range<OptionError>("cutoff", "cutoff", options.cutoff);
  check_range<OptionError>("sigma", "sigma", options.sigma);
  check_range<OptionError>("sigma", "cutoff plus 8 sigma", reach(options));
  if (options.bins < 1 || options.bins > MAX_DISTANCE_BINS)
    throw OptionError("bins",
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
    throw OptionError("bins",
                      problem + "with at most " + std::to_string(MAX_DISTANCE_BINS) +
                          " bins, use a sigma of at least " +
                          short_text(options.cutoff / MAX_DISTANCE_BINS) + " or a smaller cutoff");
  throw OptionError("bins",
                    problem + "use at least " + std::to_string(static_cast<int>(minimum)) +
                        " bins, better twice as many, or a larger sigma");
}

std::string description(const PairEntropyOptions &options)
{
  return "pair entropy cutoff " + short_text(options.cutoff) + " sigma " +
      short_text(options.sigma) + " bins " + std::to_string(options.bins);
}

std::unique_ptr<OrderParameter> make_cuda_order(const PairEntropyOptions &options,
                                                Precision precision, int device, int nthreads)
{
  check_options(options);
  OrderOnCuda order = {[=] {
                         return make_resident_order(options, precision);
                       },
                       precision,
                       {}};
  order.is_global = true;
  order.check_input = [](const OrderInput &in) {
    check_volume(in.volume);
  };
  return make_order_on_cuda(std::move(order), device, nthreads);
}

}    // namespace gpucoord
