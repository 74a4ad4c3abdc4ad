// Part of GPUCOORD, GPL-2.0. A monotonic clock.

#ifndef GPUCOORD_CLOCK_H
#define GPUCOORD_CLOCK_H

#include <chrono>

namespace gpucoord {

// Returns the seconds of a monotonic clock.
inline double seconds()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}    // namespace gpucoord

#endif
