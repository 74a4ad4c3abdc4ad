// Part of GPUCOORD, GPL-2.0. Rows of atoms that are near one another, for kernels that keep all points of their partners
// in shared memory.
//
// 256 atoms of a liquid in a cube have some 2,000 points within reach, each a partner of many of them. Loads of points at
// random are what limits the kernel over lists, and shared memory gives them faster than L1: all the more since a row's
// partners stand in such an order that eight threads that load at once do so from eight different places of it.

#ifndef GPUCOORD_ROW_BLOCKS_H
#define GPUCOORD_ROW_BLOCKS_H

#include "buffers.h"

#include "gpucoord/device_coordination.h"

#include <cstdint>

namespace gpucoord {

constexpr int BLOCK_ROWS = 256;    // and threads
constexpr int LINE = 4;            // points, neighbours in memory, that are loaded together
constexpr int MAX_LINES = 1024;    // of a block
constexpr int EIGHT = 8;           // partners that a thread loads at once

inline std::size_t bytes_of_points(int nlines)
{
  return sizeof(int4) * LINE * nlines;
}

// What a kernel sees of them.
struct RowBlocks {
  struct Place {
    int row;
    unsigned short count;          // partners
    unsigned short self;           // where the row's own point lies in shared memory, bytes
  };
  const Place *place;              // [n] of one block after the other
  const int *nlines;               // [blocks]
  const int *line;                 // [blocks][MAX_LINES] rising: the l-th has the points from LINE * l
  int most_lines;                  // of a block
  // Where the points of partners lie in shared memory, bytes: those of the t-th thread of the w-th warp of all blocks are
  // in partner[w * stride + 32 * m + t], eight after the other. null: rows stand in tiles instead.
  const uint4 *partner;
  std::int64_t stride;
};

class DeviceRowBlocks {
 public:
  // Whether so many rows, each with at most so many partners and on average about so many, are worth it and may fit.
  bool take(int nrows, int npoints, int most_partners, double mean_partners) const;
  // Makes them of neighbours of owned atoms, all of which are rows; points are atoms. Waits, and says whether no block has
  // more points than there is room for. reach: of partners, distance
  bool build(const DeviceAtoms &, const DeviceNeighbours &, double reach, RowBlocks &, cudaStream_t);
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
