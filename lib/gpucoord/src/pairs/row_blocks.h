// Part of GPUCOORD, GPL-2.0. Rows in blocks (rows_cuda.h), made of a neighbor list of the caller.

#ifndef GPUCOORD_ROW_BLOCKS_H
#define GPUCOORD_ROW_BLOCKS_H

#include "../gpu/buffers.h"
#include "rows_cuda.h"

#include "gpucoord/pairs.h"

#include <cstddef>

namespace gpucoord {

class RowBlockBuilder {
 public:
  // Whether blocks are worth it for so many rows, each with no more than so many partners and with about so many on average,
  // and may fit into the shared memory of this GPU.
  static bool are_for(int nrows, int npoints, int most_partners, double mean_partners);
  // Rows are the owned atoms, points all atoms. reach: of partners, distance. Waits. Without partners where points of a block
  // are too many: because the order of atoms is not that of space, or some are crowded.
  RowBlocks build(const DeviceAtoms &, const DeviceNeighbors &, double reach, cudaStream_t);
  std::size_t bytes() const;

 private:
  void sort(const DeviceAtoms &, double reach, cudaStream_t);

  DeviceBuffer<unsigned> keys, keys_sorted;
  DeviceBuffer<int> numbers, order;
  DeviceBuffer<char> workspace;
  DeviceBuffer<RowBlocks::Place> place;
  DeviceBuffer<int> nlines, line, most;
  DeviceBuffer<uint4> partner;
  PinnedBuffer<int> most_host;
};

}    // namespace gpucoord

#endif
