// Part of GPUCOORD, GPL-2.0. The definition of environment similarity as plain loops, a reference
// for testing the backends.

#include "gpucoord/environment_similarity.h"

#include "../order_sums.h"
#include "environment_similarity_options.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace gpucoord {

namespace {

  class ReferenceEnvironmentSimilarity : public ReferenceSums {
   public:
    explicit ReferenceEnvironmentSimilarity(const EnvironmentOptions &options) :
        ReferenceSums(static_cast<int>(options.environments.size()), reach(options),
                      options.function),
        opt(options)
    {
    }

   private:
    void check_input(const OrderInput &in) const override { check_types(opt, in); }
    double value(const double *k) const override { return joined_similarity(opt.lambda, nsums, k); }
    double weight(int, double k, double v, double dSdv) const override
    {
      return dSdv * environment_weight(opt.lambda, k, v);
    }
    double term(const OrderInput &in, int e, int j, const double *d,
                double *gradient) const override
    {
      const Environment &environment = opt.environments[e];
      const double nvectors = static_cast<double>(environment.size());
      double sum = 0.0;
      std::fill_n(gradient, 3, 0.0);
      for (const EnvironmentVector &v : environment) {
        if (v.type != 0 && in.cells.types.type[j] != v.type) continue;
        double distance_sq = 0.0;
        for (int c = 0; c < 3; ++c) distance_sq += (d[c] - v.r[c]) * (d[c] - v.r[c]);
        const double gaussian = std::exp(-distance_sq / (4.0 * opt.sigma * opt.sigma)) / nvectors;
        sum += gaussian;
        for (int c = 0; c < 3; ++c)
          gradient[c] -= gaussian * (d[c] - v.r[c]) / (2.0 * opt.sigma * opt.sigma);
      }
      return sum;
    }

    const EnvironmentOptions opt;
  };

}    // namespace

std::unique_ptr<OrderParameter> make_reference_order(const EnvironmentOptions &options)
{
  check_options(options);
  return std::make_unique<ReferenceEnvironmentSimilarity>(options);
}

}    // namespace gpucoord
