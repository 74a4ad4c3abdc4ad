// Part of GPUCOORD, GPL-2.0. Tests of smooth regions: weights as closed forms, their periods, and
// their derivatives as differences.

#include "gpucoord/smooth_region.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using gpucoord::RegionBox;
using gpucoord::RegionOptions;
using Kind = RegionOptions::Kind;

const RegionBox TILTED = {
    {-1.0, 2.0, 0.5}, {{6.0, 0.0, 0.0}, {2.5, 5.0, 0.0}, {-2.0, 1.5, 7.0}}, {true, true, true}};
const double CENTER[3] = {1.3, 4.1, 2.2};
const std::vector<RegionOptions> REGIONS = {{Kind::X, -1.5, 1.0, 0.3},
                                            {Kind::Y, 3.0, 7.9, 0.6},
                                            {Kind::Z, 9.0, 10.0, 0.4},
                                            {Kind::R, 0.0, 1.2, 0.15},
                                            {Kind::R, 0.6, 1.4, 0.1}};

struct Weights {
  std::vector<double> w, gradient, strain;
};

Weights evaluate(const RegionOptions &options, const RegionBox &box, const double *center,
                 const std::vector<double> &x)
{
  const auto n = static_cast<std::int64_t>(x.size() / 3);
  Weights out;
  out.w.resize(n);
  out.gradient.resize(3 * n);
  out.strain.resize(6 * n);
  std::vector<int> rows(n);
  std::iota(rows.rbegin(), rows.rend(), 0);    // the last atom first
  evaluate_region(make_region(options, box, center), n, rows.data(), x.data(),
                  {out.w.data(), out.gradient.data(), out.strain.data()}, 2);
  return out;
}

std::vector<double> random_positions(int n)
{
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::vector<double> x;
  for (int k = 0; k < n; ++k) {
    const double f[3] = {uniform(random), uniform(random), uniform(random)};
    for (int c = 0; c < 3; ++c)
      x.push_back(TILTED.lower[c] + f[0] * TILTED.edges[0][c] + f[1] * TILTED.edges[1][c] +
                  f[2] * TILTED.edges[2][c]);
  }
  return x;
}

// The fraction of a Gaussian around u, by the error function in extended precision.
double fraction(double u, long double lo, long double hi, long double smear)
{
  const long double scale = 1.0L / (std::sqrt(2.0L) * smear);
  return static_cast<double>(0.5L * (std::erf((hi - u) * scale) - std::erf((lo - u) * scale)));
}

TEST(SmoothRegion, weights_in_an_open_box_are_the_closed_form)
{
  RegionBox box = {{0.0, 0.0, 0.0}, {{9.0, 0.0, 0.0}, {0.0, 9.0, 0.0}, {0.0, 0.0, 9.0}}, {}};
  for (const double u : {-40.0, 0.0, 1.0, 1.2, 2.0, 2.9, 3.0, 3.4, 50.0})
    for (const double smear : {0.01, 0.3, 2.0}) {
      const double in_slab = evaluate({Kind::Y, 1.0, 3.0, smear}, box, nullptr, {5, u, -3}).w[0];
      EXPECT_NEAR(in_slab, fraction(u, 1.0L, 3.0L, smear), 1e-15) << u;
      const double r = std::fabs(u) * std::sqrt(14.0);
      const std::vector<double> x = {CENTER[0] + u, CENTER[1] - 2 * u, CENTER[2] + 3 * u};
      EXPECT_NEAR(evaluate({Kind::R, 1.0, 3.0, smear}, box, CENTER, x).w[0],
                  fraction(r, 1.0L, 3.0L, smear), 1e-13);
      EXPECT_NEAR(evaluate({Kind::R, 0.0, 3.0, smear}, box, CENTER, x).w[0],
                  fraction(r, -1e30L, 3.0L, smear), 1e-13);
    }
  const auto at_center =
      evaluate({Kind::R, 0.0, 3.0, 0.5}, box, CENTER, {CENTER[0], CENTER[1], CENTER[2]});
  EXPECT_NEAR(at_center.w[0], 1.0, 1e-8);
  for (const double one : at_center.gradient) EXPECT_EQ(one, 0.0);
}

TEST(SmoothRegion, a_slab_of_one_period_has_weight_1_everywhere)
{
  for (const double smear : {0.01, 0.7}) {
    const auto all = evaluate({Kind::Z, 3.0, 10.0, smear}, TILTED, nullptr, random_positions(200));
    for (const double w : all.w) EXPECT_NEAR(w, 1.0, 1e-14);
    for (const double g : all.gradient) EXPECT_NEAR(g, 0.0, 1e-13);
  }
}

