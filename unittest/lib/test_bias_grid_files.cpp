// Part of GPUCOORD, GPL-2.0. Grid files of metadynamics: read back, altered, and written by earlier
// versions.

#include "bias_files.h"

#include <cstdio>
#include <random>

namespace {

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
      const double s[3] = {2.0 + 4.0 * uniform(random), 1.0 + 3.0 * uniform(random),
                           3.0 * uniform(random)};
      double dVdS[3], dVdS_of_copy[3];
      EXPECT_EQ(metad.evaluate(s, dVdS), copy.evaluate(s, dVdS_of_copy));
      for (int k = 0; k < n; ++k) EXPECT_EQ(dVdS[k], dVdS_of_copy[k]);
    }
    hills.pop_back();    // fewer hills than in the grid
    EXPECT_THROW(Metadynamics(o).read_grid(path, hills), std::runtime_error);
  }
}

// Returns a grid file as an earlier version wrote it, without checksums and with columns for mixed
// derivatives.
std::string of_earlier_version(const std::string &text, int n)
{
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("# checksums") == 0 || line.find("# after") == 0) continue;
    if (line.find("FIELDS") != std::string::npos && n == 2) line += " der_s_t";
    if (line.find("FIELDS") != std::string::npos && n == 3)
      line += " der_s_t der_s_u der_t_u der_s_t_u";
    if (line[0] == ' ' && n > 1) line.erase(line.find("# "), 2);
    result += line + "\n";
  }
  return result;
}

TEST_F(Files, grids_of_earlier_versions_are_compared_with_the_hills)
{
  for (const int n : {1, 2, 3}) {
    auto o = options(n, -1, true);
    for (auto &axis : o.grid) axis.bins /= n;
    Metadynamics metad(o), copy(o), later(o);
    auto hills = fill(metad, n, 30, 7);
    metad.write_grid(path);
    EXPECT_TRUE(copy.read_grid(path, hills));
    const std::string earlier = of_earlier_version(content(path), n);
    std::ofstream(path, std::ios::binary) << earlier;
    EXPECT_FALSE(copy.read_grid(path, hills));
    EXPECT_EQ(copy.grid_values(), metad.grid_values());
    EXPECT_EQ(copy.hills_checksum(), metad.hills_checksum());
    hills[11].center[0] += 1e-6;    // the file has 17 digits
    EXPECT_THROW(later.read_grid(path, hills), std::runtime_error);
  }
}

// An earlier version wrote this grid file of the five hills below.
const char GRID_OF_EARLIER_VERSION[] =
    "#! FIELDS c d metad.bias der_c der_d der_c_d\n"
    "#! SET min_c 1.5\n"
    "#! SET max_c 3\n"
    "#! SET nbins_c 4\n"
    "#! SET periodic_c false\n"
    "#! SET min_d 1.6000000000000001\n"
    "#! SET max_d 2.3999999999999999\n"
    "#! SET nbins_d 3\n"
    "#! SET periodic_d false\n"
    "# hills 5\n"
    " 1.5 1.6000000000000001 0.26616329033462249 0.27977235515705368 0.52323401142072468 "
    "0.58633912301359792\n"
    " 2 1.6000000000000001 0.32540726749617976 -0.080116615068819383 0.66347423181095566 "
    "-0.11343313045724451\n"
    " 2.5 1.6000000000000001 0.20804269320223701 -0.32136522268637091 0.44068628389569436 "
    "-0.64642633217962253\n"
    " 3 1.6000000000000001 0.069117686409855883 -0.19863027224383201 0.15278695712191503 "
    "-0.42355184689932057\n"
    "\n"
    " 1.5 2 0.35699356185022185 0.3960151964900735 -0.17714577865367481 -0.14199015565352735\n"
    " 2 2 0.44977332267622205 -0.083159535662433268 -0.18865925372038156 0.10362466522423956\n"
    " 2.5 2 0.29651360821146938 -0.43989391976928877 -0.10230904257811455 0.1942167679203462\n"
    " 3 2 0.10162448605556165 -0.28533125276410665 -0.028265432948135664 0.091784242660887069\n"
    "\n"
    " 1.5 2.3999999999999999 0.17888751110591078 0.20996335628051557 -0.52987079110834356 "
    "-0.59092119237182084\n"
    " 2 2.3999999999999999 0.23254038321859066 -0.02893889241789005 -0.67013261936834612 "
    "0.11794089420108494\n"
    " 2.5 2.3999999999999999 0.1577284722965647 -0.22575577975760316 -0.44406003210156464 "
    "0.65331553279289167\n"
    " 3 2.3999999999999999 0.055230562934785635 -0.15350863654148245 -0.15365135438152658 "
    "0.42649476618348903\n"
    "\n";

