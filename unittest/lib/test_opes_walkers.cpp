// Part of GPUCOORD, GPL-2.0. Walkers that share the kernels of OPES.

#include "opes_runs.h"
#include "walker_threads.h"

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace {

class SharedOpes : public SharedBias {
 protected:
  // S of a walker hops between two wells.
  static double in_wells(int walker, int step)
  {
    return std::tanh(4.0 * std::sin(0.011 * step + walker)) +
        0.25 * std::sin(2.3 * step + 0.7 * walker);
  }
  // Number, mean and sum of squares of the samples of adaptive sigma, which are not shared.
  static std::vector<double> averages(const Bias &bias)
  {
    const auto &own = bias.state().own;
    return {own.end() - 3, own.end()};
  }
  void expect_equal_bits()
  {
    for (double s = -1.4; s < 1.5; s += 0.05) {
      const auto first = at(*walkers[0]->bias, s);
      for (const auto &walker : walkers) {
        const auto found = at(*walker->bias, s);
        EXPECT_EQ(found.energy, first.energy);
        EXPECT_EQ(found.dVdS, first.dVdS);
      }
    }
  }
};

// The kernels file of PLUMED was written by three walkers. The values are PLUMED's.
TEST_F(SharedOpes, make_the_kernels_of_plumed)
{
  const std::string data = opes_data();
  if (data.empty()) GTEST_SKIP() << "SKIPPED: GPUCOORD_TEST_DATA has no folder opes";
  std::vector<double> series;
  std::ifstream trajectory(data + "/traj.dat");
  for (std::string line; std::getline(trajectory, line);) {
    std::istringstream columns(line);
    double time, s;
    if (columns >> time >> s) series.push_back(s);
  }
  std::vector<std::vector<double>> expected;
  std::ifstream kernels(data + "/walkers.kernels");
  for (std::string line; std::getline(kernels, line);) {
    std::istringstream columns(line);
    std::vector<double> row(5);
    for (double &number : row) columns >> number;
    if (columns) expected.push_back(row);
  }
  ASSERT_EQ(expected.size(), 297u);

  kind = {"opes", "barrier", "8", "temp", "1", "sigma", "0.15", "pace", "10", "kernel", "plumed"};
  make(3);
  begin();
  run(0, {990}, {}, [&](int walker, int step) {
    return series[step + 1000 * walker];
  });
  expect_errors("");
  std::istringstream in(content(path));
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '#') continue;
    std::istringstream columns(line);
    double number, walker;
    ASSERT_LT(count, expected.size());
    for (std::size_t k = 0; k < 5; ++k) {
      columns >> number;
      if (k > 0)
        EXPECT_NEAR(number, expected[count][k], 1e-11 * (1.0 + std::fabs(expected[count][k])));
    }
    columns >> walker;
    EXPECT_EQ(walker, count++ % 3);
  }
  EXPECT_EQ(count, 297u);
  expect_equal_bits();
  const std::vector<std::pair<double, double>> values = {
      {-1, 1.40391238211}, {0, -4.58070447124}, {1, 0.292991679134}};
  for (const auto &walker : walkers) {
    for (const auto &[s, v] : values) EXPECT_NEAR(at(*walker->bias, s).energy, v, 1e-10);
    EXPECT_NEAR(output(*walker->bias, "rct"), -0.0392741814438, 1e-12);
    EXPECT_NEAR(output(*walker->bias, "zed"), 0.135621887109, 1e-11);
    EXPECT_NEAR(output(*walker->bias, "neff"), 106.628996792, 1e-8);
  }
}

// Also with widths of walker 0 at the start, and averages of each walker.
TEST_F(SharedOpes, restart_with_adaptive_sigma)
{
  kind = {"opes", "barrier", "8", "temp", "1", "sigma/adaptive", "40"};
  make(3);
  begin();
  run(0, {102}, {}, in_wells);
  expect_errors("");
  expect_equal_bits();
  EXPECT_NE(averages(*walkers[0]->bias), averages(*walkers[1]->bias));
  std::vector<ArchiveParts> saved(3);
  std::vector<std::vector<double>> saved_averages;
  for (int w = 0; w < 3; ++w) {
    walkers[w]->bias->save(saved[w]);
    saved_averages.push_back(averages(*walkers[w]->bias));
  }
  const std::string file = content(path);
  run(102, {303}, {}, in_wells);
  const std::string whole = content(path);
  const auto last = walkers[2]->bias->state();

  for (const int n : {3, 5, 2}) {
    walkers.clear();
    std::ofstream(path, std::ios::binary) << file;
    make(n);
    std::vector<BiasStart> start(n);
    for (int w = 0; w < std::min(n, 3); ++w) {
      auto parts = saved[w];
      walkers[w]->bias->load(parts);
      parts.check_all_are_taken();
      start[w].is_restarted = true;
    }
    begin(start);
    expect_errors("");
    for (int w = 0; w < n; ++w)    // a new walker has those of walker 0
      EXPECT_EQ(averages(*walkers[w]->bias), saved_averages[w < 3 ? w : 0]);
    run(102, {303}, {}, in_wells);
    expect_errors("");
    if (n == 3) {
      EXPECT_EQ(content(path), whole);
      EXPECT_EQ(walkers[2]->bias->state().energy, last.energy);
      EXPECT_EQ(walkers[2]->bias->state().own, last.own);
    }
    expect_equal_bits();
  }
}

TEST_F(SharedOpes, one_walker_has_the_bits_of_none)
{
  kind = {"opes/explore", "barrier", "8", "temp", "1", "sigma/adaptive", "20"};
  std::vector<BiasState> found;
  for (const std::string how : {"walkers", "none"}) {
    walkers.clear();
    make(1, {{}}, how);
    begin();
    run(0, {200}, {}, in_wells);
    found.push_back(walkers[0]->bias->state());
  }
  EXPECT_EQ(found[0].energy, found[1].energy);
  EXPECT_EQ(found[0].dVdS, found[1].dVdS);
  EXPECT_EQ(found[0].own, found[1].own);
}

}    // namespace