TEST(SmoothRegion, images_have_the_same_weights)
{
  const std::vector<double> x = random_positions(100);
  for (const RegionOptions &options : REGIONS) {
    const auto expected = evaluate(options, TILTED, CENTER, x);
    EXPECT_GT(std::accumulate(expected.w.begin(), expected.w.end(), 0.0), 1.0);
    for (int edge = 0; edge < 3; ++edge)
      for (const int n : {-1, 2}) {
        std::vector<double> image = x;
        for (std::size_t k = 0; k < x.size(); ++k) image[k] += n * TILTED.edges[edge][k % 3];
        const auto found = evaluate(options, TILTED, CENTER, image);
        for (std::size_t k = 0; k < found.w.size(); ++k)
          EXPECT_NEAR(found.w[k], expected.w[k], 1e-12);
        for (std::size_t k = 0; k < found.strain.size(); ++k)
          EXPECT_NEAR(found.strain[k], expected.strain[k], 1e-10);
      }
  }
}

double difference(const std::function<double(double)> &value)
{
  constexpr double H = 1e-3;
  const double coarse = (value(H) - value(-H)) / (2 * H), fine = (value(H / 2) - value(-H / 2)) / H;
  return (4 * fine - coarse) / 3;
}

// A strain of box and atoms that leaves the center of the box in place, if it changes lengths, and
// otherwise the lower corner, as LAMMPS does. The center of a ball moves.
TEST(SmoothRegion, derivatives_are_differences)
{
  const std::vector<double> x = random_positions(40);
  for (const RegionOptions &options : REGIONS) {
    const auto all = evaluate(options, TILTED, CENTER, x);
    const int n = static_cast<int>(all.w.size());
    double largest = 0.0;
    for (int k = 0; k < n; ++k) {
      const double *const of_atom = &x[3 * (n - 1 - k)];    // see evaluate()
      for (int c = 0; c < 3; ++c) {
        const double expected = difference([&](double by) {
          std::vector<double> moved(of_atom, of_atom + 3);
          moved[c] += by;
          return evaluate(options, TILTED, CENTER, moved).w[0];
        });
        EXPECT_NEAR(all.gradient[3 * k + c], expected, 1e-6);
        largest = std::max(largest, std::fabs(expected));
      }
      const int strains[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
      for (int s = 0; s < 6; ++s) {
        const int a = strains[s][0], b = strains[s][1];
        const double fixed = TILTED.lower[b] + (a == b ? 0.5 * TILTED.edges[a][a] : 0.0);
        const double expected = difference([&](double by) {
          RegionBox box = TILTED;
          std::vector<double> moved(of_atom, of_atom + 3), center(CENTER, CENTER + 3);
          for (int edge = 0; edge < 3; ++edge) box.edges[edge][a] += by * TILTED.edges[edge][b];
          box.lower[a] += by * (TILTED.lower[b] - fixed);
          moved[a] += by * (of_atom[b] - fixed);
          center[a] += by * (CENTER[b] - fixed);
          return evaluate(options, box, center.data(), moved).w[0];
        });
        EXPECT_NEAR(all.strain[6 * k + s], expected, 1e-5) << static_cast<int>(options.kind);
        largest = std::max(largest, std::fabs(expected));
      }
    }
    EXPECT_GT(largest, 0.1);
  }
}

void expect_error(const std::function<void()> &work, const std::string &field,
                  const std::string &text)
{
  try {
    work();
    ADD_FAILURE() << "no error: " << text;
  } catch (const gpucoord::OptionError &e) {
    EXPECT_EQ(e.field, field);
    EXPECT_EQ(std::string(e.what()), text);
  }
}

TEST(SmoothRegion, bad_options_are_errors)
{
  const auto check = [](const RegionOptions &options, const char *field, const char *text) {
    expect_error(
        [&] {
          check_options(options);
        },
        field, text);
  };
  check({Kind::X, NAN, 1.0, 0.1}, "lo", "a bound is nan but must be a finite number");
  check({Kind::X, 0.0, INFINITY, 0.1}, "hi", "a bound is inf but must be a finite number");
  check({Kind::Z, 2.0, 2.0, 0.1}, "hi", "the upper bound is 2 but must be above the lower bound 2");
  check({Kind::R, -1.0, 2.0, 0.1}, "lo",
        "the smallest distance is -1 but must be >= 0 - use 0 for a ball");
  check({Kind::Z, 1.0, 2.0, 0.0}, "smear", "smear is 0 but must be > 0 and finite");
  const auto make = [](const RegionOptions &options, const char *field, const char *text) {
    expect_error(
        [&] {
          make_region(options, TILTED, CENTER);
        },
        field, text);
  };
  make({Kind::Z, 0.0, 7.1, 0.1}, "hi",
       "the region from 0 to 7.1 is wider than 7, the period of the box - use a narrower one");
  make({Kind::X, 0.0, 1.0, 0.8}, "smear",
       "smear 0.8 exceeds an eighth of 6, the period of the box - use a smaller one");
  make({Kind::R, 0.0, 2.5, 0.1}, "hi",
       "the largest distance 2.5 plus 8 times smear 0.1 exceeds 2.795084972, half the shortest "
       "period of the box - use smaller numbers");
}

}    // namespace
