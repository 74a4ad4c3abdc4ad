// Part of GPUCOORD, GPL-2.0. Rows in blocks (device_rows.h), built from a neighbor list of the
// caller.

#ifndef GPUCOORD_ROW_BLOCKS_H
#define GPUCOORD_ROW_BLOCKS_H

#include "../gpu/buffers.h"
#include "device_rows.h"

#include "gpucoord/pairs.h"

#include <cstddef>

namespace gpucoord {

class RowBlockBuilder {
 public:
  // Returns whether blocks are worthwhile for this number of rows, and may fit into the shared
  // memory of the current GPU. max_partners, mean_partners: largest and mean number of partners
  // per row
  static bool are_for(int nrows, int npoints, int max_partners, double mean_partners);
  // Builds blocks. Rows are the owned atoms, and points are all atoms. reach: range plus skin,
  // distance. Waits. 'partner' of the result is null if a block needs too many points: the atoms
  // are not ordered in space, or some are crowded. Throws DeviceError.
  RowBlocks build(const DeviceAtoms &, const DeviceNeighbors &, double reach, cudaStream_t);
  std::size_t bytes() const;

 private:
  void sort(const DeviceAtoms &, double reach, cudaStream_t);

  DeviceBuffer<unsigned> keys, keys_sorted;
  DeviceBuffer<int> indices, order;
  DeviceBuffer<char> workspace;
  DeviceBuffer<RowBlocks::Entry> entries;
  DeviceBuffer<int> nlines, line, max_lines;
  DeviceBuffer<uint4> partner;
  PinnedBuffer<int> max_lines_host;
};

}    // namespace gpucoord

#endif
