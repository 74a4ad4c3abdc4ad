// Part of GPUCOORD, GPL-2.0. The result of a search for partners (pair_search.h), before it is
// packed into tiles (row_tiles.h).

#ifndef GPUCOORD_FOUND_ROWS_CUH
#define GPUCOORD_FOUND_ROWS_CUH

#include "../gpu/tuning.h"
#include "bin_search.cuh"
#include "device_rows.h"

#include <climits>
#include <cstdint>

namespace gpucoord {

// Memory for the partners of candidates, in groups of four. Either tiles with rows of equal length,
// or rows at the positions in offset.
struct Room {
  int4 *partner;
  int capacity;                  // partners per row, a multiple of 4
  const std::int64_t *offset;    // [candidates] start of the row, in int4; null: tiles
  __device__ int4 *four(int t, int c) const
  {
    if (offset) return partner + offset[t] + c;
    return partner + (static_cast<std::int64_t>(t / 32) * (capacity / FOUR) + c) * 32 + t % 32;
  }
  __device__ int &partner_of(int t, int k) const
  {
    return reinterpret_cast<int *>(four(t, k / FOUR))[k % FOUR];
  }
  __device__ int length() const { return offset ? INT_MAX : capacity; }
};

// Returns whether rows of equal length waste memory. room, partners: numbers of partners
inline bool is_wasteful(std::int64_t room, std::int64_t partners)
{
  return room > tuning::MIN_WASTEFUL_ROOM && room > tuning::ROOM_PER_PARTNER * partners;
}

// The rows of a pair of parts.
struct FoundRows {
  Candidates candidates;
  const int *candidate_count;    // [candidates.n] number of partners
  Room room;
  int n = 0, na = 0;    // number of rows, and of those of group a
  int max_partners;     // most partners of one row
  std::int64_t npairs;
};

}    // namespace gpucoord

#endif
