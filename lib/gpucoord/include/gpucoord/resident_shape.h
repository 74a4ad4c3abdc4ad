// Part of GPUCOORD, GPL-2.0. Radius of gyration and RMSD on a GPU.

#ifndef GPUCOORD_RESIDENT_SHAPE_H
#define GPUCOORD_RESIDENT_SHAPE_H

#include "gpucoord/export.h"
#include "gpucoord/shape.h"
#include "gpucoord/variable.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gpucoord {

// The resident form of a Shape, whose only point is a group. ids: ascending, of the atoms with the
// reference positions of RMSD. S is NaN if another atom is in the group. Throws OptionError as
// Shape does, and DeviceError.
GPUCOORD_API std::unique_ptr<ResidentMembers>
make_resident_shape(const ShapeOptions &, const std::vector<std::int64_t> &ids);

}    // namespace gpucoord

#endif
