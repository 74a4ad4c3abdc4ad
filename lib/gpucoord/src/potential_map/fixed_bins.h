// Part of GPUCOORD, GPL-2.0. Bins of fixed depth: cubes with room for a given number of charges
// each. Further charges overflow.
//
// The first charges of a bin, in the caller's order, are stored in it, on the host and on a GPU.

#ifndef GPUCOORD_FIXED_BINS_H
#define GPUCOORD_FIXED_BINS_H

#include "gpucoord/potential_map.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gpucoord {

// Sets lo and hi to the bounding box of the points of a grid.
void find_bounds(const MapGrid &, double (&lo)[3], double (&hi)[3]);

struct FixedBins {
  double lo[3];
  std::int64_t n[3];    // charges beyond the grid are in the outermost bins

  std::int64_t count() const { return n[0] * n[1] * n[2]; }
};

// Makes bins that cover everything within the cutoff of the grid. Throws std::invalid_argument if
// there would be room for more than 2^31 - 1 charges.
FixedBins make_fixed_bins(const MapGrid &, double cutoff, const MapBins &);

// Returns the overflow. bins_of_size[k]: number of bins with k charges
MapOverflow find_overflow(const std::vector<std::int64_t> &bins_of_size, int depth);

// Adds fixed bins to a map on the host. The result is the sum of the maps of the charges in bins
// and of the overflowing charges.
std::unique_ptr<PotentialMap> make_fixed_bins_map(std::unique_ptr<PotentialMap>, double cutoff,
                                                  const MapBins &);

}    // namespace gpucoord

#endif
