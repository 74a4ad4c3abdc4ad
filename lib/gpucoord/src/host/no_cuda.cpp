// Part of GPUCOORD, GPL-2.0. What a build without nvcc has in place of the CUDA backend.

#include "gpucoord/coordination.h"
#include "gpucoord/multisite.h"
#include "gpucoord/potential_map.h"

namespace gpucoord {

namespace {

  constexpr char NOT_BUILT[] = "GPUCOORD was built without CUDA";

}    // namespace

CudaDevices find_cuda_devices()
{
  return {0, NOT_BUILT};
}

std::string cuda_device_name(int)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<Coordination> make_cuda_coordination(const SwitchTable &, Precision, int, int)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<Multisite> make_cuda_multisite(const MultisiteModel &, Precision, int, int)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<PotentialMap> make_cuda_potential_map(const MapOptions &, Precision, int, int, const MapBins &)
{
  throw DeviceError(NOT_BUILT);
}

}    // namespace gpucoord
