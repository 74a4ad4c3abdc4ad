// Part of GPUCOORD, GPL-2.0. Selects the map kernels for the best instruction set.

#include "map_kernels_host.h"

#include "../core/instruction_set.h"

namespace gpucoord {

GPUCOORD_FOR_EACH_ISA(void get_map_kernels(const MapOptions &, Precision, MapKernels<float> &);
                      void get_map_kernels(const MapOptions &, Precision, MapKernels<double> &);)

template <class Real>
MapKernels<Real> select_map_kernels(const MapOptions &options, Precision precision)
{
  MapKernels<Real> kernels;
  GPUCOORD_CALL_BEST(get_map_kernels(options, precision, kernels))
  return kernels;
}
template MapKernels<float> select_map_kernels<float>(const MapOptions &, Precision);
template MapKernels<double> select_map_kernels<double>(const MapOptions &, Precision);

}    // namespace gpucoord
