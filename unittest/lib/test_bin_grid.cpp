// Part of GPUCOORD, GPL-2.0. The bins of the CUDA backend, which the host chooses: these tests need
// no GPU.

#include "../../lib/gpucoord/src/gpu/bins.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>

using gpucoord::BinGrid;
using gpucoord::Bounds;
using gpucoord::Neighborhood;

namespace {

const double RANGES[] = {1e-10, 0.7, 2.5, 30.0, 1e9};
// Atoms in a cube with the edge 'range': from a vacuum to far more than the narrowest columns hold.
const double ATOMS_IN_RANGE[] = {1e-9,   0.01,   1.0,    10.0,   65.0, 500.0,
                                 3000.0, 5990.0, 6000.0, 6010.0, 1e5,  1e12};

template <class Check> void for_all_grids(Check check)
{
  for (const double range : RANGES)
    for (const double atoms : ATOMS_IN_RANGE)
      for (const double extent : {0.0, 0.3, 7.3, 1e5, 1e9}) {
        const Bounds bounds = {
            {-range, range, 3 * range},
            {(extent - 1) * range, (1.1 * extent + 1) * range, (0.9 * extent + 3) * range}};
        SCOPED_TRACE(testing::Message()
                     << "range " << range << ", atoms " << atoms << ", extent " << extent);
        check(make_bin_grid(bounds, atoms / (range * range * range), range), bounds, range);
      }
}

}    // namespace

TEST(Columns, neighborhood_has_all_columns_within_range)
{
  for_all_grids([](const BinGrid &grid, const Bounds &, double range) {
    const Neighborhood found = make_neighborhood(grid, range);
    ASSERT_LE(found.n, Neighborhood::MAX_COLUMNS);
    std::set<std::pair<int, int>> columns;
    double last = 0.0;
    for (int t = 0; t < found.n; ++t) {
      const int dy = found.dy[t], dz = found.dz[t];
      EXPECT_TRUE(columns.insert({dy, dz}).second) << dy << " " << dz << " is there twice";
      const double y = std::max(0, std::abs(dy) - 1) * grid.size[1],
                   z = std::max(0, std::abs(dz) - 1) * grid.size[2];
      EXPECT_GE(std::hypot(y, z), last * (1 - 1e-12)) << "not sorted by distance";
      last = std::hypot(y, z);
    }
    for (int dz = -8; dz <= 8; ++dz)
      for (int dy = -8; dy <= 8; ++dy) {
        const double y = std::max(0, std::abs(dy) - 1) * grid.size[1],
                     z = std::max(0, std::abs(dz) - 1) * grid.size[2];
        if (std::hypot(y, z) <= range) {
          EXPECT_TRUE(columns.count({dy, dz})) << "without " << dy << " " << dz;
        }
      }
  });
}

TEST(Columns, hold_every_point_within_the_bounds)
{
  for_all_grids([](const BinGrid &grid, const Bounds &bounds, double) {
    for (int axis = 0; axis < 3; ++axis) {
      ASSERT_GE(grid.n[axis], 1);
      ASSERT_LE(grid.n[axis], std::int64_t(1) << 20);    // three fit into a key
      std::int64_t last = 0;
      for (int k = 0; k <= 1000; ++k) {
        const double x = k == 1000
            ? bounds.hi[axis]
            : bounds.lo[axis] + k / 1000.0 * (bounds.hi[axis] - bounds.lo[axis]);
        const std::int64_t cell = grid.coordinate(axis, x);
        EXPECT_GE(cell, last);
        EXPECT_LT(cell, grid.n[axis]);
        // Inside its cell, up to rounding.
        EXPECT_NEAR((x - grid.lo[axis]) / grid.size[axis], cell + 0.5, 0.5 + 1e-6);
        last = cell;
      }
    }
  });
}
