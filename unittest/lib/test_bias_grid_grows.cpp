// Part of GPUCOORD, GPL-2.0. A grid of metadynamics that grows.

#include "bias_files.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>

namespace {

class GrowingGrid : public Files {
 protected:
  static constexpr double WIDTH = 0.2;    // of a hill

  // n: number of variables, with axes of this spacing around 0. bins: on each side of it
  static MetadynamicsOptions around_0(int n, double spacing, int bins)
  {
    auto o = options(n, 8, false);
    o.sigma.assign(n, WIDTH);
    o.height = 0.5;
    o.grid.assign(n, {-bins * spacing, bins * spacing, 2 * bins});
    o.grow = true;
    return o;
  }

  // Returns frames 0 to 3000 of the two variables in traj.dat. Empty if the file does not exist.
  static std::vector<std::vector<double>> trajectory()
  {
    std::vector<std::vector<double>> result;
    const char *const data = std::getenv("GPUCOORD_TEST_DATA");
    std::ifstream file(std::string(data ? data : "") + "/opes/traj.dat");
    for (std::string line; std::getline(file, line) && result.size() <= 3000;) {
      double time, s, t;
      if (std::istringstream(line) >> time >> s >> t) result.push_back({s, t});
    }
    return result;
  }

  // Returns the hills of a random walk that leaves the grid on all sides.
  static std::vector<Hill> walk(int n, double width, int nhills = 60)
  {
    std::vector<Hill> hills;
    std::mt19937 random(n);
    std::uniform_real_distribution<double> uniform(-width, width);
    for (int h = 0; h < nhills; ++h) {
      Hill hill;
      for (int k = 0; k < n; ++k) {
        hill.center[k] = uniform(random);
        hill.sigma[k] = WIDTH;
      }
      hill.height = hill.file_height = 0.1 + 0.01 * h;
      hills.push_back(hill);
    }
    return hills;
  }

  // Expects equal bits of V and dV/dS in a range that is larger than both grids.
  static void expect_equal(const Metadynamics &a, const Metadynamics &b, int n, double width)
  {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(-width, width);
    for (int trial = 0; trial < 3000; ++trial) {
      double s[3], dVdS[3], other[3];
      for (double &x : s) x = uniform(random);
      EXPECT_EQ(a.evaluate(s, dVdS), b.evaluate(s, other));
      for (int k = 0; k < n; ++k) EXPECT_EQ(dVdS[k], other[k]);
    }
    EXPECT_EQ(a.maximum(), b.maximum());
  }

