// Part of GPUCOORD, GPL-2.0. Sums over splits.
//
// Launch of sum_splits: one thread per element, 256 threads per block, no shared memory.

#include "splits.h"

#include "cuda_error.h"

namespace gpucoord {

namespace {

  constexpr int THREADS = 256;

  __global__ void sum_splits(const double *sums, int splits, std::size_t n, double *total,
                             bool accumulate)
  {
    const std::size_t k = static_cast<std::size_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (k >= n) return;
    double sum = accumulate ? total[k] : 0.0;
    for (int split = 0; split < splits; ++split) sum += sums[split * n + k];
    total[k] = sum;
  }

}    // namespace

void add_splits(const double *sums, int splits, std::size_t n, double *total, bool accumulate,
                cudaStream_t stream)
{
  sum_splits<<<static_cast<unsigned>((n + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
      sums, splits, n, total, accumulate);
  check(cudaGetLastError(), "launching sum_splits");
}

}    // namespace gpucoord
