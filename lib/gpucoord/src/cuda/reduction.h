// Part of GPUCOORD, GPL-2.0. Sums over warps and over splits.

#ifndef GPUCOORD_REDUCTION_H
#define GPUCOORD_REDUCTION_H

#include "buffers.h"
#include "multisite_arguments.h"
#include "pair_arguments.h"

#include <cstddef>

namespace gpucoord {

// The sum of n > 0 of them, always in the same order. Enqueues work only.
void reduce(const WarpSums *sums, int n, WarpSums *total, DeviceBuffer<char> &workspace, cudaStream_t);
void reduce(const MoleculeSums *sums, int n, MoleculeSums *total, DeviceBuffer<char> &workspace, cudaStream_t);

// total[k] = the sum over splits of sums[split][k], k < n; accumulate: += that
void add_splits(const double *sums, int splits, std::size_t n, double *total, bool accumulate, cudaStream_t);

}    // namespace gpucoord

#endif
