// Part of GPUCOORD, GPL-2.0. Overloads with the launch parameters of the CUDA backend, for tests
// and benchmarks.

#ifndef GPUCOORD_COORDINATION_CUDA_H
#define GPUCOORD_COORDINATION_CUDA_H

#include "../gpu/cuda_tuning.h"

#include "gpucoord/coordination.h"
#include "gpucoord/resident_coordination.h"

#include <memory>

namespace gpucoord {

GPUCOORD_TEST_API std::unique_ptr<Coordination> make_cuda_coordination(const SwitchTable &,
                                                                       Precision, int device,
                                                                       int nthreads,
                                                                       const CudaTuning &);
std::unique_ptr<ResidentCoordination> make_resident_coordination(const SwitchTable &, Precision,
                                                                 std::shared_ptr<ResidentPairs>,
                                                                 const CudaTuning &);

}    // namespace gpucoord

#endif
