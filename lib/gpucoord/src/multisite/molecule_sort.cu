// Part of GPUCOORD, GPL-2.0. Sorts orientations in the order of the sorted molecules.
//
// Launch: one thread per molecule, 256 threads per block; no shared memory.

#include "multisite_arguments_cuda.h"

namespace gpucoord {

namespace {

  constexpr int THREADS = 256;

  template <class Real>
  __global__ void gather_orientations(const double *quaternion, const int *caller_index, int n,
                                      Four<Real> *to)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= n) return;
    const double *const q = quaternion + 4 * static_cast<std::size_t>(caller_index[k]);
    to[k] = {static_cast<Real>(q[1]), static_cast<Real>(q[2]), static_cast<Real>(q[3]),
             static_cast<Real>(q[0])};
  }

}    // namespace

template <class Real>
void sort_orientations(const double *quaternion, const SortedAtoms &sorted, Four<Real> *orientation,
                       cudaStream_t stream)
{
  gather_orientations<<<(sorted.n + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
      quaternion, sorted.caller_index, sorted.n, orientation);
  check(cudaGetLastError(), "launching gather_orientations");
}

template void sort_orientations(const double *, const SortedAtoms &, Four<float> *, cudaStream_t);
template void sort_orientations(const double *, const SortedAtoms &, Four<double> *, cudaStream_t);

}    // namespace gpucoord
