// Part of GPUCOORD, GPL-2.0. Options of the pair entropy, and its CUDA backend for host arrays.

#include "gpucoord/pair_entropy.h"

#include "../order_cuda.h"
#include "pair_entropy_integral.h"

#include "../../core/checks.h"
#include "../../core/range_check.h"

#include "gpucoord/bytes_of.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace gpucoord {

namespace {

  class CudaPairEntropy : public PairEntropy {
   public:
    CudaPairEntropy(const PairEntropyOptions &options, Precision precision, int device,
                    int nthreads) :
        g(options.bins)
    {
      OrderOnCuda cuda = {[=] {
                            return make_resident_order(options, precision);
                          },
                          precision,
                          {}};
      cuda.is_global = true;
      cuda.check_input = [](const OrderInput &in) {
        check_volume(in.volume);
      };
      cuda.write_further = [this](const OrderOnCuda::Evaluated &evaluated, const AtomList &,
                                  const OrderNumbers &) {
        const auto &entropy = static_cast<ResidentPairEntropy &>(evaluated.engine);
        std::copy_n(entropy.distribution(), g.size(), g.begin());
      };
      order = make_order_on_cuda(std::move(cuda), device, nthreads);
    }

    OrderResult evaluate(const OrderInput &in, unsigned want, double *peratom,
                         const OrderNumbers &numbers) override
    {
      return order->evaluate(in, want, peratom, numbers);
    }
    void complete_exchanges(const OrderInput &in, unsigned want) override
    {
      order->complete_exchanges(in, want);
    }
    int exchange_columns() const override { return order->exchange_columns(); }
    std::size_t bytes() const override { return bytes_of(g) + order->bytes(); }
    const std::vector<double> &distribution() const override { return g; }

   private:
    std::vector<double> g;    // [bins]
    std::unique_ptr<OrderParameter> order;
  };

}    // namespace

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

std::unique_ptr<PairEntropy> make_cuda_order(const PairEntropyOptions &options, Precision precision,
                                             int device, int nthreads)
{
  check_options(options);
  return std::make_unique<CudaPairEntropy>(options, precision, device, nthreads);
}

}    // namespace gpucoord
