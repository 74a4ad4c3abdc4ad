// Part of GPUCOORD, GPL-2.0. Distances, angles, dihedrals and centers on a GPU.

#ifndef GPUCOORD_RESIDENT_GEOMETRY_H
#define GPUCOORD_RESIDENT_GEOMETRY_H

#include "gpucoord/export.h"
#include "gpucoord/geometry.h"
#include "gpucoord/variable.h"

#include <memory>

namespace gpucoord {

// The resident form of a Geometry. Throws OptionError as Geometry does, and DeviceError.
GPUCOORD_API std::unique_ptr<ResidentMembers> make_resident_geometry(const GeometryOptions &);

}    // namespace gpucoord

#endif
