// Part of GPUCOORD, GPL-2.0. Biases of periodic variables: closed forms across the ends of a
// period, sums over images, and files.

#include "gpucoord/bias.h"
#include "gpucoord/device_terms.h"

#include "bias_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr double PI = 3.14159265358979323846;
constexpr Period ANGLE = {-PI, 2.0 * PI};

// The first variable is an angle, the second one has no period.
MetadynamicsOptions angle_options(int n, bool grid, double lo = -PI)
{
  MetadynamicsOptions o;
  o.names = {"phi", "d"};
  o.sigma = {0.7, 0.4};
  o.names.resize(n);
  o.sigma.resize(n);
  o.height = 0.5;
  o.kt = 1.3;
  o.period = {ANGLE, {}};
  o.period.resize(n);
  if (grid) o.grid = {{lo, lo + 2.0 * PI, 200, true}, {0.0, 4.0, 100}};
  if (grid) o.grid.resize(n);
  return o;
}

// Half of the hills are near the ends of the period.
std::vector<Hill> angle_hills(int n, int count)
{
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::vector<Hill> hills;
  for (int h = 0; h < count; ++h) {
    Hill hill;
    hill.center[0] = h % 2 ? PI * (2.0 * uniform(random) - 1.0)
                           : (h % 4 ? 1.0 : -1.0) * (PI - 0.2 * uniform(random));
    hill.sigma[0] = 0.3 + 0.5 * uniform(random);
    if (n > 1) hill.center[1] = 1.0 + 2.0 * uniform(random);
    if (n > 1) hill.sigma[1] = 0.4;
    hill.height = hill.file_height = 0.1 + uniform(random);
    hills.push_back(hill);
  }
  return hills;
}

// The sum over hills and over their images in five periods.
double sum_over_images(const std::vector<Hill> &hills, int n, const double *s)
{
  const double cut = std::exp(-6.25);
  double v = 0.0;
  for (const Hill &hill : hills)
    for (int image = -2; image <= 2; ++image) {
      double u = 0.0;
      for (int k = 0; k < n; ++k) {
        const double d = s[k] - hill.center[k] + (k == 0 ? 2.0 * PI * image : 0.0);
        u += 0.5 * d * d / (hill.sigma[k] * hill.sigma[k]);
      }
      if (u < 6.25) v += hill.height * (std::exp(-u) - cut) / (1.0 - cut);
    }
  return v;
}

TEST(Periods, shortest_difference)
{
  EXPECT_EQ((Period{}.difference(7.0, 1.0)), 6.0);
  EXPECT_NEAR(ANGLE.difference(-3.1, 3.1), 2.0 * PI - 6.2, 1e-15);
  EXPECT_NEAR(ANGLE.difference(3.1, -3.1), 6.2 - 2.0 * PI, 1e-15);
  EXPECT_NEAR(ANGLE.difference(0.5, 0.25 + 6.0 * PI), 0.25, 1e-14);
  EXPECT_NEAR((Period{0.0, 4.0}.difference(3.9, 0.1)), -0.2, 1e-15);
}

// PLUMED 2.11, RESTRAINT AT=3.1 KAPPA=10 of a CUSTOM with PERIODIC=-pi,pi, at -3.1.
TEST(Periods, harmonic_equals_plumed)
{
  Restraint restraint;
  restraint.k = 10.0;
  restraint.s0 = 3.1;
  restraint.period = ANGLE.length;
  double dVdS;
  EXPECT_NEAR(restraint.evaluate(-3.1, dVdS), 0.034599, 5e-7);
  EXPECT_NEAR(-dVdS, -0.831853, 5e-7);
  restraint.period = 0.0;
  EXPECT_NEAR(restraint.evaluate(-3.1, dVdS), 192.2, 1e-12);
}

