// Part of GPUCOORD, GPL-2.0. The CUDA backend of the pair entropy for host arrays.

#include "gpucoord/pair_entropy.h"
#include "gpucoord/resident_pair_entropy.h"

#include "../order_cuda.h"
#include "pair_entropy_integral.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace gpucoord {

namespace {

  class CudaPairEntropy : public CudaOrder {
   public:
    CudaPairEntropy(const PairEntropyOptions &options, Precision precision, int nthreads_in) :
        CudaOrder({true, false, {}, precision, nthreads_in}),
        resident(make_resident_pair_entropy(options, precision)), g(options.bins)
    {
    }
    const std::vector<double> &distribution() const { return g; }

   private:
    ResidentOrderParameter &engine() const override { return *resident; }
    void check_input(const OrderInput &in) const override { check_volume(in.volume); }
    void write_further(const AtomList &, const OrderNumbers &) override
    {
      std::copy_n(resident->distribution(), g.size(), g.begin());
    }

    const std::unique_ptr<ResidentPairEntropy> resident;
    std::vector<double> g;    // [bins]
  };

  class GuardedPairEntropy : public GuardedOrder<PairEntropy, CudaPairEntropy> {
   public:
    using GuardedOrder::GuardedOrder;
    const std::vector<double> &distribution() const override { return backend->distribution(); }
  };

}    // namespace

std::unique_ptr<PairEntropy> make_cuda_pair_entropy(const PairEntropyOptions &options,
                                                    Precision precision, int device, int nthreads)
{
  check_options(options);
  return std::make_unique<GuardedPairEntropy>(device, [&] {
    return std::make_unique<CudaPairEntropy>(options, precision, nthreads);
  });
}

}    // namespace gpucoord
