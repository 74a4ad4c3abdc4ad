// Part of GPUCOORD, GPL-2.0. Tuning parameters, measured on one H200 unless stated otherwise.

#ifndef GPUCOORD_TUNING_H
#define GPUCOORD_TUNING_H

#include <cstdint>

namespace gpucoord {
namespace tuning {

  // Columns of the bins are as wide as a cube that contains this number of atoms at the mean
  // density, so that consecutive atoms fill a compact block.
  constexpr double ATOMS_PER_BLOCK = 48.0;
  // Limits of the column width, in units of the range. The minimum is a little above 1/5, so that a
  // neighborhood reaches 5 columns in each direction.
  constexpr double MIN_COLUMN_WIDTH = 0.2001, MAX_COLUMN_WIDTH = 2.0;
  constexpr int X_CELLS_PER_WIDTH = 8;    // cells along x per column width
  // Starts of cells are stored if there are at most this many cells per atom.
  constexpr int MAX_CELLS_PER_ATOM = 8;
  // Partners per tile. Small, so that small systems have work for many blocks.
  constexpr int ALL_PAIRS_TILE = 32;
  // The partners of a block of atoms are split over several warps until there are this many warps.
  // It is the same for all GPUs, because the bits of the results depend on it.
  constexpr int TARGET_WARPS = 4096;
  constexpr int MAX_SPLITS = 64, MAX_SPLITS_ALL_PAIRS = 256;
  // Number of partners collected in shared memory before they are summed: for a cheap formula, and
  // for a formula that is evaluated for selected partners in float and in double.
  constexpr int PARTNERS_CHEAP = 128, PARTNERS_SELECT_FLOAT = 512, PARTNERS_SELECT_DOUBLE = 256;
  // The same for partners with weights: four warps then take less than 48 KiB of shared memory.
  constexpr int PARTNERS_SELECT_FLOAT_WEIGHTED = 448;
  // Number of atoms that a thread loads before it tests them, to hide latency.
  constexpr int LOADS_AT_ONCE = 2;
  // Column width for the search of partner lists, in units of the range.
  constexpr double LIST_COLUMN_WIDTH = 0.5001;
  // Up to this number of pairs of atoms, in range or not, the search of partner lists tests all
  // pairs. This is faster than using bins (doc/dev/kernel-notes.md, H100).
  constexpr double MAX_TESTED_PAIRS = 64e6;
  // Up to this number of 32-bit words, a single thread lists the partners of an atom; above it, a
  // warp.
  constexpr int MAX_WORDS_PER_THREAD = 16;
  // Several threads share the partners of an atom until there are TARGET_THREADS threads, each with
  // at least MIN_PARTNERS partners. The larger blocks of functions between classes need more
  // threads to use all multiprocessors.
  constexpr int TARGET_THREADS = 60000, TARGET_CLASS_THREADS = 80000, MIN_PARTNERS = 4;
  constexpr int TARGET_ORDER_THREADS = 1 << 16;
  // If at least this fraction of atoms has partners, the lists are used in place, with empty lists
  // for the other atoms.
  constexpr double ROWS_IN_PLACE = 0.9;
  // Memory for partner lists counts as wasteful above both limits: MIN_WASTEFUL_ROOM entries in
  // total, and ROOM_PER_PARTNER entries per partner.
  constexpr std::int64_t MIN_WASTEFUL_ROOM = 1 << 24, ROOM_PER_PARTNER = 4;
  // With at least this many rows, and this many partners per row on average, the points of the
  // partners are kept in shared memory if the GPU has enough of it. If the points do not fit, the
  // next attempt follows after LISTS_BEFORE_BLOCKS_AGAIN rebuilds.
  constexpr int MIN_ROWS_IN_BLOCKS = 1 << 17;
  constexpr double MIN_PARTNERS_IN_BLOCKS = 24.0;
  constexpr int LISTS_BEFORE_BLOCKS_AGAIN = 50;
  // Largest number of blocks of kernels over lists. It is the same for all GPUs; see TARGET_WARPS.
  constexpr int MAX_KERNEL_BLOCKS = 4096;
  // Blocks of 128 threads per multiprocessor that limit the registers of the molecule kernels.
  constexpr int MOLECULE_BLOCKS_FLOAT = 3, MOLECULE_BLOCKS_DOUBLE = 2;
  // Rigid molecules: the partners are split until there are TARGET_MOLECULE_WARPS warps, each
  // with at least MIN_MOLECULES_PER_WARP partners. One pass collects MOLECULES_PER_PASS partners,
  // about one batch. There are at most MAX_PASSES passes.
  constexpr int TARGET_MOLECULE_WARPS = 1 << 14;
  constexpr double MIN_MOLECULES_PER_WARP = 128.0, MOLECULES_PER_PASS = 440.0;
  constexpr int MAX_PASSES = 32;
  // Number of atoms copied at a time, so that copies and host work overlap.
  constexpr int COPY_CHUNK = 1 << 17;

}    // namespace tuning
}    // namespace gpucoord

#endif
