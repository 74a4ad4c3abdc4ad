// Part of GPUCOORD, GPL-2.0. What a build without cuFFT has in place of far fields on a GPU.

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
