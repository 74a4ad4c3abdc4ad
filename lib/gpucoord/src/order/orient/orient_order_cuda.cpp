// Part of GPUCOORD, GPL-2.0. The CUDA backend of Steinhardt order parameters for host arrays.

#include "gpucoord/orient_order.h"
#include "gpucoord/resident_orient_order.h"

#include "../order_cuda.h"
#include "orient_order_options.h"

#include "../../pairs/passes.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace gpucoord {

namespace {

  class CudaOrientOrder : public CudaOrder {
   public:
    CudaOrientOrder(const SwitchTable &table, const OrientOrderOptions &options_in,
                    Precision precision, int nthreads_in) :
        CudaOrder({options_in.order == OrderKind::GLOBAL, table.ntypes() > 0, options_in.function,
                   precision, nthreads_in}),
        options(options_in), floor(smallest_norm(precision)),
        resident(make_resident_orient_order(table, options, precision))
    {
    }

    std::size_t bytes() const override
    {
      return CudaOrder::bytes() + sizeof(double) * harmonics.capacity();
    }

   private:
    ResidentOrderParameter &engine() const override { return *resident; }
    void check_input(const OrderInput &in) const override { check_groups(options, in); }

    void write_further(const AtomList &a, const OrderNumbers &numbers) override
    {
      if (!numbers.w_hat) return;
      harmonics.resize((2 * options.l + 1) * static_cast<std::size_t>(nlocal()));
      std::vector<double> w_hat(a.nowned);
      resident->copy_harmonics(harmonics.data(), stream);
      set_w_hat(options.l, harmonics.data(), a.nowned, floor, w_hat.data(), nthreads);
      for (int k = 0; k < a.nowned; ++k) numbers.w_hat[a.index[k]] = w_hat[k];
    }

    const OrientOrderOptions options;
    const double floor;
    const std::unique_ptr<ResidentOrientOrder> resident;
    std::vector<double> harmonics;    // [copied owned atoms][2 l + 1]
  };

}    // namespace

std::unique_ptr<OrderParameter> make_cuda_orient_order(const SwitchTable &table,
                                                       const OrientOrderOptions &options,
                                                       Precision precision, int device,
                                                       int nthreads)
{
  check_options(options);
  need_end(table, "cells");
  return make_guarded_order(device, [&] {
    return std::make_unique<CudaOrientOrder>(table, options, precision, nthreads);
  });
}

}    // namespace gpucoord
