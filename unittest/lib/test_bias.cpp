// Part of GPUCOORD, GPL-2.0. Bias potentials: comparison with PLUMED's numbers, closed forms and
// finite differences.

#include "gpucoord/metadynamics.h"
#include "gpucoord/restraint.h"

#include "bias_hills.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

using namespace gpucoord;

namespace {

// ---------------------------------------------------------------- restraints

Restraint restraint(Restraint::Kind kind, double k, double s0, double exponent = 2.0,
                    double offset = 0.0)
{
  Restraint r;
  r.kind = kind;
  r.k = k;
  r.s0 = s0;
  r.exponent = exponent;
  r.offset = offset;
  return r;
}

// PLUMED 2.11, RESTRAINT, UPPER_WALLS and LOWER_WALLS at three values of a variable, EXP 2, 3.5, 4.
TEST(Restraint, equals_plumed)
{
  double dVdS;
  const double upper[3] = {0.97191572694063544, 0.63901841824557692, 0.55565892957326102};
  const double lower[3] = {3.6993142266587515, 6.6278923900492446, 8.0499563220940225};
  const double lower_force[3] = {5.0155096192988715, 15.725604261249861, 21.828171868960158};
  const double upper_force[3] = {-2.570802781855567, -2.9579550912239498, -2.9395337112331306};
  const double exponents[3] = {2.0, 3.5, 4.0};
  for (int k = 0; k < 3; ++k) {
    const auto up = restraint(Restraint::Kind::UPPER_WALL, 1.7, 6.0, exponents[k], 0.3);
    EXPECT_NEAR(up.evaluate(6.4561184652516372, dVdS), upper[k], 1e-14);
    EXPECT_NEAR(-dVdS, upper_force[k], 1e-13);
    EXPECT_EQ(up.evaluate(5.699, dVdS), 0.0);
    EXPECT_EQ(dVdS, 0.0);
    EXPECT_GT(up.evaluate(5.8, dVdS), 0.0);
    const auto low = restraint(Restraint::Kind::LOWER_WALL, 1.7, 4.0, exponents[k], 0.3);
    EXPECT_NEAR(low.evaluate(2.8248501119709202, dVdS), lower[k], 1e-13);
    EXPECT_NEAR(-dVdS, lower_force[k], 1e-13);
    EXPECT_EQ(low.evaluate(4.301, dVdS), 0.0);
    EXPECT_GT(low.evaluate(4.2, dVdS), 0.0);
  }
}

TEST(Restraint, harmonic_and_linear)
{
  double dVdS;
  EXPECT_DOUBLE_EQ(restraint(Restraint::Kind::HARMONIC, 3.0, 1.5).evaluate(3.5, dVdS), 6.0);
  EXPECT_DOUBLE_EQ(dVdS, 6.0);
  EXPECT_DOUBLE_EQ(restraint(Restraint::Kind::LINEAR, -2.0, 1.5).evaluate(4.0, dVdS), -5.0);
  EXPECT_DOUBLE_EQ(dVdS, -2.0);
}

// ---------------------------------------------------------------- metadynamics

struct Last {
  double bias = 0.0, dVdS[2] = {}, work = 0.0;
  Hill hill;
};

// Runs steps 1 to 400 with a hill every 5 steps. Returns the bias of step 400 before its hill, as
// PLUMED reports it.
Last run_series(Metadynamics &metad)
{
  Last last;
  for (int k = 1; k <= 400; ++k) {
    const double s[2] = {series(k), second_series(k)};
    if (k % 5) continue;
    last.bias = metad.evaluate(s, last.dVdS);
    last.hill = metad.next_hill(s, last.bias);
    metad.add(last.hill);
    double dVdS[2];
    if (k < 400) last.work += metad.evaluate(s, dVdS) - last.bias;
  }
  return last;
}

struct PlumedCase {
  const char *name;
  int n;
  double biasfactor;
  bool grid, interval;
  double bias, force[2], work, last_height;
  double rct, maxbias;    // after the last hill; 0: without a grid, PLUMED has no such value
  double tolerance;       // PLUMED drops small derivatives at grid points
};

void PrintTo(const PlumedCase &c, std::ostream *out)
{
  *out << c.name;
}

class EqualsPlumed : public testing::TestWithParam<PlumedCase> {};

// PLUMED 2.11, METAD with SIGMA=0.2(,0.15) HEIGHT=0.3 PACE=5 TEMP=1 UNITS NATURAL.
TEST_P(EqualsPlumed, bias_force_work_height)
{
  const auto &c = GetParam();
  auto o = options(c.n, c.biasfactor, c.grid);
  if (c.interval) o.interval = {{4.0, 6.0}};
  Metadynamics metad(o);
  const Last last = run_series(metad);
  EXPECT_EQ(metad.nhills(), 80);
  EXPECT_NEAR(last.bias, c.bias, c.tolerance);
  for (int v = 0; v < c.n; ++v) EXPECT_NEAR(-last.dVdS[v], c.force[v], 30 * c.tolerance);
  EXPECT_NEAR(last.work, c.work, 80 * c.tolerance);
  EXPECT_NEAR(last.hill.file_height, c.last_height, c.tolerance);
  if (c.rct != 0.0) {
    EXPECT_NEAR(metad.reweighting_offset(), c.rct, 3 * c.tolerance);
    EXPECT_NEAR(metad.maximum(), c.maxbias, 3 * c.tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Bias, EqualsPlumed,
    testing::Values(PlumedCase{"plain",
                               1,
                               -1,
                               false,
                               false,
                               1.4645143726132184,
                               {-0.63710765331595742, 0},
                               23.7,
                               0.3,
                               0,
                               0,
                               1e-13},
                    PlumedCase{"tempered",
                               1,
                               8,
                               false,
                               false,
                               1.3490380344506945,
                               {-0.49896295878955371, 0},
                               21.238477106749123,
                               0.28275877473874583,
                               0,
                               0,
                               1e-13},
                    PlumedCase{"grid",
                               1,
                               8,
                               true,
                               false,
                               1.3490474168186624,
                               {-0.49966384443234801, 0},
                               21.238134975329267,
                               0.28275839574658967,
                               1.4501045294058776,
                               2.3465567444427871,
                               1e-8},
                    PlumedCase{"plain_grid",
                               1,
                               -1,
                               true,
                               false,
                               1.4645251406886277,
                               {-0.63792390010645761, 0},
                               23.699625849930676,
                               0.3,
                               1.5826704270978027,
                               2.7129920022877028,
                               1e-8},
                    PlumedCase{"two",
                               2,
                               8,
                               false,
                               false,
                               0.28739125434138768,
                               {0.32584954392777432, -1.2227979699869997},
                               23.383360295428343,
                               0.32906587997462972,
                               0,
                               0,
                               1e-13},
                    PlumedCase{"two_grid",
                               2,
                               8,
                               true,
                               false,
                               0.28745339534597697,
                               {0.32611294848760286, -1.2212222801413501},
                               23.381745373888599,
                               0.32906295877554481,
                               0.087074633563627102,
                               0.92813294729465334,
                               1e-4},
                    PlumedCase{"interval",
                               1,
                               8,
                               false,
                               true,
                               1.3490381382783978,
                               {-0.49896330021037805, 0},
                               8.2354201708702384,
                               0.2827587705447181,
                               0,
                               0,
                               1e-13},
                    PlumedCase{"plain_interval",
                               1,
                               -1,
                               false,
                               true,
                               1.4645143726132184,
                               {-0.63710765331595742, 0},
                               9.1526054114933952,
                               0.3,
                               0,
                               0,
                               1e-13},
                    // PLUMED interpolates the jump of the derivative at the limits over a bin
                    PlumedCase{"interval_grid",
                               1,
                               8,
                               true,
                               true,
                               1.3490475173482226,
                               {-0.49966423537098592, 0},
                               8.2364570705561526,
                               0.28275839168579292,
                               1.8235392730226241,
                               2.0013338500210662,
                               1e-4}),
    [](const auto &info) {
      return std::string(info.param.name);
    });

// sum_hills computes this free energy from the hills file: -gamma/(gamma - 1) V.
TEST(Metadynamics, equals_sum_hills)
{
  double dVdS[2];
  auto o = options(1, 8, false);
  Metadynamics one(o);
  run_series(one);
  for (const auto &[s, fes, der] :
       {std::array<double, 3>{3.95, -2.3791045467828411, 2.0339344107954149},
        {5.0, -1.8159627272533405, -0.55035369927801892},
        {6.5, -2.3844996807321568, -1.54484947291685}}) {
    EXPECT_NEAR(-8.0 / 7.0 * one.evaluate(&s, dVdS), fes, 1e-13);
    EXPECT_NEAR(-8.0 / 7.0 * dVdS[0], der, 1e-12);
  }

  Metadynamics two(options(2, 8, false));
  run_series(two);
  const double s_two[2] = {5.0, 3.1};
  EXPECT_NEAR(-8.0 / 7.0 * two.evaluate(s_two, dVdS), -0.62317549414781204, 1e-13);
  EXPECT_NEAR(-8.0 / 7.0 * dVdS[0], 0.18867793198860755, 1e-12);
  EXPECT_NEAR(-8.0 / 7.0 * dVdS[1], -1.8409445973371974, 1e-12);

  o.interval = {{4.0, 6.0}};
  Metadynamics bounded(o);
  run_series(bounded);
  for (const auto &[s, fes] :
       {std::array<double, 2>{3.95, -2.2871458923323544}, {6.95, -1.9336991297433577}}) {
    EXPECT_NEAR(-8.0 / 7.0 * bounded.evaluate(&s, dVdS), fes, 1e-13);
    EXPECT_EQ(dVdS[0], 0.0);
  }
}

class Surface : public testing::TestWithParam<std::tuple<int, bool>> {};

// On a grid, too, forces are derivatives of the interpolated bias. Energy is therefore conserved.
TEST_P(Surface, derivative_is_the_limit_of_differences)
{
  const auto [n, grid] = GetParam();
  Metadynamics metad(options(n, -1, grid));
  fill(metad, n, 300, 1);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  double maximum = 0.0;
  for (int trial = 0; trial < 200; ++trial) {
    double s[3] = {2.0 + 4.0 * uniform(random), 1.0 + 3.0 * uniform(random), 3.0 * uniform(random)};
    double dVdS[3], ignored[3];
    metad.evaluate(s, dVdS);
    for (int k = 0; k < n; ++k) {
      const double h = 1e-5, at = s[k];
      s[k] = at + h;
      const double up = metad.evaluate(s, ignored);
      s[k] = at - h;
      const double down = metad.evaluate(s, ignored);
      s[k] = at;
      EXPECT_NEAR((up - down) / (2 * h), dVdS[k], 2e-7);
      maximum = std::max(maximum, std::fabs(dVdS[k]));
    }
  }
  EXPECT_GT(maximum, 1.0);
}

TEST_P(Surface, grid_tends_to_the_sum_of_hills)
{
  const auto [n, fine] = GetParam();
  auto o = options(n, -1, true);
  for (auto &axis : o.grid) axis.bins *= fine ? 2 : 1;
  Metadynamics on_grid(o), exact(options(n, -1, false));
  fill(on_grid, n, 100, 3);
  fill(exact, n, 100, 3);
  std::mt19937 random(4);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  double worst = 0.0, maximum = 0.0;
  for (int trial = 0; trial < 1000; ++trial) {
    const double s[3] = {2.0 + 4.0 * uniform(random), 1.0 + 3.0 * uniform(random),
                         3.0 * uniform(random)};
    double dVdS[3];
    const double v = exact.evaluate(s, dVdS);
    worst = std::max(worst, std::fabs(on_grid.evaluate(s, dVdS) - v));
    maximum = std::max(maximum, v);
  }
  // Bins are sigma/4 and sigma/3, or half of these. The remaining error is the kink at the ends of
  // hills, 0.034 h/sigma.
  EXPECT_LT(worst, (fine ? 5e-4 : 1.5e-3) * maximum);
  EXPECT_GT(worst, 0.0);
}

INSTANTIATE_TEST_SUITE_P(Bias, Surface,
                         testing::Combine(testing::Values(1, 2, 3), testing::Bool()));

// The bias and its derivative are continuous across the points of a grid.
TEST(Metadynamics, grid_is_smooth)
{
  Metadynamics metad(options(2, -1, true));
  fill(metad, 2, 100, 5);
  for (int bin = 50; bin < 100; ++bin) {
    double s[2] = {bin * 0.05, 2.51}, below[2], above[2];
    s[0] -= 1e-12;
    const double v = metad.evaluate(s, below);
    s[0] += 2e-12;
    EXPECT_NEAR(metad.evaluate(s, above), v, 1e-10);
    EXPECT_NEAR(above[0], below[0], 1e-8);
    EXPECT_NEAR(above[1], below[1], 1e-8);
  }
}

TEST(Metadynamics, ends_of_the_grid)
{
  Metadynamics metad(options(1, -1, true));
  double dVdS;
  for (const double s : {0.0, 10.0}) EXPECT_EQ(metad.evaluate(&s, &dVdS), 0.0);
  Hill hill;
  hill.center[0] = 10.0;
  hill.sigma[0] = 0.2;
  hill.height = 1.0;
  metad.add(hill);
  hill.center[0] = 1e300;    // no part of the hill is on the grid
  metad.add(hill);
  const double end = 10.0;
  EXPECT_DOUBLE_EQ(metad.evaluate(&end, &dVdS), 1.0);
  EXPECT_DOUBLE_EQ(metad.maximum(), 1.0);
  for (const double s : {-1e-9, 10.0000001, std::nan("")}) {
    try {
      metad.evaluate(&s, &dVdS);
      FAIL() << s;
    } catch (const std::out_of_range &e) {
      EXPECT_NE(
          std::string(e.what()).find("is outside the grid from 0 to 10 - leave out grow no, widen"),
          std::string::npos);
    }
  }
}

}    // namespace
