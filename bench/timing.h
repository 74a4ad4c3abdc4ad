// Part of GPUCOORD, GPL-2.0. Times of benchmarks.

#ifndef GPUCOORD_BENCH_TIMING_H
#define GPUCOORD_BENCH_TIMING_H

#include <algorithm>
#include <chrono>
#include <vector>

inline double median(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Returns the milliseconds of work().
template <class Work> double milliseconds(const Work &work)
{
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

#endif
