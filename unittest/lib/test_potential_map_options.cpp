// Part of GPUCOORD, GPL-2.0. Options of potential maps: fixed bins, and errors for values that they
// cannot have; maps without charges or points.

#include "backends.h"
#include "map_systems.h"

#include "gpucoord/potential_map.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace gpucoord;

TEST(PotentialMap, nothing_there)
{
  const System none, s = random_system(5, 3.0, 1);
  for (const MapKernel kernel : KERNELS) {
    const auto map = make_map(options_of(kernel), Precision::MIXED, 2);
    const MapGrid grid = grid_of(3, 2, 2, 1.0, 0.0);
    Values empty(size_of(grid));
    map->on_grid(grid, none.charges(), empty.out());
    for (const double v : empty.phi) EXPECT_EQ(v, 0.0);
    for (const double v : empty.field) EXPECT_EQ(v, 0.0);
    EXPECT_EQ(map->tested(), 0.0);
    for (int axis = 0; axis < 3; ++axis) {
      MapGrid flat = grid;
      flat.n[axis] = 0;
      map->on_grid(flat, s.charges(), {nullptr, nullptr});
    }
    map->at_points({nullptr, nullptr, 0}, s.charges(), {nullptr, nullptr});
    Values at(5);
    map->at_points({s.x.data(), nullptr, 5}, none.charges(), at.out());
    for (const double v : at.phi) EXPECT_EQ(v, 0.0);
  }
}

// Overflow counted by hand: three bins with 4, 1 and 2 charges.
TEST(PotentialMap, fixed_bins)
{
  System s;
  for (const double x : {0.5, 0.6, 0.7, 0.8, 5.5, 9.5, 9.6})
    s.add(x, 0.5, 0.5, x > 0.65 ? -1.0 : 1.0);
  MapGrid grid = grid_of(9, 2, 3, 1.1, 0.0);
  MapOptions o = options_of(MapKernel::SMOOTH);
  o.cutoff = 4.0;
  for (int c = 0; c < 3; ++c) grid.origin[c] = 0.1;    // the first bin begins at -3.9
  Values expected(size_of(grid)), found(size_of(grid));
  make_map(o, Precision::DOUBLE, 1)->on_grid(grid, s.charges(), expected.out());
  struct Case {
    int depth, overflowing, better;
  };
  for (const Case &c : {Case{1, 4, 4}, Case{2, 2, 4}, Case{3, 1, 4}, Case{4, 0, 4}, Case{9, 0, 9}})
    for (const bool on_host : {false, true}) {
      const MapBins bins = {true, 2.0, c.depth, on_host};
      const auto map = ::on_host() ? make_host_potential_map(o, Precision::DOUBLE, 1, bins)
                                   : make_cuda_potential_map(o, Precision::DOUBLE, 0, 1, bins);
      map->on_grid(grid, s.charges(), found.out());
      EXPECT_EQ(map->overflow().charges, 7.0);
      EXPECT_EQ(map->overflow().overflowing, c.overflowing);
      EXPECT_EQ(map->overflow().deepest, 4);
      EXPECT_EQ(map->overflow().better_depth, c.better);
      for (std::size_t p = 0; p < size_of(grid); ++p) {
        EXPECT_NEAR(found.phi[p], expected.phi[p], 1e-13);
        EXPECT_NEAR(found.field[3 * p], expected.field[3 * p], 1e-12);
      }
    }
}

TEST(PotentialMap, refuses_bad_bins)
{
  const auto why = [](const MapOptions &o, const MapBins &bins) -> std::string {
    try {
      const System s = random_system(5, 3.0, 1);
      const MapGrid grid = grid_of(3, 2, 2, 1.0, 0.0);
      Values found(size_of(grid));
      make_host_potential_map(o, Precision::DOUBLE, 1, bins)
          ->on_grid(grid, s.charges(), found.out());
    } catch (const std::invalid_argument &e) {
      return e.what();
    }
    return "";
  };
  const MapOptions o = options_of(MapKernel::CUT);
  EXPECT_EQ(why(o, {true, 2.0, 3, false}), "");
  EXPECT_EQ(why(o, {true, 0.0, 3, false}), "the size of bins is 0 but must be > 0 and finite");
  EXPECT_EQ(why(o, {true, 2.0, 0, false}), "the depth of bins is 0 but must be > 0 and finite");
  EXPECT_EQ(why(options_of(MapKernel::DIRECT), {true, 2.0, 3, false}),
            "kernel direct has no cutoff and does not support bins");
  EXPECT_EQ(why(options_of(MapKernel::CUT, MapOverlap::ZERO), {true, 2.0, 3, false}),
            "fixed bins support only overlap skip and soft, because overflowing charges are summed "
            "separately");
  EXPECT_EQ(why(o, {true, 0.001, 3, false}).substr(0, 50),
            "bins of size 0.001 and depth 3 have room for 1.490");
#ifdef GPUCOORD_HAS_CUDA
  // Also on a machine without a GPU.
  const MapBins bins = {true, 0.0, 3, false};
  EXPECT_THROW(make_cuda_potential_map(o, Precision::DOUBLE, 0, 1, bins), std::invalid_argument);
#endif
}

TEST(PotentialMap, refuses_bad_options)
{
  const auto why = [](const MapOptions &o) -> std::string {
    try {
      make_map(o, Precision::DOUBLE, 1);
    } catch (const std::invalid_argument &e) {
      return e.what();
    }
    return "";
  };
  MapOptions o = options_of(MapKernel::SMOOTH);
  EXPECT_EQ(why(o), "");
  o.cutoff = 0.0;
  EXPECT_EQ(why(o), "the cutoff is 0 but must be > 0 and finite");
  o.kernel = MapKernel::DIRECT;
  EXPECT_EQ(why(o), "");
  o = options_of(MapKernel::EWALD);
  o.alpha = -1.0;
  EXPECT_EQ(why(o), "alpha is -1 but must be > 0 and finite");
  o = options_of(MapKernel::CUT, MapOverlap::SOFT);
  o.radius = 0.0;
  EXPECT_EQ(why(o), "the radius of overlap is 0 but must be > 0 and finite");
  o.radius = 3.5;
  EXPECT_EQ(why(o), "the radius of overlap is 3.5 but must not exceed the cutoff, 3.3");
  o.kernel = MapKernel::DIRECT;
  EXPECT_EQ(why(o), "");
}
