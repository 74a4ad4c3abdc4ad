// Part of GPUCOORD, GPL-2.0. Selects the kernels of environment similarity for the best instruction
// set.

#include "environment_kernels_host.h"

#include "../../core/instruction_set.h"

namespace gpucoord {

GPUCOORD_FOR_EACH_ISA(void get_environment_kernels(EnvironmentKernels<float> &);
                      void get_environment_kernels(EnvironmentKernels<double> &);)

template <class Real> EnvironmentKernels<Real> select_environment_kernels()
{
  EnvironmentKernels<Real> kernels;
  GPUCOORD_CALL_BEST(get_environment_kernels(kernels))
  return kernels;
}
template EnvironmentKernels<float> select_environment_kernels<float>();
template EnvironmentKernels<double> select_environment_kernels<double>();

}    // namespace gpucoord
