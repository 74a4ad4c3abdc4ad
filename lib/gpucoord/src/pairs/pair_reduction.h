// Part of GPUCOORD, GPL-2.0. Sums of WarpSums over all warps.

#ifndef GPUCOORD_PAIR_REDUCTION_H
#define GPUCOORD_PAIR_REDUCTION_H

#include "../gpu/buffers.h"
#include "pair_arguments_cuda.h"

namespace gpucoord {

// Sums n > 0 elements, always in the same order. Only enqueues work.
void reduce(const WarpSums *sums, int n, WarpSums *total, DeviceBuffer<char> &workspace,
            cudaStream_t);

}    // namespace gpucoord

#endif
