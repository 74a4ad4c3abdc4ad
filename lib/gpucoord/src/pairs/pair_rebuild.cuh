// Part of GPUCOORD, GPL-2.0. Shared by the files that select atoms (resident_pairs.cu) and list
// their partners (pair_rows.cu).

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

  // Indices of the numbers that a rebuild counts on the device. LO, HI: bounds of the positions.
  // OVERLAP: owned atoms in both groups. ROWS: candidates with partners. ROWS_A: those in group a.
  // PARTNERS: partners of all atoms. MOST: most partners of one atom. From LISTS on, each list of
  // atoms has two numbers: all atoms, and owned atoms.
  enum { LO, HI = LO + 3, OVERLAP = HI + 3, ROWS, ROWS_A, PARTNERS, MOST, LISTS };

}    // namespace pair_rebuild
}    // namespace gpucoord

#endif
