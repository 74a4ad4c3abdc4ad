// Part of GPUCOORD, GPL-2.0. Sums of pairs over warps.

#ifndef GPUCOORD_PAIR_REDUCTION_H
#define GPUCOORD_PAIR_REDUCTION_H

#include "../gpu/buffers.h"
#include "pair_arguments_cuda.h"

namespace gpucoord {

// The sum of n > 0 of them, always in the same order. Enqueues work only.
void reduce(const WarpSums *sums, int n, WarpSums *total, DeviceBuffer<char> &workspace,
            cudaStream_t);

}    // namespace gpucoord

#endif
