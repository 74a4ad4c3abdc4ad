// Part of GPUCOORD, GPL-2.0. Sums over splits: the shares of one atom's partners that several warps took.

#ifndef GPUCOORD_SPLITS_H
#define GPUCOORD_SPLITS_H

#include <cuda_runtime.h>

#include <cstddef>

namespace gpucoord {

// total[k] = the sum over splits of sums[split][k], k < n; accumulate: += that. Enqueues work only.
void add_splits(const double *sums, int splits, std::size_t n, double *total, bool accumulate,
                cudaStream_t);

}    // namespace gpucoord

#endif
