// Part of GPUCOORD, GPL-2.0. Replaces the CUDA backend in builds without nvcc: finds no GPU, and
// the make functions throw DeviceError.

#include "gpucoord_order_parameters.h"

#include "../order/order_cuda.h"

#include "gpucoord/coordination.h"
#include "gpucoord/multisite.h"
#include "gpucoord/potential_map.h"
#include "gpucoord/resident_atoms.h"
#include "gpucoord/resident_bias.h"
#include "gpucoord/resident_coordination.h"
#include "gpucoord/resident_expression.h"
#include "gpucoord/resident_forces.h"
#include "gpucoord/resident_function.h"
#include "gpucoord/resident_geometry.h"
#include "gpucoord/resident_map.h"
#include "gpucoord/resident_multisite.h"
#include "gpucoord/resident_shape.h"
#include "gpucoord/side_stream.h"

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

std::unique_ptr<PotentialMap> make_cuda_potential_map(const MapOptions &, Precision, int, int,
                                                      const MapBins &)
{
  throw DeviceError(NOT_BUILT);
}

std::shared_ptr<ResidentPairs> make_resident_pairs(const SwitchTable &, Precision, const double *)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<ResidentCoordination> make_resident_coordination(const SwitchTable &, Precision,
                                                                 std::shared_ptr<ResidentPairs>)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<PairPass> make_resident_pair_pass(const SwitchTable &, Precision,
                                                  std::shared_ptr<ResidentPairs>)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<ResidentAtoms> make_resident_atoms()
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<ResidentForces> make_resident_forces()
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<SideStream> make_side_stream()
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<ResidentBias> make_resident_bias()
{
  throw DeviceError(NOT_BUILT);
}

bool can_be_resident(const AtomFunctionOptions &)
{
  return false;
}

std::unique_ptr<ResidentFunction> make_resident_function(const AtomFunctionOptions &, Precision)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<OrderParameter> make_order_on_cuda(OrderOnCuda, int, int)
{
  throw DeviceError(NOT_BUILT);
}

#define GPUCOORD_ORDER_PARAMETER(FOLDER, NAME, STYLE, TEXT, EXAMPLE, OPTIONS)             \
  std::unique_ptr<ResidentOrderParameter> make_resident_order(const OPTIONS &, Precision) \
  {                                                                                       \
    throw DeviceError(NOT_BUILT);                                                         \
  }
#include "gpucoord/order_parameters.def"

std::unique_ptr<ResidentExpression>
make_resident_expression(const std::string &, const std::vector<std::string> &, Period)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<ResidentMembers> make_resident_geometry(const GeometryOptions &)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<ResidentMembers> make_resident_shape(const ShapeOptions &,
                                                     const std::vector<std::int64_t> &)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<ResidentPotentialMap> make_resident_potential_map(const MapOptions &, Precision,
                                                                  const MapBins &)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<ResidentMultisite> make_resident_multisite(const MultisiteModel &,
                                                           const std::vector<int> &, Precision)
{
  throw DeviceError(NOT_BUILT);
}

std::unique_ptr<ResidentAxes> make_resident_axes(const std::vector<int> &)
{
  throw DeviceError(NOT_BUILT);
}

}    // namespace gpucoord
