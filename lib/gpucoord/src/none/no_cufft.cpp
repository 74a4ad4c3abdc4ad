// Part of GPUCOORD, GPL-2.0. Replaces the far field on a GPU in builds without cuFFT.

#include "gpucoord/map_far.h"

namespace gpucoord {

std::unique_ptr<FarField> make_cuda_far_field(int)
{
  throw DeviceError("GPUCOORD was built without cuFFT");
}

bool has_cuda_far_field()
{
  return false;
}

}    // namespace gpucoord
