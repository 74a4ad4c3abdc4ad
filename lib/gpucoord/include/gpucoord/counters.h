// Part of GPUCOORD, GPL-2.0. Counters of evaluations, kernel launches, waits and copies, for
// debugging. Without the CMake option GPUCOORD_COUNTERS, the macros expand to nothing.

#ifndef GPUCOORD_COUNTERS_H
#define GPUCOORD_COUNTERS_H

#if defined(GPUCOORD_COUNTERS)

#include "export.h"

#include <cstdint>

namespace gpucoord {

// In the same order as the names in counters.cpp.
enum class Counter {
  COORDINATION_HOST,
  COORDINATION_CUDA,
  DEVICE_COORDINATION,
  MAP_HOST,
  MAP_CUDA,
  DEVICE_MAP,
  FAR_FIELD_CUDA,
  MOLECULES_HOST,
  MOLECULES_CUDA,
  DEVICE_MOLECULES,
  RESTRAINTS,
  METADYNAMICS,
  DEVICE_BIAS,
  KERNEL_LAUNCHES,
  STREAM_WAITS,
  EVENT_WAITS,
  DEVICE_WAITS,
  BLOCKING_COPIES,
  BYTES_TO_DEVICE,
  BYTES_TO_HOST,
  NUMBER_OF_COUNTERS
};

// Thread-safe.
GPUCOORD_API void count(Counter, std::int64_t n = 1);
// Begins a timestep. Later counts belong to it.
GPUCOORD_API void count_timestep(std::int64_t step);

}    // namespace gpucoord

#define GPUCOORD_COUNT(counter) gpucoord::count(gpucoord::Counter::counter)
#define GPUCOORD_COUNT_TIMESTEP(step) gpucoord::count_timestep(step)

#else

#define GPUCOORD_COUNT(counter) static_cast<void>(0)
#define GPUCOORD_COUNT_TIMESTEP(step) static_cast<void>(0)

#endif

#endif
