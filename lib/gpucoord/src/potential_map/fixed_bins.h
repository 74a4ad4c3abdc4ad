// Part of GPUCOORD, GPL-2.0. Bins of fixed depth: cubes with room for so many charges each. What finds no room overflows.
//
// The first charges of a bin, in the caller's order, have their places there, on the host as on a GPU.

#ifndef GPUCOORD_FIXED_BINS_H
#define GPUCOORD_FIXED_BINS_H

#include "gpucoord/potential_map.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gpucoord {

// the box around the points of a grid
void find_bounds(const MapGrid &, double (&lo)[3], double (&hi)[3]);

struct FixedBins {
  double lo[3];
  std::int64_t n[3];    // charges beyond are in bins at the rim

  std::int64_t count() const { return n[0] * n[1] * n[2]; }
};

// around all that is within the cutoff of the grid. Throws std::invalid_argument where there would be more than 2^31 - 1 places.
FixedBins make_fixed_bins(const MapGrid &, double cutoff, const MapBins &);

// of_size[k]: the number of bins with k charges
MapOverflow find_overflow(const std::vector<std::int64_t> &of_size, int depth);

// A map of the host with bins like these: it adds up those of charges that have a place and of others.
std::unique_ptr<PotentialMap> make_fixed_bins_map(std::unique_ptr<PotentialMap>, double cutoff,
                                                  const MapBins &);

}    // namespace gpucoord

#endif
