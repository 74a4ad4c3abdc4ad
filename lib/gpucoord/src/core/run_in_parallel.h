// Part of GPUCOORD, GPL-2.0. Parallel loops whose exceptions reach the caller.

#ifndef GPUCOORD_RUN_IN_PARALLEL_H
#define GPUCOORD_RUN_IN_PARALLEL_H

#include <atomic>
#include <cstdint>
#include <exception>

namespace gpucoord {

// Runs work(k) for k < n in parallel. Rethrows an exception of work. No work starts after an
// exception, because the memory of its thread may be incomplete.
template <class Work> void run_in_parallel(std::int64_t n, int threads, Work work)
{
  std::exception_ptr failure;    // e.g. std::bad_alloc; must not leave the parallel region
  std::atomic<bool> has_failed(false);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (std::int64_t k = 0; k < n; ++k) {
    if (has_failed) continue;
    try {
      work(k);
    } catch (...) {
      has_failed = true;
#pragma omp critical
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}    // namespace gpucoord

#endif
