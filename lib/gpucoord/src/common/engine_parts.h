// Part of GPUCOORD, GPL-2.0. What every backend does on the host.

#ifndef GPUCOORD_ENGINE_PARTS_H
#define GPUCOORD_ENGINE_PARTS_H

#include "gpucoord/coordination.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace gpucoord {

// of a clock that only moves on
inline double seconds()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline void need_end(const Switch &function, const char *engine)
{
  if (!function.has_end()) throw std::invalid_argument(std::string("engine ") + engine + " needs a finite dmax");
}

// Adds s and dS/dx of its first atom to the owned atoms of the k-th pair.
inline void add_pair(const PairsInput &in, std::int64_t k, const double *sums, double *peratom)
{
  for (int side = 0; side < 2; ++side) {
    const int row = side ? in.row_b[k] : in.row_a[k];
    if (row < 0) continue;
    double *const out = peratom + 4 * static_cast<std::size_t>(row);
    out[0] += sums[0];
    for (int c = 1; c < 4; ++c) out[c] += side ? -sums[c] : sums[c];
  }
}

}    // namespace gpucoord

#endif