// V and its derivative are those of the nearest image, continuous at the ends of the period.
TEST(Periods, harmonic_is_continuous)
{
  for (const double s0 : {3.0, -3.0, 3.0 + 6.0 * PI}) {
    Restraint restraint;
    restraint.k = 2.0;
    restraint.s0 = s0;
    restraint.period = ANGLE.length;
    const double center = s0 - 2.0 * PI * std::floor(s0 / (2.0 * PI) + 0.5);
    for (const double d : {-0.5, -0.2, 0.0, 0.1, 0.3}) {
      double s = center + d, dVdS;
      if (s > PI) s -= 2.0 * PI;
      if (s < -PI) s += 2.0 * PI;
      EXPECT_NEAR(restraint.evaluate(s, dVdS), d * d, 1e-13);
      EXPECT_NEAR(dVdS, 2.0 * d, 1e-13);
    }
    double below, above;
    EXPECT_NEAR(restraint.evaluate(PI - 1e-12, below), restraint.evaluate(1e-12 - PI, above),
                1e-10);
    EXPECT_NEAR(below, above, 1e-10);
  }
}

class Surface : public testing::TestWithParam<int> {};

TEST_P(Surface, hills_equal_the_sum_over_images)
{
  const int n = GetParam();
  Metadynamics metad(angle_options(n, false));
  const auto hills = angle_hills(n, 40);
  for (const Hill &hill : hills) metad.add(hill);
  for (int k = 0; k <= 400; ++k) {
    double s[2] = {-PI + PI * k / 200.0, 2.1}, dVdS[2], ignored[2];
    EXPECT_NEAR(metad.evaluate(s, dVdS), sum_over_images(hills, n, s), 1e-12);
    const double h = 1e-5, at = s[0];
    s[0] = at + h;
    const double up = metad.evaluate(s, ignored);
    s[0] = at - h;
    EXPECT_NEAR((up - metad.evaluate(s, ignored)) / (2.0 * h), dVdS[0], 2e-6);
  }
}

TEST_P(Surface, grid_equals_the_sum_at_its_points)
{
  const int n = GetParam();
  Metadynamics metad(angle_options(n, true));
  const auto hills = angle_hills(n, 40);
  for (const Hill &hill : hills) metad.add(hill);
  for (int k = 0; k <= 200; ++k) {
    const double s[2] = {-PI + 2.0 * PI * k / 200.0, 2.0};
    double dVdS[2];
    EXPECT_NEAR(metad.evaluate(s, dVdS), sum_over_images(hills, n, s), 1e-11);
  }
  // Values outside of the period are those of their images.
  for (const double s0 : {-3.0, -0.3, 2.9}) {
    const double s[2] = {s0, 1.7}, next[2] = {s0 + 2.0 * PI, 1.7}, last[2] = {s0 - 6.0 * PI, 1.7};
    double dVdS[2], of_next[2];
    const double v = metad.evaluate(s, dVdS);
    EXPECT_NEAR(metad.evaluate(next, of_next), v, 1e-12);
    EXPECT_NEAR(of_next[0], dVdS[0], 1e-12);
    EXPECT_NEAR(metad.evaluate(last, of_next), v, 1e-12);
  }
}

// The lower end of the grid is arbitrary.
TEST_P(Surface, grid_may_begin_anywhere)
{
  const int n = GetParam();
  Metadynamics metad(angle_options(n, true)), rotated(angle_options(n, true, 0.0));
  for (const Hill &hill : angle_hills(n, 40)) {
    metad.add(hill);
    rotated.add(hill);
  }
  for (int k = 0; k < 500; ++k) {
    const double s[2] = {-PI + 2.0 * PI * (k + 0.3) / 500.0, 1.0 + k / 300.0};
    double dVdS[2], other[2];
    EXPECT_NEAR(metad.evaluate(s, dVdS), rotated.evaluate(s, other), 1e-11);
    for (int v = 0; v < n; ++v) EXPECT_NEAR(dVdS[v], other[v], 1e-10);
  }
  EXPECT_NEAR(metad.maximum(), rotated.maximum(), 1e-11);
  EXPECT_NEAR(metad.reweighting_offset(), rotated.reweighting_offset(), 1e-11);
}

INSTANTIATE_TEST_SUITE_P(Periods, Surface, testing::Values(1, 2));

// A point at both ends of the grid counts once in c(t).
TEST(Periods, reweighting_offset_counts_each_point_once)
{
  Metadynamics metad(angle_options(1, true));
  const auto hills = angle_hills(1, 40);
  for (const Hill &hill : hills) metad.add(hill);
  double unbiased = 0.0;
  for (int k = 0; k < 200; ++k) {
    const double s = -PI + 2.0 * PI * k / 200.0;
    unbiased += std::exp(sum_over_images(hills, 1, &s) / 1.3);
  }
  EXPECT_NEAR(metad.reweighting_offset(), 1.3 * std::log(unbiased / 200.0), 1e-11);
}

