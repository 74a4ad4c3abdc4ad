// Part of GPUCOORD, GPL-2.0. Lists partners within one range.

#include "partners_in_range.cuh"

namespace gpucoord {

void list_partners_within(const PartnersWithin<float> &arg, cudaStream_t stream)
{
  launch_listing<OneRange<float, PartnersWithin<float>>>(arg, stream);
}
void list_partners_within(const PartnersWithin<double> &arg, cudaStream_t stream)
{
  launch_listing<OneRange<double, PartnersWithin<double>>>(arg, stream);
}

}    // namespace gpucoord
