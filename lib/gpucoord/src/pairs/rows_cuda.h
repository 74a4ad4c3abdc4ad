// Part of GPUCOORD, GPL-2.0. Lists of partners on the GPU, as kernels see them.
//
// Rows stand in tiles, one a warp: 'lanes' threads share the partners of an atom. A thread loads four partners at once.
//
// Very many rows stand in blocks of rows near one another instead, one a block of threads, which keeps the points of all their
// partners in shared memory. In a liquid, 256 atoms in a cube have some 1,300 points within reach, each a partner of many of
// them. Loads of points at random are what limits the kernels, and shared memory gives them faster than L1: all the more
// since a row's partners stand in such an order that eight threads that load at once mostly do so from eight different
// places of it.

#ifndef GPUCOORD_ROWS_CUDA_H
#define GPUCOORD_ROWS_CUDA_H

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace gpucoord {

constexpr int FOUR = 4, EIGHT = 8;    // partners that a thread loads at once: in tiles, in blocks
constexpr int BLOCK_ROWS = 256;       // and threads
constexpr int LINE = 4;               // points, neighbors in memory, that are loaded together
constexpr int MAX_LINES = 1024;       // of a block

struct RowBlocks {
  struct Place {
    int row;
    unsigned short count;    // partners
    unsigned short self;     // where the row's own point lies in shared memory, bytes
  };
  const Place *place;    // [n] of one block after the other
  const int *nlines;     // [blocks]
  const int *line;       // [blocks][MAX_LINES] rising: the l-th has the points from LINE * l
  int most_lines;        // of a block
  // Where the points of partners lie in shared memory, bytes: those of the t-th thread of the w-th warp of all blocks are
  // in partner[w * stride + 32 * m + t], eight after the other. null: rows stand in tiles.
  const uint4 *partner;
  std::int64_t stride;
};

inline std::size_t bytes_of_points(int nlines)
{
  return sizeof(int4) * LINE * nlines;
}

// What a kernel sees of the rows of a pair of classes.
struct DeviceRows {
  int n;                       // rows
  int nvalue;                  // the first of them, those of group a, count in S
  int lanes;                   // threads an atom, 1 to 32, a power of 2
  const int *point;            // [n]; null: the row's number
  const int *atom;             // [n] row of the caller's arrays; null: the row's number
  const int *count;            // [n] partners
  const std::int64_t *tile;    // [tiles] where the partners of a tile begin; null: every 'stride'
  std::int64_t stride;
  // The m-th four of the l-th thread of the a-th row of a tile, at tile + 32 m + a * lanes + l, has the partners
  // 4 m * lanes + l, (4 m + 1) * lanes + l and so on. What it has beyond the row's count are numbers of points, too.
  const int4 *partner;
  RowBlocks blocks;    // where it has partners, there are no tiles
};

}    // namespace gpucoord

#endif
