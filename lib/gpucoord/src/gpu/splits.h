// Part of GPUCOORD, GPL-2.0. Sums over splits. A split is one warp's share of the partners of an
// atom.

#ifndef GPUCOORD_SPLITS_H
#define GPUCOORD_SPLITS_H

#include <cuda_runtime.h>

#include <cstddef>

namespace gpucoord {

// Sets total[k] to the sum of sums[split][k] over the splits, k < n. accumulate: adds the sum to
// total[k] instead. Only enqueues work.
void add_splits(const double *sums, int splits, std::size_t n, double *total, bool accumulate,
                cudaStream_t);

}    // namespace gpucoord

#endif
