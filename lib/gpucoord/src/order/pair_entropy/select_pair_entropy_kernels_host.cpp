// Part of GPUCOORD, GPL-2.0. Selects the kernels of the pair entropy for the best instruction set.

#include "pair_entropy_kernels_host.h"

#include "../../core/instruction_set.h"

namespace gpucoord {

GPUCOORD_FOR_EACH_ISA(void get_pair_entropy_kernels(PairEntropyKernels<float> &);
                      void get_pair_entropy_kernels(PairEntropyKernels<double> &);)

template <class Real> PairEntropyKernels<Real> select_pair_entropy_kernels()
{
  PairEntropyKernels<Real> kernels;
  GPUCOORD_CALL_BEST(get_pair_entropy_kernels(kernels))
  return kernels;
}
template PairEntropyKernels<float> select_pair_entropy_kernels<float>();
template PairEntropyKernels<double> select_pair_entropy_kernels<double>();

}    // namespace gpucoord
