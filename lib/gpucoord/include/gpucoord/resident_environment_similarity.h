// Part of GPUCOORD, GPL-2.0. Environment similarity (environment_similarity.h) of atoms that are
// resident on a GPU.

#ifndef GPUCOORD_RESIDENT_ENVIRONMENT_SIMILARITY_H
#define GPUCOORD_RESIDENT_ENVIRONMENT_SIMILARITY_H

#include "gpucoord/environment_similarity.h"
#include "gpucoord/export.h"
#include "gpucoord/resident_order_parameter.h"
#include "gpucoord/types.h"

#include <memory>

namespace gpucoord {

// Makes an order parameter on the current GPU. Does not use EnvironmentOptions::function. The atoms
// need types if a vector has a type; otherwise rebuild() throws std::invalid_argument. Throws
// DeviceError, EnvironmentError and AtomFunctionError.
GPUCOORD_API std::unique_ptr<ResidentOrderParameter>
make_resident_environment_similarity(const EnvironmentOptions &, Precision);

}    // namespace gpucoord

#endif