// A hill with the largest sigma reaches its own image and does not overlap it.
TEST(Periods, largest_hill)
{
  EXPECT_NEAR(largest_sigma(ANGLE), PI / std::sqrt(12.5), 1e-15);
  for (const bool grid : {false, true}) {
    auto o = angle_options(1, grid);
    Metadynamics metad(o);
    Hill hill;
    hill.center[0] = 3.0;
    hill.sigma[0] = largest_sigma(ANGLE);
    hill.height = 1.0;
    metad.add(hill);
    for (int k = 0; k <= 200; ++k) {
      const double s = -PI + 2.0 * PI * k / 200.0;
      double dVdS;
      EXPECT_NEAR(metad.evaluate(&s, &dVdS), sum_over_images({hill}, 1, &s), 1e-12);
    }
  }
}

class PeriodFiles : public Files {
 protected:
  std::string error_of_reading(const MetadynamicsOptions &o)
  {
    try {
      HillsFile(path, o, "LAMMPS", "test").read(HillsFile::ALL);
    } catch (const std::runtime_error &e) {
      std::string text = e.what();
      const auto at = text.find(path);
      if (at != std::string::npos) text.replace(at, path.size(), "FILE");
      return text;
    }
    return "";
  }
};

TEST_F(PeriodFiles, hills_have_the_ends_of_periods)
{
  const auto o = angle_options(2, false);
  const auto hills = angle_hills(2, 5);
  {
    HillsFile file(path, o, "LAMMPS", "test");
    file.create();
    for (const auto &hill : hills) file.append(0.5, hill);
  }
  EXPECT_NE(content(path).find("\n#! SET min_phi -pi\n#! SET max_phi pi\n"), std::string::npos);
  EXPECT_EQ(content(path).find("min_d"), std::string::npos);
  {
    const auto found = HillsFile(path, o, "LAMMPS", "test").read(HillsFile::ALL);
    ASSERT_EQ(found.hills.size(), 5u);
    for (int h = 0; h < 5; ++h) EXPECT_EQ(found.hills[h].center[0], hills[h].center[0]);
  }
  auto other = o;
  other.period = {};
  EXPECT_EQ(error_of_reading(other),
            "hills file FILE, line 4: min_phi is -pi, but the variable is not periodic here - give "
            "another "
            "file");
  other.period = {{0.0, 2.0 * PI}, {}};
  EXPECT_EQ(error_of_reading(other),
            "hills file FILE, line 4: min_phi is -pi, but the variable has 0 - give another file");
  other.period = {ANGLE, {0.0, 100.0}};
  EXPECT_EQ(error_of_reading(other),
            "hills file FILE, line 8: a hill comes before the lines '#! SET min_NAME' and "
            "'max_NAME' of each periodic variable - give a file of hills of the same variables");
  other.period = {{-PI, 2.0 * PI}, {}};
  std::ofstream(path, std::ios::app) << " 1 0 1 0.9 1 1 1\n";
  EXPECT_EQ(error_of_reading(other),
            "hills file FILE, line 13: sigma 0.9 is above 0.888577, so that the hill overlaps its "
            "own image in the next period - give another file");
}

TEST_F(PeriodFiles, grid_reads_back_to_the_last_bit)
{
  for (const int n : {1, 2}) {
    const auto o = angle_options(n, true);
    Metadynamics metad(o), copy(o);
    const auto hills = angle_hills(n, 20);
    for (const auto &hill : hills) metad.add(hill);
    metad.write_grid(path);
    const std::string text = content(path);
    EXPECT_NE(text.find("#! SET min_phi -pi\n#! SET max_phi pi\n#! SET nbins_phi 200\n"
                        "#! SET periodic_phi true\n"),
              std::string::npos);
    if (n > 1)
      EXPECT_NE(text.find("#! SET nbins_d 101\n#! SET periodic_d false\n"), std::string::npos);
    copy.read_grid(path, hills);
    EXPECT_EQ(copy.grid_values(), metad.grid_values());
    auto other = o;
    other.grid[0].is_periodic = false;
    other.period = {};
    EXPECT_THROW(Metadynamics(other).read_grid(path, hills), std::runtime_error);
  }
}