  static std::string error_of_hill(const Metadynamics &metad, const std::vector<double> &s)
  {
    try {
      metad.next_hill(s.data(), 0.0);
    } catch (const std::runtime_error &e) {
      return e.what();
    }
    return "";
  }
};

// PLUMED 2.11, METAD with SIGMA=0.2 HEIGHT=0.5 BIASFACTOR=8 TEMP=1 PACE=10 UNITS NATURAL: V at
// frame 3000, and c(t) of grids from -2.5 to 2.5 and from -3.5 to 3.5 with a spacing of 0.05.
TEST_F(GrowingGrid, equals_plumed)
{
  const auto frames = trajectory();
  if (frames.size() <= 3000)
    GTEST_SKIP() << "SKIPPED: GPUCOORD_TEST_DATA names no folder with opes/traj.dat";
  const std::tuple<double, double> bounds[] = {{1.3, 0.0}, {2.5, 12.38585}, {3.5, 12.26523}};
  for (const auto &[end, offset] : bounds) {
    Metadynamics metad(around_0(1, end / 2600, 2600));
    Metadynamics coarse(around_0(1, 0.05, static_cast<int>(std::lround(end / 0.05))));
    double v = 0.0, dVdS;
    for (int frame = 10; frame <= 3000; frame += 10) {
      v = metad.evaluate(frames[frame].data(), &dVdS);
      metad.add(metad.next_hill(frames[frame].data(), v));
      const double coarse_v = coarse.evaluate(frames[frame].data(), &dVdS);
      coarse.add(coarse.next_hill(frames[frame].data(), coarse_v));
    }
    EXPECT_NEAR(v, 11.9899616439715, 1e-7);    // between points, V is interpolated
    const double beyond = 1.4;
    EXPECT_NEAR(metad.evaluate(&beyond, &dVdS), 6.333, 5e-4);
    if (offset != 0.0) EXPECT_NEAR(coarse.reweighting_offset(), offset, 5e-6) << end;
  }
}

// Spacings are powers of 2, so that the points of all grids are equal.
TEST_F(GrowingGrid, bits_do_not_depend_on_the_bounds)
{
  const auto frames = trajectory();
  if (frames.size() <= 3000)
    GTEST_SKIP() << "SKIPPED: GPUCOORD_TEST_DATA names no folder with opes/traj.dat";
  for (const int n : {1, 2}) {
    Metadynamics wide(around_0(n, 0.125, 32)), narrow(around_0(n, 0.125, 10)),
        tiny(around_0(n, 0.125, 1));
    for (std::size_t frame = 10; frame <= 3000; frame += 10) {
      double dVdS[2], same[2];
      const double *const s = frames[frame].data(), v = wide.evaluate(s, dVdS);
      for (Metadynamics *grown : {&narrow, &tiny}) {
        EXPECT_EQ(grown->evaluate(s, same), v);
        for (int k = 0; k < n; ++k) EXPECT_EQ(same[k], dVdS[k]);
        grown->add(grown->next_hill(s, v));
      }
      wide.add(wide.next_hill(s, v));
    }
    EXPECT_EQ(wide.grid_axes()[0].above, 0);
    EXPECT_GT(narrow.grid_axes()[0].above, 0);
    expect_equal(wide, narrow, n, 5.0);
    expect_equal(wide, tiny, n, 5.0);
  }
}

// Bounds of the same origin and spacing, which is not a power of 2; three variables.
TEST_F(GrowingGrid, bits_do_not_depend_on_the_time_of_growth)
{
  for (const int n : {1, 2, 3}) {
    auto o = around_0(n, 0.1, 5), o_wide = o;
    for (auto &axis : o_wide.grid) axis.below = axis.above = 20;
    Metadynamics grown(o), wide(o_wide), reversed(o);
    const auto hills = walk(n, 1.5);
    reversed.add(hills.back());
    Metadynamics late(o_wide);
    late.add(hills.back());
    for (const auto &hill : hills) {
      grown.add(hill);
      wide.add(hill);
      reversed.add(hill);
      late.add(hill);
    }
    EXPECT_NE(grown.grid_values().size(), wide.grid_values().size());
    expect_equal(grown, wide, n, 4.0);
    expect_equal(reversed, late, n, 4.0);
    EXPECT_EQ(grown.reweighting_offset(), wide.reweighting_offset());
  }
}

// V has the bits of a grid that does not grow, wherever that one has all points that V needs.
TEST_F(GrowingGrid, bits_are_those_of_a_grid_that_does_not_grow)
{
  for (const int n : {1, 2, 3})
    for (const bool over_the_edge : {false, true}) {
      const auto hills = walk(n, over_the_edge ? 1.5 : 0.6);
      auto o = around_0(n, 0.1, 15);
      Metadynamics grown(o);
      o.grow = false;
      Metadynamics fixed(o);
      for (const auto &hill : hills) {
        grown.add(hill);
        fixed.add(hill);
      }
      EXPECT_EQ(grown.grid_values().size() != fixed.grid_values().size(), over_the_edge);
      expect_equal(grown, fixed, n, 1.5);
      EXPECT_EQ(grown.reweighting_offset(), fixed.reweighting_offset());
    }
}

TEST_F(GrowingGrid, bias_is_0_outside)
{
  for (const int n : {1, 2, 3}) {
    Metadynamics metad(around_0(n, 0.1, 4));
    double at[3] = {}, dVdS[3];
    for (const double far : {0.5, 1e10, -1e300}) {
      at[n - 1] = far;
      for (double &d : dVdS) d = 1.0;
      EXPECT_EQ(metad.evaluate(at, dVdS), 0.0);
      for (int k = 0; k < n; ++k) EXPECT_EQ(dVdS[k], 0.0);
    }
    // Each end of the grid, and points around it
    const auto hills = walk(n, 1.0);
    for (const auto &hill : hills) metad.add(hill);
    for (int k = 0; k < n; ++k)
      for (const int index : {metad.grid_axes()[k].first(), metad.grid_axes()[k].last()})
        for (const double shift : {-0.05, -1e-12, 0.0, 1e-12, 0.05})
          for (const auto &hill : hills) {
            double s[3];
            std::copy_n(hill.center, n, s);
            s[k] = metad.grid_axes()[k].point(index) + shift;
            EXPECT_EQ(metad.evaluate(s, dVdS), 0.0);
            for (int j = 0; j < n; ++j) EXPECT_EQ(dVdS[j], 0.0);
          }
  }
}

// The derivatives are those of V at points that the grid had first, at its later points, and across
// their border.
TEST_F(GrowingGrid, derivatives_are_limits_of_differences)
{
  for (const int n : {1, 2, 3}) {
    Metadynamics metad(around_0(n, 0.1, 5));
    for (const auto &hill : walk(n, 1.2)) metad.add(hill);
    std::mt19937 random(6);
    std::uniform_real_distribution<double> uniform(-2.0, 2.0);
    for (int trial = 0; trial < 300; ++trial) {
      double s[3], dVdS[3], none[3];
      for (double &x : s) x = uniform(random);
      if (trial % 3 == 0) s[0] = 0.5 + 1e-7;
      metad.evaluate(s, dVdS);
      for (int k = 0; k < n; ++k) {
        const double at = s[k], h = 1e-6;
        s[k] = at + h;
        const double above = metad.evaluate(s, none);
        s[k] = at - h;
        EXPECT_NEAR(dVdS[k], (above - metad.evaluate(s, none)) / (2.0 * h), 2e-4);
        s[k] = at;
      }
    }
  }
}

TEST_F(GrowingGrid, size)
{
  auto o = around_0(2, 0.1, 20);
  o.grid[1] = {-1.5, 1.5, 30, true};
  o.period = {{}, {-1.5, 3.0}};
  Metadynamics metad(o);
  const auto above = [&](double s, double t) {
    const double at[2] = {s, t};
    metad.add(metad.next_hill(at, 0.0));
    return metad.grid_axes()[0].above;
  };
  EXPECT_EQ(above(0.0, 1.45), 0);
  // Its range ends at sqrt(12.5) 0.2 = 0.7071. Points up to 2.1 need one more than the present
  // ones, and a quarter of the 40 bins is added.
  EXPECT_EQ(above(1.25, 0.0), 1 + 10);
  EXPECT_EQ(above(2.25, 0.0), 1 + 10);     // up to 3.1
  EXPECT_EQ(above(2.35, 0.0), 12 + 12);    // up to 3.2, and a quarter of 51
  EXPECT_EQ(metad.grid_axes()[0].below, 0);
  EXPECT_EQ(metad.grid_axes()[1].above, 0);    // periodic
  EXPECT_EQ(metad.grid_axes()[1].below, 0);
  EXPECT_EQ(metad.bytes(), (41 + 24) * 31 * 4 * sizeof(double));
}

TEST_F(GrowingGrid, limit)
{
  const std::string way_out = " points, more than 1e8 - use fewer bins, a wall that limits the "
                              "variable, or keyword interval, beyond which the bias is constant";
  Metadynamics one(around_0(1, 0.1, 50)), two(around_0(2, 0.1, 50));
  EXPECT_EQ(error_of_hill(one, {2e7}),
            "the grid cannot grow to a hill at s = 20000000: it would have 200000060" + way_out);
  EXPECT_EQ(error_of_hill(two, {-3e3, 1e3}),
            "the grid cannot grow to a hill at s = -3000, t = 1000: it would have 302403600" +
                way_out);
  EXPECT_EQ(error_of_hill(one, {1e300}),
            "the grid cannot grow to a hill at s = 1e+300: it would have 1e+301" + way_out);
  EXPECT_EQ(one.nhills(), 0);
  EXPECT_EQ(one.grid_values().size(), 2 * 101u);

  // The quarter of 4000 bins would be too many.
  auto o = around_0(2, 0.1, 50);
  o.grid[0] = {-200.0, 200.0, 4000};
  Metadynamics long_one(o);
  EXPECT_EQ(error_of_hill(long_one, {98749.2, 0.0}), "");
  EXPECT_EQ(error_of_hill(long_one, {98850.0, 0.0}),
            "the grid cannot grow to a hill at s = 98850, t = 0: it would have 100041510" +
                way_out);
}

TEST_F(GrowingGrid, grid_file_reads_back_to_the_last_bit)
{
  for (const int n : {1, 2, 3}) {
    const auto o = around_0(n, 0.125, 5);
    Metadynamics metad(o);
    const auto hills = walk(n, 1.0);
    for (const auto &hill : hills) metad.add(hill);
    metad.write_grid(path);
    // Bounds that equal, are within, contain, or are beyond those of the file
    for (const double shift : {0.0, 0.125, 12.5})
      for (const int bins : {5, 2, n == 3 ? 20 : 40}) {
        auto other = around_0(n, 0.125, bins);
        other.grid[0].lo += shift;
        other.grid[0].hi += shift;
        Metadynamics copy(other);
        copy.read_grid(path, hills);
        EXPECT_EQ(copy.nhills(), metad.nhills());
        EXPECT_EQ(copy.hills_checksum(), metad.hills_checksum());
        expect_equal(metad, copy, n, 3.0);
      }
  }
}

// A grid that does not grow lacks the parts of hills beyond its bounds.
TEST_F(GrowingGrid, file_of_a_grid_that_does_not_grow)
{
  for (const int n : {1, 2, 3}) {
    auto o = around_0(n, 0.1, 8);
    const auto hills = walk(n, 0.8);
    Metadynamics whole(o), copy(o);
    o.grow = false;
    Metadynamics cut(o);
    for (const auto &hill : hills) {
      whole.add(hill);
      cut.add(hill);
    }
    cut.write_grid(path);
    copy.read_grid(path, hills);
    expect_equal(whole, copy, n, 3.0);
    EXPECT_EQ(whole.reweighting_offset(), copy.reweighting_offset());
    Metadynamics same(o);
    same.read_grid(path, hills);
    EXPECT_EQ(same.grid_values(), cut.grid_values());
    whole.write_grid(path);
    EXPECT_THROW(same.read_grid(path, hills), std::runtime_error);    // another range
  }
}

TEST_F(GrowingGrid, bad_grid_files_are_errors)
{
  const auto o = around_0(1, 0.125, 8);
  Metadynamics metad(o);
  metad.write_grid(path);
  const std::string good = content(path);
  const auto with = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    std::ofstream(path, std::ios::binary) << text;
    try {
      Metadynamics(o).read_grid(path, {});
    } catch (const std::runtime_error &e) {
      return std::string(e.what()).substr(("grid file " + path).size());
    }
    return std::string();
  };
  const std::string points = ", but the fix has points at -1 plus multiples of 0.125";
  EXPECT_EQ(with("min_s -1\n", "min_s -1.01\n"), ", line 2: min_s is -1.01" + points);
  EXPECT_EQ(with("max_s 1\n", "max_s 1.06\n"), ", line 3: max_s is 1.06" + points);
  EXPECT_EQ(with("max_s 1\n", "max_s 1e300\n"), ", line 3: max_s is 1e300" + points);
  EXPECT_EQ(with("max_s 1\n", "max_s pie\n"), ", line 3: max_s is pie" + points);
  EXPECT_EQ(with("max_s 1\n", "max_s 2\n"),
            ", line 4: nbins_s is 17, but from min_s to max_s the fix has 25");
  EXPECT_EQ(with("max_s 1\n#! SET nbins_s 17", "max_s 1e6\n#! SET nbins_s 8000009"),
            ", line 9: its range has more points than the file");
  EXPECT_EQ(with("max_s 1\n#! SET nbins_s 17", "max_s -2\n#! SET nbins_s 17"),
            ", line 4: nbins_s is 17, but from min_s to max_s the fix has 18446744073709551609");
  EXPECT_EQ(with("max_s 1\n#! SET nbins_s 17", "max_s -1.125\n#! SET nbins_s 0"),
            ", line 9: more points than the grid has");
  EXPECT_EQ(with(" 1 0 0\n", "#! SET max_s 9\n 1 0 0\n"),
            ", line 25: a SET line after the first point");
  EXPECT_EQ(with(" 1 0 0\n", ""), ", line 24: it ends after 16 of 17 points");
  EXPECT_EQ(with("periodic_s false", "periodic_s true"),
            ", line 5: periodic_s is true, but the fix has false");
}

}    // namespace
