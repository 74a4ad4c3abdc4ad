// Part of GPUCOORD, GPL-2.0. The search for partners of few atoms. It tests all pairs, without
// bins.
//
// Each candidate has one word of bits for every 32 possible partners. Launch of test_all_pairs: one
// warp per 32 candidates and word, 128 threads per block. list_partners() is called by other
// kernels. No shared memory.

#ifndef GPUCOORD_ALL_PAIRS_SEARCH_CUH
#define GPUCOORD_ALL_PAIRS_SEARCH_CUH

#include "../gpu/bins.h"
#include "../gpu/tuning.h"
#include "../gpu/warp_reduction.cuh"
#include "bin_search.cuh"

#include <cstdint>

namespace gpucoord {

// Candidates of one group and their possible partners.
struct PairMasks {
  const DeviceAtom *candidate, *other;
  int n, nother;
  int first_point;    // index of the first possible partner among the points
  Reach reach;
  std::uint32_t *word;    // [words][n]

  __host__ __device__ int words() const { return (nother + 31) / 32; }
  __host__ __device__ int chunks() const { return (n + 31) / 32; }    // chunks of 32 candidates
  // Number of threads that list the partners of a candidate.
  __host__ __device__ int lanes() const { return words() > tuning::MAX_WORDS_PER_THREAD ? 32 : 1; }
};

constexpr int MASK_THREADS = 128;

// Masks of both groups, indexed by blockIdx.y. n is 0 if there is no second group.
struct MasksOfGroups {
  PairMasks group[2];
};

// Sets the bits of all pairs. Adjacent warps load the same candidates.
static __global__ void __launch_bounds__(MASK_THREADS)
    test_all_pairs(const __grid_constant__ MasksOfGroups masks_of_groups)
{
  const PairMasks &masks = masks_of_groups.group[blockIdx.y];
  if (masks.n == 0 || masks.nother == 0) return;
  const std::int64_t warp =
      blockIdx.x * static_cast<std::int64_t>(MASK_THREADS / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int chunk = static_cast<int>(warp / masks.words()),
            w = static_cast<int>(warp % masks.words());
  if (chunk >= masks.chunks()) return;
  const int j = 32 * w + lane;
  const bool is_atom = j < masks.nother;
  const DeviceAtom other = masks.other[is_atom ? j : 0];
  const int first = 32 * chunk, end = min(32, masks.n - first);
  std::uint32_t mine = 0;
  for (int k = 0; k < end; ++k) {
    const DeviceAtom atom = masks.candidate[first + k];
    const double dx = other.x - atom.x, dy = other.y - atom.y, dz = other.z - atom.z;
    const double reach_sq = masks.reach.range ? masks.reach.squared(class_of(atom), class_of(other))
                                              : masks.reach.longest_squared();
    const bool is_partner =
        is_atom && dx * dx + dy * dy + dz * dz <= reach_sq && other.id != atom.id;
    const std::uint32_t word = __ballot_sync(ALL_LANES, is_partner);
    if (k == lane) mine = word;
  }
  if (lane < end) masks.word[static_cast<std::int64_t>(w) * masks.n + first + lane] = mine;
}

// Calls f(k, index of the point) for each partner k of a candidate. Returns the number of partners.
// lanes() lanes of a warp share a candidate. All lanes of a warp must call this function.
template <class F> __device__ int list_partners(const PairMasks &masks, int candidate, F f)
{
  const int lanes = masks.lanes(), lane = threadIdx.x % lanes, words = masks.words();
  int found = 0;
  for (int begin = 0; begin < words; begin += lanes) {
    const int w = begin + lane;
    std::uint32_t word = 0;
    if (candidate < masks.n && w < words)
      word = masks.word[static_cast<std::int64_t>(w) * masks.n + candidate];
    int before = 0, all = __popc(word);
    if (lanes > 1) before = add_lanes_before(all, all);
    for (int k = found + before; word != 0; word &= word - 1, ++k)
      f(k, masks.first_point + 32 * w + __ffs(static_cast<int>(word)) - 1);
    found += all;
  }
  return found;
}

}    // namespace gpucoord

#endif
