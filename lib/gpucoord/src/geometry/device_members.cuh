// Part of GPUCOORD, GPL-2.0. Weights and positions of members in kernels.

#ifndef GPUCOORD_DEVICE_MEMBERS_CUH
#define GPUCOORD_DEVICE_MEMBERS_CUH

#include "geometry_formulas.h"

#include "../gpu/positions.cuh"

#include "gpucoord/variable.h"

namespace gpucoord {

__device__ inline double weight_of(const DeviceMembers &members, bool by_mass, int row)
{
  if (!by_mass) return 1.0;
  const int k = members.mass_is_by_type ? members.atoms.type[row] : row;
  return members.mass_is_float ? static_cast<const float *>(members.mass)[k]
                               : static_cast<const double *>(members.mass)[k];
}

__device__ inline bool has_flag_at_limit(const ImageFlags &image, int row)
{
  const int end = 1 << (image.bits - 1);
  for (int axis = 0; axis < 3 && image.packed; ++axis) {
    const int flag = image_flag(image, row, axis);
    if (flag >= end - 1 || flag <= -end) return true;
  }
  return false;
}

// Sets the position of an atom relative to the reference of a point. It is NaN if an image flag has
// reached its limit.
template <class X>
__device__ void find_member(const X *x, const GeometryBox &box, Unwrap unwrap,
                            const ImageFlags &image, int row, const double *reference, double *d)
{
  const double3 p = position_of(x, row);
  const double at[3] = {p.x, p.y, p.z};
  relative_position(box, unwrap, at, image, row, reference, d);
  if (unwrap == Unwrap::IMAGE && has_flag_at_limit(image, row)) d[0] = nan("");
}

}    // namespace gpucoord

#endif
