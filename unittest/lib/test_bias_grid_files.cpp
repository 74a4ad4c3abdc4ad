// Part of GPUCOORD, GPL-2.0. Grid files of metadynamics: read back, altered, and of other formats.

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

// Changes single numbers of the grid or of its hills, at random positions.
TEST_F(Files, altered_grids_and_hills_are_refused)
{
  for (const int n : {1, 2, 3}) {
    auto o = options(n, -1, true);
    for (auto &axis : o.grid) axis.bins = n == 3 ? 14 : 40;
    o.sigma = {0.6, 0.4, 0.4};
    Metadynamics metad(o);
    const auto hills = fill(metad, n, 30, 7);
    metad.write_grid(path);
    std::vector<std::string> lines;
    std::istringstream stream(content(path));
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
      EXPECT_NE(
          message.find("was altered after it was written: its numbers do not have the checksum"),
          std::string::npos)
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
      return message.substr(("grid file " + path).size());
    }
    return std::string();
  };
  EXPECT_EQ(with("min_s 0", "min_s 1"), ", line 2: min_s is 1, but the fix has 0");
  EXPECT_EQ(with("nbins_s 201", "nbins_s 101"), ", line 4: nbins_s is 101, but the fix has 201");
  EXPECT_EQ(with("periodic_s false", "periodic_s true"),
            ", line 5: periodic_s is true, but the fix has false");
  for (const char *format : {"1", "3", "x"})
    EXPECT_EQ(with("grid format 2", std::string("grid format ") + format),
              std::string(", line 6: it has format ") + format +
                  ", but this version of GPUCOORD needs format 2");
  // The format is checked before the columns, which another format may change.
  EXPECT_EQ(with("# GPUCOORD grid format 2\n# hills", "# hills"),
            " has no comment '# GPUCOORD grid format 2': PLUMED, GPUCOORD before version 1.0 or "
            "another program wrote it");
  EXPECT_EQ(with("FIELDS s", "FIELDS t"),
            ", line 1: its columns are t metad.bias der_s, but the fix needs s metad.bias der_s");
  EXPECT_EQ(with(" 10 0 0\n", ""), ", line 208: it ends after 200 of 201 points");
  EXPECT_EQ(with(" 10 0 0\n", " 10 0 x\n"), ", line 209: 'x' is not a number");
  EXPECT_EQ(with("# hills 0\n", ""),
            ", line 208: no line '# hills N' says how many hills are in it");
  EXPECT_EQ(with("# checksums", "# sums"), ", line 209: no line '# checksums hills X grid Y'");
}

}    // namespace
