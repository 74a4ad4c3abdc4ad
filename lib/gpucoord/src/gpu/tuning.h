// Part of GPUCOORD, GPL-2.0. Numbers that were chosen by measurement on one H200.

#ifndef GPUCOORD_TUNING_H
#define GPUCOORD_TUNING_H

#include <cstdint>

namespace gpucoord {
namespace tuning {

  // Columns of the bins are as wide as a cube of so many atoms at the mean density, so that
  // consecutive atoms fill a compact block.
  constexpr double ATOMS_PER_BLOCK = 48.0;
  // ... within these limits, in ranges. The smaller is a little above 1/5: a neighborhood then
  // reaches 5 columns each way.
  constexpr double MIN_COLUMN_WIDTH = 0.2001, MAX_COLUMN_WIDTH = 2.0;
  constexpr int X_CELLS_PER_WIDTH = 8;    // cells along a column, for each width of it
  // Starts of cells are stored where there are at most so many cells for each atom.
  constexpr int MAX_CELLS_PER_ATOM = 8;
  // Where there are at most so many pairs of an owned atom and another, in range or not, all are
  // tested: that takes less time than a sort.
  constexpr double FEW_PAIRS = 8e6;
  constexpr int ALL_PAIRS_TILE =
      32;    // partners: few, so that small systems have shares for many blocks
  // Partners of a block of atoms are shared out to several warps until there are so many
  // warps. Not a property of the GPU at hand: the bits shall not depend on it.
  constexpr int ENOUGH_WARPS = 4096;
  constexpr int MAX_SPLITS = 64, MAX_SPLITS_ALL_PAIRS = 256;
  // Partners that are collected in shared memory before they are summed, by the warp processor
  // (a cheap formula; one that is computed for selected partners, in float and in double) and
  // by the block processor.
  constexpr int PARTNERS_CHEAP = 128, PARTNERS_SELECT_FLOAT = 512, PARTNERS_SELECT_DOUBLE = 256;
  constexpr int PARTNERS_BLOCK = 512;
  constexpr int LOADS_AT_ONCE =
      2;    // atoms that a thread loads before it tests them, to wait less
  // Columns in which partners are searched for lists that are kept, in ranges.
  constexpr double LIST_COLUMN_WIDTH = 0.5001;
  // Where there are at most so many pairs of atoms, in range or not, all are tested for lists that are kept: that takes
  // less time than bins (doc/dev/kernel-notes.md, H100). A thread lists the partners of an atom from at most so many words of 32
  // bits, and a warp from more.
  constexpr double FEW_PAIRS_OF_LISTS = 64e6;
  constexpr int WORDS_OF_ONE_THREAD = 16;
  // Threads share the partners of an atom until there are so many threads, each with at least so many partners.
  constexpr int ENOUGH_THREADS = 1 << 17, FEWEST_PARTNERS = 4;
  // Where at least this share of atoms has partners, lists stay where they are found, with empty ones of the others.
  constexpr double ROWS_IN_PLACE = 0.9;
  // Room for so many partners is never too much; nor is so much for each partner.
  constexpr std::int64_t ENOUGH_ROOM = 1 << 24, ROOM_PER_PARTNER = 4;
  // Where there are so many rows of so many partners, points of partners are kept in shared memory, if the GPU has enough of it.
  // Where it has turned out that they do not fit, that is tried again after so many lists.
  constexpr int FEWEST_ROWS_IN_BLOCKS = 1 << 17;
  constexpr double FEWEST_PARTNERS_IN_BLOCKS = 24.0;
  constexpr int LISTS_BEFORE_BLOCKS_AGAIN = 50;
  constexpr int MAX_PARTNER_BLOCKS =
      4096;    // of kernels over lists: not a property of the GPU, as above
  // Blocks of 128 threads a multiprocessor for which the registers of the kernels of rigid molecules are limited, in
  // float and in double.
  constexpr int MOLECULE_BLOCKS_FLOAT = 3, MOLECULE_BLOCKS_DOUBLE = 2;
  // Rigid molecules: warps, as above, while each gets so many partners; partners that are collected in one pass, at most
  // about a batch; and passes.
  constexpr int ENOUGH_WARPS_OF_MOLECULES = 1 << 14;
  constexpr double FEWEST_MOLECULES_OF_A_TEAM = 128.0, MOLECULES_A_PASS = 440.0;
  constexpr int MAX_PASSES = 32;
  // atoms that are staged or fetched at a time, so that copies and host work overlap
  constexpr int COPY_CHUNK = 1 << 17;

}    // namespace tuning
}    // namespace gpucoord

#endif
