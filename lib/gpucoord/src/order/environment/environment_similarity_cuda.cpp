// Part of GPUCOORD, GPL-2.0. The CUDA backend of environment similarity for host arrays.

#include "gpucoord/environment_similarity.h"
#include "gpucoord/resident_environment_similarity.h"

#include "../order_cuda.h"
#include "environment_similarity_options.h"

#include <memory>

namespace gpucoord {

namespace {

  class CudaEnvironmentSimilarity : public CudaOrder {
   public:
    CudaEnvironmentSimilarity(const EnvironmentOptions &options_in, Precision precision,
                              int nthreads_in) :
        CudaOrder({false, has_types(options_in), options_in.function, precision, nthreads_in}),
        options(options_in), resident(make_resident_environment_similarity(options, precision))
    {
    }

   private:
    ResidentOrderParameter &engine() const override { return *resident; }
    void check_input(const OrderInput &in) const override { gpucoord::check_input(options, in); }

    const EnvironmentOptions options;
    const std::unique_ptr<ResidentOrderParameter> resident;
  };

}    // namespace

std::unique_ptr<OrderParameter> make_cuda_environment_similarity(const EnvironmentOptions &options,
                                                                 Precision precision, int device,
                                                                 int nthreads)
{
  check_options(options);
  return make_guarded_order(device, [&] {
    return std::make_unique<CudaEnvironmentSimilarity>(options, precision, nthreads);
  });
}

}    // namespace gpucoord
