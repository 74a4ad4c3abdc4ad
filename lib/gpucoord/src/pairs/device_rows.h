// Part of GPUCOORD, GPL-2.0. Layout of partner lists on the GPU.
//
// Rows are stored in tiles, one tile per warp: 'lanes' threads share the partners of an atom. A
// thread loads four partners at once.
//
// If there are very many rows, they are stored in blocks of rows of nearby atoms instead. A thread
// block takes one block of rows and keeps the points of all its partners in shared memory. In a
// liquid, 256 atoms in a cube have some 1,300 points in reach, and each point is a partner of many
// of them. Random loads of points limit the kernels, and shared memory serves them faster than L1.
// In addition, the order of the partners of a row lets eight threads that load at once mostly read
// from eight different banks.

#ifndef GPUCOORD_DEVICE_ROWS_H
#define GPUCOORD_DEVICE_ROWS_H

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace gpucoord {

// Partners that a thread loads at once: FOUR in tiles, EIGHT in blocks.
constexpr int FOUR = 4, EIGHT = 8;
constexpr int BLOCK_ROWS = 256;    // rows and threads per block
constexpr int LINE = 4;            // contiguous points that are loaded together
constexpr int MAX_LINES = 1024;    // largest number of lines per block

struct RowBlocks {
  struct Entry {
    int row;
    unsigned short count;    // number of partners
    unsigned short self;     // offset of the row's own point in shared memory, bytes
  };
  const Entry *entries;    // [n] rows, in the order of the blocks
  const int *nlines;       // [blocks] number of lines
  // [blocks][MAX_LINES] ascending. Line l consists of the points LINE * l to LINE * l + LINE - 1.
  const int *line;
  int max_lines;    // largest number of lines of a block
  // Offsets of the partners' points in shared memory, in bytes, 16 bits each. The offsets of thread
  // t of warp w (counted over all blocks) are in partner[w * stride + 32 * m + t], eight per
  // element. null: rows are in tiles.
  const uint4 *partner;
  std::int64_t stride;
};

inline std::size_t bytes_of_points(int nlines)
{
  return sizeof(int4) * LINE * nlines;
}

// The rows of a pair of parts (resident_pairs.h), as kernels see them.
struct DeviceRows {
  int n;                       // number of rows
  int nvalue;                  // the first nvalue rows, those of group a, count in S
  int lanes;                   // threads per atom, 1 to 32, a power of 2
  const int *point;            // [n] index of the point; null: the index of the row
  const int *atom;             // [n] row of the caller's arrays; null: the index of the row
  const int *count;            // [n] number of partners
  const std::int64_t *tile;    // [tiles] offset of each tile in partner; null: tile * stride
  std::int64_t stride;
  // Element m of thread l of row a of a tile is at offset 32 m + a * lanes + l in the tile. It
  // contains the partners 4 m * lanes + l, (4 m + 1) * lanes + l and so on. Elements beyond the
  // row's count also contain valid indices of points.
  const int4 *partner;
  RowBlocks blocks;    // used if blocks.partner is set; then there are no tiles
};

}    // namespace gpucoord

#endif
