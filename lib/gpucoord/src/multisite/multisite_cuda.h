// Part of GPUCOORD, GPL-2.0. An overload that selects the kernels, for tests and benchmarks.

#ifndef GPUCOORD_MULTISITE_CUDA_H
#define GPUCOORD_MULTISITE_CUDA_H

#include "gpucoord/multisite.h"

#include <memory>

namespace gpucoord {

struct MultisiteTuning {
  // Use the kernels for any number of sites even if there is a specialized kernel.
  bool any_sites = false;
  // Warps per block, 1 to 4. Results are bitwise independent of this number.
  int warps_per_block = 4;
};

GPUCOORD_TEST_API std::unique_ptr<Multisite> make_cuda_multisite(const MultisiteModel &, Precision,
                                                                 int device, int nthreads,
                                                                 const MultisiteTuning &);

}    // namespace gpucoord

#endif