TEST_F(Files, grid_file_that_an_earlier_version_wrote)
{
  const std::vector<Hill> grid_hills = {
      {{1.6958470418797313, 1.8584045294963913},
       {0.59999999999999998, 0.40000000000000002},
       height_of_bias(0.13333333333333333, 4.0),
       0.13333333333333333},
      {{1.8098241155232915, 1.881837756893217},
       {0.59999999999999998, 0.40000000000000002},
       height_of_bias(0.13048252770200372, 4.0),
       0.13048252770200372},
      {{1.9374714010842848, 1.9285016793845524},
       {0.59999999999999998, 0.40000000000000002},
       height_of_bias(0.12795649606402379, 4.0),
       0.12795649606402379},
      {{2.0569114670966293, 1.9815830123625202},
       {0.59999999999999998, 0.40000000000000002},
       height_of_bias(0.12585248642256283, 4.0),
       0.12585248642256283},
      {{2.1407960774863644, 2.0059922202278928},
       {0.59999999999999998, 0.40000000000000002},
       height_of_bias(0.12382520363244542, 4.0),
       0.12382520363244542},
  };
  auto o = options(2, 4, false);
  o.names = {"c", "d"};
  o.grid = {{1.5, 3.0, 3}, {1.6, 2.4, 2}};
  std::ofstream(path, std::ios::binary) << GRID_OF_EARLIER_VERSION;
  Metadynamics copy(o), sum(o);
  EXPECT_FALSE(copy.read_grid(path, grid_hills));
  EXPECT_EQ(copy.nhills(), 5);
  for (const auto &hill : grid_hills) sum.add(hill);
  EXPECT_EQ(copy.hills_checksum(), sum.hills_checksum());
  // V and derivatives at c = 2, d = 2.
  const double expected[] = {0.44977332267622205, -0.083159535662433268, -0.18865925372038156,
                             0.10362466522423956};
  for (int k = 0; k < 4; ++k) EXPECT_EQ(copy.grid_values()[4 * 5 + k], expected[k]);
  std::string altered = GRID_OF_EARLIER_VERSION;
  altered.replace(altered.find("0.103624"), 8, "0.103625");
  std::ofstream(path, std::ios::binary) << altered;
  try {
    Metadynamics(o).read_grid(path, grid_hills);
    FAIL();
  } catch (const std::runtime_error &e) {
    EXPECT_EQ(std::string(e.what()),
              "grid file " + path +
                  " is not the sum of these hills: it has der_c_d = 0.1036256652 at c = 2, d = 2, "
                  "where the first 5 hills have 0.1036246652");
  }
}

// Changes single numbers of the grid or of its hills, at random positions.
TEST_F(Files, altered_grids_and_hills_are_refused)
{
  for (const int n : {1, 2, 3})
    for (const bool checksums : {true, false}) {
      auto o = options(n, -1, true);
      for (auto &axis : o.grid) axis.bins = n == 3 ? 14 : 40;
      o.sigma = {0.6, 0.4, 0.4};
      Metadynamics metad(o);
      const auto hills = fill(metad, n, 30, 7);
      metad.write_grid(path);
      std::string text = content(path);
      if (!checksums) text = of_earlier_version(text, n);
      std::vector<std::string> lines;
      std::istringstream stream(text);
      for (std::string line; std::getline(stream, line);) lines.push_back(line);
      const auto refusal = [&](const std::vector<Hill> &file_hills) {
        Metadynamics copy(o);
        std::ofstream out(path, std::ios::binary);
        for (const auto &line : lines) out << line << "\n";
        out.close();
        try {
          copy.read_grid(path, file_hills);
        } catch (const std::runtime_error &e) {
          EXPECT_EQ(copy.nhills(), 0);
          EXPECT_EQ(copy.maximum(), 0.0);    // the bias has no data from the file
          return std::string(e.what());
        }
        return std::string();
      };
      EXPECT_EQ(refusal(hills), "");
      std::mt19937 random(n);
      for (int trial = 0; trial < 60; ++trial) {
        auto &line = lines[random() % lines.size()];
        if (line[0] != ' ') continue;
        const std::string good = line;
        std::istringstream words(line);
        std::vector<std::string> numbers;
        for (std::string word; words >> word;) numbers.push_back(word);
        std::size_t which = n + random() % (numbers.size() - n);
        if (numbers[which] == "#") ++which;
        const double changed = std::stod(numbers[which]) + 1e-6;
        char word_changed[32];
        std::snprintf(word_changed, sizeof(word_changed), "%.17g", changed);
        numbers[which] = word_changed;
        line.clear();
        for (const auto &word : numbers) line += " " + word;
        const std::string message = refusal(hills);
        if (checksums)
          EXPECT_NE(message.find(
                        "was altered after it was written: its numbers do not have the checksum"),
                    std::string::npos)
              << message;
        else
          EXPECT_NE(message.find(" is not the sum of these hills: it has "), std::string::npos)
              << message;
        line = good;
      }
      for (const int which : {0, 14, 29})
        for (int part = 0; part < 2 * n + 1; ++part) {
          auto altered = hills;
          Hill &hill = altered[which];
          (part < n           ? hill.center[part]
               : part < 2 * n ? hill.sigma[part - n]
                              : hill.height) *= 1.0 + 1e-5;
          EXPECT_NE(refusal(altered).find(" is not the sum of these hills: "), std::string::npos);
        }
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
  EXPECT_EQ(with("periodic_s false", "periodic_s true"),
            ", line 5: periodic_s is true, but the fix has false");
  for (const char *format : {"3", "x"})
    EXPECT_EQ(with("grid format 2", std::string("grid format ") + format),
              std::string(", line 6: it has format ") + format +
                  ", but this version of GPUCOORD knows formats up to 2");
  // The format is checked before the columns, which a newer format may change.
  EXPECT_EQ(with("FIELDS s metad.bias", "FIELDS t metad.bias").find(", line 1"), 0u);
  EXPECT_EQ(with("grid format 2", "grid format 1"), "");
  EXPECT_EQ(with("# GPUCOORD grid format 2\n", ""), "");
  EXPECT_EQ(with("FIELDS s", "FIELDS t"),
            ", line 1: its columns are t metad.bias der_s, but the fix needs s metad.bias der_s");
  EXPECT_EQ(with(" 10 0 0\n", ""), ", line 208: it ends after 200 of 201 points");
  EXPECT_EQ(with(" 10 0 0\n", " 10 0 x\n"), ", line 209: 'x' is not a number");
  EXPECT_EQ(with("# hills 0\n", ""),
            ", line 208: no line '# hills N' says how many hills are in it");
}

}    // namespace
