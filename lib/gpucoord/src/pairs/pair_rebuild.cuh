// Part of GPUCOORD, GPL-2.0. Definitions shared by the files that select atoms (atom_lists.cu),
// find their partners (pair_search.cu) and pack these into tiles (row_tiles.cu).

#ifndef GPUCOORD_PAIR_REBUILD_CUH
#define GPUCOORD_PAIR_REBUILD_CUH

#include <cstdint>

namespace gpucoord {
namespace pair_rebuild {

  constexpr int THREADS = 256;

  inline unsigned blocks_of(std::int64_t n)
  {
    return static_cast<unsigned>((n + THREADS - 1) / THREADS);
  }

  __device__ inline int thread_number()
  {
    return blockIdx.x * THREADS + threadIdx.x;
  }

  // Indices of the numbers that a rebuild computes on the device. LO, HI: bounds of the positions.
  // OVERLAP: number of owned atoms in both groups. ROWS: number of candidates with partners.
  // ROWS_A: those in group a. PARTNERS: number of partners of all atoms. MAX_PARTNERS: largest
  // number of partners of one atom. LISTS: first index of the lists of atoms; each list has two
  // numbers, all atoms and owned atoms.
  enum { LO, HI = LO + 3, OVERLAP = HI + 3, ROWS, ROWS_A, PARTNERS, MAX_PARTNERS, LISTS };

}    // namespace pair_rebuild
}    // namespace gpucoord

#endif
