// Part of GPUCOORD, GPL-2.0. Rows of partners in tiles (device_rows.h), from any source of pairs.

#ifndef GPUCOORD_ROW_TILES_H
#define GPUCOORD_ROW_TILES_H

#include "../gpu/buffers.h"
#include "device_rows.h"
#include "rebuild_memory.h"

#include "gpucoord/pairs.h"

#include <cstddef>
#include <cstdint>

namespace gpucoord {

struct FoundRows;

// Buffers of the rows of a pair of parts.
struct RowBuffers {
  std::size_t nelements = 0;    // number of elements of partner
  DeviceBuffer<int> point, atom, count;
  DeviceBuffer<int4> partner;
  DeviceBuffer<std::int64_t> tile;

  std::size_t bytes() const
  {
    return point.bytes() + atom.bytes() + count.bytes() + partner.bytes() + tile.bytes();
  }
};

class RowTiles {
 public:
  explicit RowTiles(RebuildMemory &memory_in) : memory(memory_in) {}

  // Packs the rows of a search. partners: those of the search, which may be swapped into the
  // buffers. min_threads: smallest number of threads that fills the GPU. Waits if tiles differ in
  // size.
  DeviceRows pack(const FoundRows &, DeviceBuffer<int4> &partners, int min_threads, RowBuffers &,
                  cudaStream_t);
  // Copies the rows of the first n atoms from a neighbor list of the caller. Tiles have room for
  // the capacity of the list, so there is no wait.
  DeviceRows copy(const DeviceNeighbors &, int n, int min_threads, RowBuffers &, cudaStream_t);
  std::size_t bytes() const { return active.bytes(); }

 private:
  struct Shape;
  DeviceRows compact(const FoundRows &, const Shape &, RowBuffers &, cudaStream_t);
  void fill(const FoundRows &, const Shape &, RowBuffers &, DeviceRows &, cudaStream_t);

  RebuildMemory &memory;
  DeviceBuffer<int> active;    // candidates that are rows
};

}    // namespace gpucoord

#endif
