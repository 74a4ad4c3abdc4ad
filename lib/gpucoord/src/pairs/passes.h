// Part of GPUCOORD, GPL-2.0. Host code shared by all backends of a pass over pairs.

#ifndef GPUCOORD_PASSES_H
#define GPUCOORD_PASSES_H

#include "gpucoord/pairs.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace gpucoord {

inline void need_end(const SwitchTable &table, const char *engine)
{
  if (!table.has_end())
    throw std::invalid_argument(std::string("engine ") + engine + " needs a finite dmax");
}

// Returns the outputs of the pass over the atoms of the second group: only its per-atom sums,
// because the first pass has already counted every pair in S and W.
inline unsigned want_of_second(unsigned want)
{
  return want & ATOM_VIRIAL ? want : want & (DERIVATIVES | WINDOWED);
}

// Adds one row of sums to the owned atoms of pair k. sums: [columns] with dS/dx of the first atom.
inline void add_pair(const PairsInput &in, std::int64_t k, const double *sums, int columns,
                     double *peratom)
{
  for (int side = 0; side < 2; ++side) {
    const int row = side ? in.row_b[k] : in.row_a[k];
    if (row < 0) continue;
    double *const out = peratom + columns * static_cast<std::size_t>(row);
    for (int c = 0; c < columns; ++c) {
      const bool is_gradient = c >= 1 && c <= 3;    // only dS/dx has a sign
      out[c] += side && is_gradient ? -sums[c] : sums[c];
    }
  }
}

}    // namespace gpucoord

#endif
