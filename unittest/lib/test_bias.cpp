// Part of GPUCOORD, GPL-2.0. Bias potentials: against PLUMED's figures, closed forms and differences.

#include "gpucoord/hills_file.h"
#include "gpucoord/metadynamics.h"
#include "gpucoord/restraint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <vector>

using namespace gpucoord;

namespace {

// ---------------------------------------------------------------- restraints

Restraint restraint(Restraint::Kind kind, double k, double s0, double exponent = 2.0, double offset = 0.0)
{
  Restraint r;
  r.kind = kind;
  r.k = k;
  r.s0 = s0;
  r.exponent = exponent;
  r.offset = offset;
  return r;
}

// PLUMED 2.11, RESTRAINT, UPPER_WALLS and LOWER_WALLS at three values of a variable, EXP 2, 3.5, 4
TEST(Restraint, equals_plumed)
{
  double slope;
  const double upper[3] = {0.97191572694063544, 0.63901841824557692, 0.55565892957326102};
  const double lower[3] = {3.6993142266587515, 6.6278923900492446, 8.0499563220940225};
  const double lower_force[3] = {5.0155096192988715, 15.725604261249861, 21.828171868960158};
  const double upper_force[3] = {-2.570802781855567, -2.9579550912239498, -2.9395337112331306};
  const double exponents[3] = {2.0, 3.5, 4.0};
  for (int k = 0; k < 3; ++k) {
    const auto up = restraint(Restraint::Kind::UPPER_WALL, 1.7, 6.0, exponents[k], 0.3);
    EXPECT_NEAR(up.evaluate(6.4561184652516372, slope), upper[k], 1e-14);
    EXPECT_NEAR(-slope, upper_force[k], 1e-13);
    EXPECT_EQ(up.evaluate(5.699, slope), 0.0);
    EXPECT_EQ(slope, 0.0);
    EXPECT_GT(up.evaluate(5.8, slope), 0.0);
    const auto low = restraint(Restraint::Kind::LOWER_WALL, 1.7, 4.0, exponents[k], 0.3);
    EXPECT_NEAR(low.evaluate(2.8248501119709202, slope), lower[k], 1e-13);
    EXPECT_NEAR(-slope, lower_force[k], 1e-13);
    EXPECT_EQ(low.evaluate(4.301, slope), 0.0);
    EXPECT_GT(low.evaluate(4.2, slope), 0.0);
  }
}

TEST(Restraint, harmonic_and_linear)
{
  double slope;
  EXPECT_DOUBLE_EQ(restraint(Restraint::Kind::HARMONIC, 3.0, 1.5).evaluate(3.5, slope), 6.0);
  EXPECT_DOUBLE_EQ(slope, 6.0);
  EXPECT_DOUBLE_EQ(restraint(Restraint::Kind::LINEAR, -2.0, 1.5).evaluate(4.0, slope), -5.0);
  EXPECT_DOUBLE_EQ(slope, -2.0);
}

// ---------------------------------------------------------------- metadynamics

// the series that PLUMED's driver was given, through its READ
double series(int k)
{
  return 5.0 + 2.2 * std::sin(0.7 * k) + 0.9 * std::cos(1.9 * k);
}

double second_series(int k)
{
  return 3.0 + 1.1 * std::cos(0.53 * k) + 0.4 * std::sin(2.3 * k);
}

MetadynamicsOptions options(int n, double biasfactor, bool grid)
{
  MetadynamicsOptions o;
  o.names = {"s", "t", "u"};
  o.names.resize(n);
  o.sigma = {0.2, 0.15, 0.3};
  o.sigma.resize(n);
  o.height = 0.3;
  o.biasfactor = biasfactor;
  o.kt = 1.0;
  if (grid) {
    o.grid = {{0.0, 10.0, 200}, {0.0, 6.0, 120}, {-1.0, 4.0, 60}};
    o.grid.resize(n);
  }
  return o;
}

struct Last {
  double bias = 0.0, slope[2] = {}, work = 0.0;
  Hill hill;
};

// steps 1 to 400 with a hill every 5; of step 400, the bias before its hill, as PLUMED reports it
Last run_series(Metadynamics &metad)
{
  Last last;
  for (int k = 1; k <= 400; ++k) {
    const double s[2] = {series(k), second_series(k)};
    if (k % 5) continue;
    last.bias = metad.evaluate(s, last.slope);
    last.hill = metad.next_hill(s, last.bias);
    metad.add(last.hill);
    double slope[2];
    if (k < 400) last.work += metad.evaluate(s, slope) - last.bias;
  }
  return last;
}

struct PlumedCase {
  const char *name;
  int n;
  double biasfactor;
  bool grid, interval;
  double bias, force[2], work, last_height;
  double rct, maxbias;      // after the last hill; 0: PLUMED has none without a grid
  double tolerance;         // PLUMED drops small slopes at grid points, and has no mixed derivatives
};

void PrintTo(const PlumedCase &c, std::ostream *out)
{
  *out << c.name;
}

class EqualsPlumed : public testing::TestWithParam<PlumedCase> {};

// PLUMED 2.11, METAD with SIGMA=0.2(,0.15) HEIGHT=0.3 PACE=5 TEMP=1 UNITS NATURAL
TEST_P(EqualsPlumed, bias_force_work_height)
{
  const auto &c = GetParam();
  auto o = options(c.n, c.biasfactor, c.grid);
  if (c.interval) o.interval = {{4.0, 6.0}};
  Metadynamics metad(o);
  const Last last = run_series(metad);
  EXPECT_EQ(metad.nhills(), 80);
  EXPECT_NEAR(last.bias, c.bias, c.tolerance);
  for (int v = 0; v < c.n; ++v) EXPECT_NEAR(-last.slope[v], c.force[v], 30 * c.tolerance);
  EXPECT_NEAR(last.work, c.work, 80 * c.tolerance);
  EXPECT_NEAR(last.hill.file_height, c.last_height, c.tolerance);
  if (c.rct != 0.0) {
    EXPECT_NEAR(metad.reweighting_offset(), c.rct, 3 * c.tolerance);
    EXPECT_NEAR(metad.maximum(), c.maxbias, 3 * c.tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Bias, EqualsPlumed,
    testing::Values(
        PlumedCase{"plain", 1, -1, false, false, 1.4645143726132184, {-0.63710765331595742, 0}, 23.7, 0.3, 0, 0, 1e-13},
        PlumedCase{"tempered", 1, 8, false, false, 1.3490380344506945, {-0.49896295878955371, 0}, 21.238477106749123,
                   0.28275877473874583, 0, 0, 1e-13},
        PlumedCase{"grid", 1, 8, true, false, 1.3490474168186624, {-0.49966384443234801, 0}, 21.238134975329267,
                   0.28275839574658967, 1.4501045294058776, 2.3465567444427871, 1e-8},
        PlumedCase{"plain_grid", 1, -1, true, false, 1.4645251406886277, {-0.63792390010645761, 0}, 23.699625849930676,
                   0.3, 1.5826704270978027, 2.7129920022877028, 1e-8},
        PlumedCase{"two", 2, 8, false, false, 0.28739125434138768, {0.32584954392777432, -1.2227979699869997},
                   23.383360295428343, 0.32906587997462972, 0, 0, 1e-13},
        PlumedCase{"two_grid", 2, 8, true, false, 0.28745339534597697, {0.32611294848760286, -1.2212222801413501},
                   23.381745373888599, 0.32906295877554481, 0.087074633563627102, 0.92813294729465334, 1e-4},
        PlumedCase{"interval", 1, 8, false, true, 1.3490381382783978, {-0.49896330021037805, 0}, 8.2354201708702384,
                   0.2827587705447181, 0, 0, 1e-13},
        PlumedCase{"plain_interval", 1, -1, false, true, 1.4645143726132184, {-0.63710765331595742, 0},
                   9.1526054114933952, 0.3, 0, 0, 1e-13},
        // PLUMED interpolates the jump of the slope at the limits over a bin
        PlumedCase{"interval_grid", 1, 8, true, true, 1.3490475173482226, {-0.49966423537098592, 0},
                   8.2364570705561526, 0.28275839168579292, 1.8235392730226241, 2.0013338500210662, 1e-4}),
    [](const auto &info) { return std::string(info.param.name); });

// the surface that sum_hills makes of the hills file: -gamma/(gamma - 1) V
TEST(Metadynamics, equals_sum_hills)
{
  double slope[2];
  auto o = options(1, 8, false);
  Metadynamics one(o);
  run_series(one);
  for (const auto &[s, fes, der] : {std::array<double, 3>{3.95, -2.3791045467828411, 2.0339344107954149},
                                    {5.0, -1.8159627272533405, -0.55035369927801892},
                                    {6.5, -2.3844996807321568, -1.54484947291685}}) {
    EXPECT_NEAR(-8.0 / 7.0 * one.evaluate(&s, slope), fes, 1e-13);
    EXPECT_NEAR(-8.0 / 7.0 * slope[0], der, 1e-12);
  }

  Metadynamics two(options(2, 8, false));
  run_series(two);
  const double place[2] = {5.0, 3.1};
  EXPECT_NEAR(-8.0 / 7.0 * two.evaluate(place, slope), -0.62317549414781204, 1e-13);
  EXPECT_NEAR(-8.0 / 7.0 * slope[0], 0.18867793198860755, 1e-12);
  EXPECT_NEAR(-8.0 / 7.0 * slope[1], -1.8409445973371974, 1e-12);

  o.interval = {{4.0, 6.0}};
  Metadynamics bounded(o);
  run_series(bounded);
  for (const auto &[s, fes] : {std::array<double, 2>{3.95, -2.2871458923323544}, {6.95, -1.9336991297433577}}) {
    EXPECT_NEAR(-8.0 / 7.0 * bounded.evaluate(&s, slope), fes, 1e-13);
    EXPECT_EQ(slope[0], 0.0);
  }
}

// hills at random places, of random heights
std::vector<Hill> fill(Metadynamics &metad, int n, int nhills, unsigned seed)
{
  std::vector<Hill> hills;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const double lo[3] = {2.0, 1.0, 0.0}, width[3] = {4.0, 3.0, 3.0}, sigma[3] = {0.2, 0.15, 0.3};
  for (int h = 0; h < nhills; ++h) {
    Hill hill;
    for (int k = 0; k < n; ++k) {
      hill.centre[k] = lo[k] + width[k] * uniform(random);
      hill.sigma[k] = sigma[k];
    }
    hill.height = hill.file_height = uniform(random);
    metad.add(hill);
    hills.push_back(hill);
  }
  return hills;
}

class Surface : public testing::TestWithParam<std::tuple<int, bool>> {};

// on a grid, too: forces are derivatives of the interpolated bias, so that energy is conserved
TEST_P(Surface, slope_is_the_derivative)
{
  const auto [n, grid] = GetParam();
  Metadynamics metad(options(n, -1, grid));
  fill(metad, n, 300, 1);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  double most = 0.0;
  for (int trial = 0; trial < 200; ++trial) {
    double s[3] = {2.0 + 4.0 * uniform(random), 1.0 + 3.0 * uniform(random), 3.0 * uniform(random)};
    double slope[3], ignored[3];
    metad.evaluate(s, slope);
    for (int k = 0; k < n; ++k) {
      const double h = 1e-5, at = s[k];
      s[k] = at + h;
      const double up = metad.evaluate(s, ignored);
      s[k] = at - h;
      const double down = metad.evaluate(s, ignored);
      s[k] = at;
      EXPECT_NEAR((up - down) / (2 * h), slope[k], 2e-7);
      most = std::max(most, std::fabs(slope[k]));
    }
  }
  EXPECT_GT(most, 1.0);
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
  double worst = 0.0, most = 0.0;
  for (int trial = 0; trial < 1000; ++trial) {
    const double s[3] = {2.0 + 4.0 * uniform(random), 1.0 + 3.0 * uniform(random), 3.0 * uniform(random)};
    double slope[3];
    const double v = exact.evaluate(s, slope);
    worst = std::max(worst, std::fabs(on_grid.evaluate(s, slope) - v));
    most = std::max(most, v);
  }
  // bins are sigma/4 and sigma/3, or half of it: the kink at the ends of hills, 0.034 h/sigma, is what remains
  EXPECT_LT(worst, (fine ? 5e-4 : 1.5e-3) * most);
  EXPECT_GT(worst, 0.0);
}

INSTANTIATE_TEST_SUITE_P(Bias, Surface, testing::Combine(testing::Values(1, 2, 3), testing::Bool()));

// the bias and its slope are continuous over the points of a grid
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
  double slope;
  for (const double s : {0.0, 10.0}) EXPECT_EQ(metad.evaluate(&s, &slope), 0.0);
  Hill hill;
  hill.centre[0] = 10.0;
  hill.sigma[0] = 0.2;
  hill.height = 1.0;
  metad.add(hill);
  hill.centre[0] = 1e300;    // nothing of it is on the grid
  metad.add(hill);
  const double end = 10.0;
  EXPECT_DOUBLE_EQ(metad.evaluate(&end, &slope), 1.0);
  EXPECT_DOUBLE_EQ(metad.maximum(), 1.0);
  for (const double s : {-1e-9, 10.0000001, std::nan("")}) {
    try {
      metad.evaluate(&s, &slope);
      FAIL() << s;
    } catch (const std::out_of_range &e) {
      EXPECT_NE(std::string(e.what()).find("is outside the grid from 0 to 10 - widen keyword grid"), std::string::npos);
    }
  }
}

// ---------------------------------------------------------------- files

class Files : public testing::Test {
 protected:
  void SetUp() override
  {
    folder = std::filesystem::temp_directory_path() /
        ("gpucoord_bias_" + std::to_string(::getpid()) + "_" +
         testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directory(folder);
    path = (folder / "HILLS").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static std::string content(const std::string &name)
  {
    std::ifstream in(name, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  static std::vector<Hill> hills(int n)
  {
    std::vector<Hill> result;
    for (int h = 0; h < n; ++h) {
      Hill hill;
      hill.centre[0] = series(h) / 3.0;
      hill.sigma[0] = 0.1 + h / 7.0;
      hill.file_height = 1.0 / (h + 1);
      hill.height = height_of_bias(hill.file_height, 8.0);
      result.push_back(hill);
    }
    return result;
  }
  void write(int n)
  {
    HillsFile file(path, options(1, 8, false), "test");
    file.create();
    for (const auto &hill : hills(n)) file.append(0.5, hill);
  }
  static HillsFile::Existing read(const std::string &name)
  {
    return HillsFile(name, options(1, 8, false), "test").read(HillsFile::ALL);
  }
  // the message with FILE for the name; a file that is refused stays as it is
  std::string error_of(std::int64_t count = HillsFile::ALL)
  {
    const bool exists = std::filesystem::exists(path);
    const std::string before = content(path);
    std::string text;
    try {
      HillsFile(path, options(1, 8, false), "test").read(count);
    } catch (const std::runtime_error &e) {
      text = e.what();
      const auto at = text.find(path);
      if (at != std::string::npos) text.replace(at, path.size(), "FILE");
    }
    EXPECT_EQ(std::filesystem::exists(path), exists);
    EXPECT_EQ(content(path), before);
    return text;
  }

  std::filesystem::path folder;
  std::string path;
};

TEST_F(Files, hills_read_back_to_the_last_bit)
{
  write(20);
  const auto found = read(path);
  const auto expected = hills(20);
  ASSERT_EQ(found.hills.size(), 20u);
  for (int h = 0; h < 20; ++h) {
    EXPECT_EQ(found.hills[h].centre[0], expected[h].centre[0]);
    EXPECT_EQ(found.hills[h].sigma[0], expected[h].sigma[0]);
    EXPECT_EQ(found.hills[h].height, expected[h].height);
  }
  EXPECT_EQ(found.damaged, "");
  EXPECT_EQ(found.nlater, 0);
  EXPECT_TRUE(found.has_comment);
  EXPECT_EQ(found.other_biasfactor, 0.0);
}

// PLUMED 2.11 wrote these lines
TEST_F(Files, reads_plumed)
{
  std::ofstream(path) << "#! FIELDS time s sigma_s height biasf\n#! SET multivariate false\n"
                         "#! SET kerneltype stretched-gaussian\n"
                         "                      200       5.0153029346568108      0.20000000000000001      "
                         "0.28275877473874583                        8\n";
  const auto found = read(path);
  EXPECT_FALSE(found.has_comment);
  ASSERT_EQ(found.hills.size(), 1u);
  EXPECT_EQ(found.hills[0].centre[0], 5.0153029346568108);
  EXPECT_DOUBLE_EQ(found.hills[0].height, 0.28275877473874583 * 7.0 / 8.0);
}

TEST_F(Files, new_file_backs_up_earlier_ones)
{
  write(1);
  const std::string first = content(path);
  write(2);
  const std::string second = content(path);
  write(3);
  EXPECT_EQ(content((folder / "bck.0.HILLS").string()), first);
  EXPECT_EQ(content((folder / "bck.1.HILLS").string()), second);
}

TEST_F(Files, later_hills_move_to_a_backup)
{
  write(3);
  const std::string three = content(path);
  std::filesystem::remove(path);
  write(5);
  {
    HillsFile file(path, options(1, 8, false), "test");
    const std::string five = content(path);
    const auto found = file.read(3);
    EXPECT_EQ(found.nlater, 2);
    EXPECT_EQ(found.hills.size(), 3u);
    EXPECT_EQ(content(path), five);
    EXPECT_EQ(file.go_on(), (folder / "bck.0.HILLS").string());
    EXPECT_EQ(content(path), three);
    file.append(0.5, hills(4)[3]);
  }
  const auto moved = read((folder / "bck.0.HILLS").string());
  ASSERT_EQ(moved.hills.size(), 2u);
  EXPECT_EQ(moved.hills[0].centre[0], hills(5)[3].centre[0]);
  EXPECT_EQ(read(path).hills.size(), 4u);
}

// a run that was killed may have written any part of its last line
TEST_F(Files, every_cut_of_the_last_line_is_repaired)
{
  write(3);
  const std::string three = content(path);
  std::filesystem::remove(path);
  write(4);
  const std::string four = content(path);
  for (std::size_t size = three.size() + 1; size < four.size(); ++size) {
    std::ofstream(path, std::ios::binary) << four.substr(0, size);
    HillsFile file(path, options(1, 8, false), "test");
    const auto found = file.read(HillsFile::ALL);
    file.go_on();
    EXPECT_EQ(found.hills.size(), 3u);
    EXPECT_NE(found.damaged, "");
    file.append(0.5, hills(4)[3]);
    EXPECT_EQ(content(path), four) << size;
  }
}

// any beginning of the header is what a killed run leaves; all else is not ours to overwrite
TEST_F(Files, begins_of_a_header_are_completed_and_other_files_refused)
{
  write(0);
  const std::string header = content(path);
  for (std::size_t size = 0; size <= header.size(); ++size) {
    std::ofstream(path, std::ios::binary) << header.substr(0, size);
    HillsFile file(path, options(1, 8, false), "test");
    EXPECT_EQ(file.read(HillsFile::ALL).hills.size(), 0u);
    file.go_on();
    EXPECT_EQ(content(path), header) << size;
  }
  for (const char *const text : {"my notes", "# my notes\n", "#! FIELDS time s sigma_s height biasg", "\n"}) {
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(error_of(), "file FILE is not a hills file - give the name of one, or of a new file") << text;
  }
}

TEST_F(Files, has_one_writer)
{
  HillsFile file(path, options(1, 8, false), "test");
  file.create();
  const std::string message = "hills file " + path + " is being written by another fix or run - use one file for each";
  const std::string link = (folder / "link").string();
  std::filesystem::create_symlink(path, link);
  for (const bool append : {false, true})
    for (const std::string &name : {path, link}) {
      HillsFile other(name, options(1, 8, false), "test");
      try {
        if (append)
          other.read(HillsFile::ALL);
        else
          other.create();
        FAIL() << name;
      } catch (const std::runtime_error &e) {
        EXPECT_EQ(std::string(e.what()).replace(11, name.size(), path), message);
      }
    }
  EXPECT_FALSE(std::filesystem::exists(folder / "bck.0.HILLS"));
  file.append(0.5, hills(1)[0]);
}

TEST_F(Files, damage_and_other_files_are_errors)
{
  write(4);
  const std::string good = content(path);
  EXPECT_EQ(error_of(5), "hills file FILE ends after 4 of the 5 hills that were in the bias of the restart file - give the hills file "
            "of that run");
  const std::string header = good.substr(0, good.find(" 0.5"));
  const auto with = [&](const std::string &lines) {
    std::ofstream(path, std::ios::binary) << header << lines;
    return error_of();
  };
  const std::string line = " 0.5 1 0.1 0.3 8\n";
  EXPECT_EQ(with(" 0.5 1 0.1 0.3\n" + line),
            "hills file FILE, line 5: 4 columns in place of 5 - repair it, or use a backup of it");
  EXPECT_EQ(with(line + " 0.5 1 0.1 x 8\n" + line),
            "hills file FILE, line 6: 'x' is not a number - repair it, or use a backup of it");
  EXPECT_EQ(with(" 0.5 1 0 0.3 8\n" + line),
            "hills file FILE, line 5: sigma 0 is not above 0 - repair it, or use a backup of it");
  std::ofstream(path) << "#! FIELDS time phi sigma_phi height biasf\n" << line;
  EXPECT_NE(error_of().find("it has the columns 'time phi sigma_phi height biasf', but this fix needs 'time s sigma_s "
                            "height biasf'"),
            std::string::npos);
  std::ofstream(path) << header << "#! SET kerneltype gaussian\n";
  EXPECT_NE(error_of().find("kerneltype is gaussian, but only stretched-gaussian is known"), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_EQ(error_of(), "cannot read hills file FILE: No such file or directory");
}

TEST_F(Files, grid_reads_back_to_the_last_bit)
{
  for (const int n : {1, 2, 3}) {
    auto o = options(n, -1, true);
    for (auto &axis : o.grid) axis.bins /= n;
    Metadynamics metad(o), copy(o);
    auto hills = fill(metad, n, 30, 7);
    metad.write_grid(path);
    copy.read_grid(path, hills);
    EXPECT_EQ(copy.nhills(), 30);
    std::mt19937 random(8);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (int trial = 0; trial < 100; ++trial) {
      const double s[3] = {2.0 + 4.0 * uniform(random), 1.0 + 3.0 * uniform(random), 3.0 * uniform(random)};
      double slope[3], slope_of_copy[3];
      EXPECT_EQ(metad.evaluate(s, slope), copy.evaluate(s, slope_of_copy));
      for (int k = 0; k < n; ++k) EXPECT_EQ(slope[k], slope_of_copy[k]);
    }
    // a grid of other hills, or of more than there are
    hills[29].height *= 1.001;
    EXPECT_THROW(Metadynamics(o).read_grid(path, hills), std::runtime_error);
    hills.pop_back();
    EXPECT_THROW(Metadynamics(o).read_grid(path, hills), std::runtime_error);
  }
}

TEST_F(Files, bad_grid_files_are_errors)
{
  Metadynamics metad(options(1, -1, true));
  metad.write_grid(path);
  const std::string good = content(path);
  const auto with = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    std::ofstream(path, std::ios::binary) << text;
    try {
      metad.read_grid(path, {});
    } catch (const std::runtime_error &e) {
      const std::string message = e.what();
      return message.substr(message.find(", line"));
    }
    return std::string();
  };
  EXPECT_EQ(with("min_s 0", "min_s 1"), ", line 2: min_s is 1, but the fix has 0");
  EXPECT_EQ(with("nbins_s 201", "nbins_s 101"), ", line 4: nbins_s is 101, but the fix has 201");
  EXPECT_EQ(with("periodic_s false", "periodic_s true"), ", line 5: periodic_s is true, but the fix has false");
  EXPECT_EQ(with("FIELDS s", "FIELDS t"),
            ", line 1: its columns are t metad.bias der_s, but the fix needs s metad.bias der_s");
  EXPECT_EQ(with(" 10 0 0\n", ""), ", line 206: it ends after 200 of 201 points");
  EXPECT_EQ(with(" 10 0 0\n", " 10 0 x\n"), ", line 207: 'x' is not a number");
  EXPECT_EQ(with("# hills 0\n", ""), ", line 206: no line '# hills N' says how many hills are in it");
}

}    // namespace