// ---- words of the user

class PeriodWords : public Files {
 protected:
  std::unique_ptr<Bias> make(const std::string &words)
  {
    BiasContext context;
    context.command = "fix bias";
    context.names = {"t_1", "d"};
    context.labels = {"c_t[1]", "c_d"};
    context.periods = {ANGLE, {}};
    context.print = context.warn = [](const std::string &) {
    };
    std::istringstream stream(words);
    std::vector<std::string> list;
    for (std::string word; stream >> word;) list.push_back(word == "FILE" ? path : word);
    return make_bias(list, context);
  }
  std::string error_of(const std::string &words)
  {
    try {
      make(words);
    } catch (const ParseError &e) {
      return std::to_string(e.word) + " " + e.what();
    }
    return "";
  }
};

TEST_F(PeriodWords, errors)
{
  EXPECT_EQ(
      error_of("linear k 1 1"),
      "0 Fix bias linear cannot act on c_t[1], which is periodic from -pi to pi: V would jump "
      "at the ends - use kind harmonic or moving, or its sine and cosine: output sincos of compute "
      "coord/geometry, or compute coord/custom");
  EXPECT_EQ(error_of("metad sigma 0.9 1 height 1 pace 1 file FILE"),
            "2 Fix bias metad sigma is 0.9 but must be <= 0.888577 for c_t[1], or a hill overlaps "
            "its own image in the next period");
  EXPECT_EQ(error_of("metad sigma 0.5 1 height 1 pace 1 file FILE grid -3 3 0 1 bins 50 50"),
            "11 Fix bias metad grid of c_t[1] from -3 to 3 must have the length of its period, "
            "6.283185307179586 - use -pi pi");
  EXPECT_EQ(error_of("metad sigma 0.5 1 height 1 pace 1 file FILE interval -3 3 0 1"),
            "10 Fix bias metad interval cannot end the bias of c_t[1], which is periodic - leave "
            "out keyword interval");
  EXPECT_EQ(error_of("metad sigma 0.5 1 height 1 pace 1 file FILE grid -pi pi 0 1 bins 50 50"), "");
  EXPECT_EQ(
      error_of("metad sigma 0.5 1 height 1 pace 1 file FILE grid 0 6.283185307179586 0 1 bins "
               "50 50"),
      "");
}

TEST_F(PeriodWords, moving_restraint)
{
  const auto bias = make("moving k 2 1 s0 3 1 s0/stop 4 1 steps 10");
  EXPECT_NE(bias->formula(0).find("\n  shortest differences of periodic variables: c_t[1] from -pi "
                                  "to pi"),
            std::string::npos);
  double work = 0.0;
  for (int k = 0; k <= 10; ++k) {
    Step step;
    step.timestep = step.elapsed = k;
    const double s0 = 3.0 + 0.1 * k, s[2] = {3.2 - 2.0 * PI, 1.0};    // the image of 3.2
    bias->set(step, [](const std::string &) {
      return 0.0;
    });
    bias->evaluate(step, s);
    EXPECT_NEAR(bias->state().energy, (3.2 - s0) * (3.2 - s0), 1e-13);
    EXPECT_NEAR(bias->state().dVdS[0], 2.0 * (3.2 - s0), 1e-13);
    if (k) work += (3.2 - s0) * (3.2 - s0) - (3.3 - s0) * (3.3 - s0);
    EXPECT_NEAR(bias->state().work, work, 1e-12);
  }
}

// The bias of a periodic variable on a grid is the same in its form for the GPU.
TEST_F(PeriodWords, form_for_the_gpu)
{
  const auto bias = make("harmonic k 2 1 s0 3 1");
  DeviceTerms terms;
  bias->set(Step(), [](const std::string &) {
    return 0.0;
  });
  bias->on_device(Step(), terms);
  EXPECT_EQ(terms.now[0].period, ANGLE.length);
  EXPECT_EQ(terms.now[1].period, 0.0);
  const auto metad = make("metad sigma 0.5 1 height 1 pace 1 file FILE grid -pi pi 0 1 bins 50 50");
  metad->begin({});
  metad->on_device(Step(), terms);
  EXPECT_TRUE(terms.grid.axes[0].is_periodic);
  EXPECT_FALSE(terms.grid.axes[1].is_periodic);
}

}    // namespace
