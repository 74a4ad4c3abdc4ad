// Part of GPUCOORD, GPL-2.0. Memory that the steps of a rebuild of pairs share.

#ifndef GPUCOORD_REBUILD_MEMORY_H
#define GPUCOORD_REBUILD_MEMORY_H

#include "../gpu/buffers.h"

#include <cstddef>
#include <cstdint>

namespace gpucoord {

struct RebuildMemory {
  DeviceBuffer<std::int64_t> counters;    // see pair_rebuild.cuh
  PinnedBuffer<std::int64_t> counters_host;
  DeviceBuffer<char> workspace;    // of CUB
  std::int64_t copied = 0;         // bytes between host and device

  std::size_t bytes() const { return counters.bytes() + counters_host.bytes() + workspace.bytes(); }

  // Copies the first n numbers to the host and waits.
  void wait_for_counters(int n, cudaStream_t stream)
  {
    counters_host.reserve(n);
    copied += n * static_cast<std::int64_t>(sizeof(std::int64_t));
    check(cudaMemcpyAsync(counters_host.data(), counters.data(), n * sizeof(std::int64_t),
                          cudaMemcpyDeviceToHost, stream),
          "copying data to the host");
    check(cudaStreamSynchronize(stream), "finding pairs of atoms");
  }
};

}    // namespace gpucoord

#endif
