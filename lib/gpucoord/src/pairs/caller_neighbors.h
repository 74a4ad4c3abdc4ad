// Part of GPUCOORD, GPL-2.0. A source of pairs: the neighbor list of the caller.
//
// All atoms become points, and there is no search.

#ifndef GPUCOORD_CALLER_NEIGHBORS_H
#define GPUCOORD_CALLER_NEIGHBORS_H

#include "row_blocks.h"
#include "row_tiles.h"

#include "gpucoord/pairs.h"

#include <cstddef>
#include <deque>
#include <memory>

namespace gpucoord {

class CallerNeighbors {
 public:
  struct Settings {
    double reach;                // range plus skin, distance
    int min_threads;             // see RowTiles::pack()
    bool points_are_integers;    // as blocks need them
  };

  // The other objects must stay valid.
  CallerNeighbors(RowTiles &tiles_in, RebuildMemory &memory_in) : tiles(tiles_in), memory(memory_in)
  {
  }

  // Returns the rows of all owned atoms, of which there must be some. They are in blocks, and there
  // are no buffers, or in tiles of the first buffers. Waits for blocks. Throws DeviceError.
  DeviceRows rows(const DeviceAtoms &, const DeviceNeighbors &, const Settings &,
                  std::deque<RowBuffers> &, cudaStream_t);
  // Frees the blocks.
  void release() { blocks.reset(); }
  std::size_t bytes() const { return blocks ? blocks->bytes() : 0; }

 private:
  RowTiles &tiles;
  RebuildMemory &memory;
  std::unique_ptr<RowBlockBuilder> blocks;    // null: rows are in tiles
  int rebuilds_in_tiles = 0;                  // number of further rebuilds without blocks
};

}    // namespace gpucoord

#endif
