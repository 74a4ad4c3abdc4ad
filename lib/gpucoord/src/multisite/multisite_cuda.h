// Part of GPUCOORD, GPL-2.0. An overload that selects the processor, for tests and benchmarks.

#ifndef GPUCOORD_MULTISITE_CUDA_H
#define GPUCOORD_MULTISITE_CUDA_H

#include "../gpu/cuda_tuning.h"

#include "gpucoord/multisite.h"

#include <memory>

namespace gpucoord {

struct MultisiteTuning : CudaTuning {    // AUTO: a warp
  // Use the kernels for any number of sites even if there is a specialized kernel.
  bool any_sites = false;
};

GPUCOORD_TEST_API std::unique_ptr<Multisite> make_cuda_multisite(const MultisiteModel &, Precision,
                                                                 int device, int nthreads,
                                                                 const MultisiteTuning &);

}    // namespace gpucoord

#endif
