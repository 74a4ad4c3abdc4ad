// Part of GPUCOORD, GPL-2.0. Selects the kernels of order parameters for the best instruction set.

#include "order_kernels_host.h"

#include "../../core/instruction_set.h"

namespace gpucoord {

GPUCOORD_FOR_EACH_ISA(void get_order_kernels(OrderKernels<float> &);
                      void get_order_kernels(OrderKernels<double> &);)

template <class Real> OrderKernels<Real> select_order_kernels()
{
  OrderKernels<Real> kernels;
  GPUCOORD_CALL_BEST(get_order_kernels(kernels))
  return kernels;
}
template OrderKernels<float> select_order_kernels<float>();
template OrderKernels<double> select_order_kernels<double>();

}    // namespace gpucoord
