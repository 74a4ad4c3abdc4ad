// Part of GPUCOORD, GPL-2.0. Selects the site kernels for the best instruction set.

#include "site_kernels_host.h"

#include "../core/instruction_set.h"

namespace gpucoord {

GPUCOORD_FOR_EACH_ISA(void get_site_kernels(SiteKernels<float> &);
                      void get_site_kernels(SiteKernels<double> &);)

template <class Real> SiteKernels<Real> select_site_kernels()
{
  SiteKernels<Real> kernels;
  GPUCOORD_CALL_BEST(get_site_kernels(kernels))
  return kernels;
}
template SiteKernels<float> select_site_kernels<float>();
template SiteKernels<double> select_site_kernels<double>();

}    // namespace gpucoord
