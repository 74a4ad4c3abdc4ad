// Part of GPUCOORD, GPL-2.0. Chooses the shape of the bins, on the host.

#include "bins.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace gpucoord {

namespace {

  // Limit along each axis. The product of three axes fits into a key.
  constexpr std::int64_t MAX_CELLS = std::int64_t(1) << 20;

  // Returns the gap between two columns that are d columns apart.
  double gap(int d, double width)
  {
    return std::max(0, std::abs(d) - 1) * width;
  }

}    // namespace

BinGrid make_bin_grid(const Bounds &bounds, double density, double range)
{
  return make_bin_grid(bounds,
                       std::clamp(std::cbrt(tuning::ATOMS_PER_BLOCK / density),
                                  tuning::MIN_COLUMN_WIDTH * range,
                                  tuning::MAX_COLUMN_WIDTH * range));
}

BinGrid make_bin_grid(const Bounds &bounds, double width)
{
  BinGrid grid;
  for (int c = 0; c < 3; ++c) {
    double size = c == 0 ? width / tuning::X_CELLS_PER_WIDTH : width;
    const double extent = bounds.hi[c] - bounds.lo[c];
    if (extent > size * (MAX_CELLS - 1)) size = extent / (MAX_CELLS - 1);
    grid.lo[c] = bounds.lo[c];
    grid.size[c] = size;
    grid.inverse_size[c] = 1.0 / size;
    grid.n[c] = static_cast<std::int64_t>(extent / size) + 1;
  }
  return grid;
}

Neighborhood make_neighborhood(const BinGrid &grid, double range)
{
  struct Offset {
    int dy, dz;
    double distance_sq;    // distance^2 between the two columns
  };
  // The margin is far above rounding errors that may put an atom into the next column.
  const double wide = range * (1.0 + 1e-6);
  const int reach_y = static_cast<int>(std::ceil(wide / grid.size[1]));
  const int reach_z = static_cast<int>(std::ceil(wide / grid.size[2]));
  std::vector<Offset> offsets;
  for (int dz = -reach_z; dz <= reach_z; ++dz)
    for (int dy = -reach_y; dy <= reach_y; ++dy) {
      const double y = gap(dy, grid.size[1]), z = gap(dz, grid.size[2]);
      if (y * y + z * z <= wide * wide) offsets.push_back({dy, dz, y * y + z * z});
    }
  std::stable_sort(offsets.begin(), offsets.end(), [](const Offset &a, const Offset &b) {
    return a.distance_sq < b.distance_sq;
  });
  if (offsets.size() > Neighborhood::MAX_COLUMNS)
    throw std::logic_error("gpucoord: columns are too narrow");
  Neighborhood neighborhood;
  for (const Offset &offset : offsets) {
    neighborhood.dy[neighborhood.n] = static_cast<signed char>(offset.dy);
    neighborhood.dz[neighborhood.n] = static_cast<signed char>(offset.dz);
    ++neighborhood.n;
  }
  return neighborhood;
}

}    // namespace gpucoord
