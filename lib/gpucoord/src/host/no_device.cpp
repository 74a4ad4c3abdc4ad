// Part of GPUCOORD, GPL-2.0. A build without CUDA leaves no atoms on a GPU.

#include "gpucoord/device_coordination.h"
#include "gpucoord/device_map.h"
#include "gpucoord/device_multisite.h"

namespace gpucoord {

namespace {

  constexpr char NOT_BUILT[] = "GPUCOORD was built without CUDA";

}    // namespace

std::shared_ptr<DevicePairs> make_device_pairs(const SwitchTable &, Precision, const double *)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<DeviceCoordination> make_device_coordination(const SwitchTable &, Precision, std::shared_ptr<DevicePairs>)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<DeviceBias> make_device_bias()
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<DevicePotentialMap> make_device_potential_map(const MapOptions &, Precision, const MapBins &)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<DeviceMultisite> make_device_multisite(const MultisiteModel &, const std::vector<int> &, Precision)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<DeviceAxes> make_device_axes(const std::vector<int> &)
{
  throw DeviceError(NOT_BUILT);
}

}    // namespace gpucoord
