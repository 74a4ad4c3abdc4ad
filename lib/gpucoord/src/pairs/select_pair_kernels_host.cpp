// Part of GPUCOORD, GPL-2.0. Selects the pair kernels for the best instruction set.

#include "pair_kernels_host.h"

#include "../core/instruction_set.h"

namespace gpucoord {

GPUCOORD_FOR_EACH_ISA(void get_pair_kernels(const Switch &, Precision, PairKernels<float> &);
                      void get_pair_kernels(const Switch &, Precision, PairKernels<double> &);
                      void get_keep_near_box(KeepNearBoxFunction<float> &);
                      void get_keep_near_box(KeepNearBoxFunction<double> &);)

template <class Real>
PairKernels<Real> select_pair_kernels(const Switch &function, Precision precision)
{
  PairKernels<Real> kernels;
  GPUCOORD_CALL_BEST(get_pair_kernels(function, precision, kernels))
  return kernels;
}
template PairKernels<float> select_pair_kernels<float>(const Switch &, Precision);
template PairKernels<double> select_pair_kernels<double>(const Switch &, Precision);

template <class Real> KeepNearBoxFunction<Real> select_keep_near_box()
{
  KeepNearBoxFunction<Real> kernel;
  GPUCOORD_CALL_BEST(get_keep_near_box(kernel))
  return kernel;
}
template KeepNearBoxFunction<float> select_keep_near_box<float>();
template KeepNearBoxFunction<double> select_keep_near_box<double>();

}    // namespace gpucoord
