// Part of GPUCOORD, GPL-2.0. Hills and grid files: read back, damaged, altered, and those of others.

#include "gpucoord/hills_file.h"
#include "gpucoord/metadynamics.h"

#include "bias_hills.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

using namespace gpucoord;

namespace {

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
  EXPECT_TRUE(found.names_units);
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
  EXPECT_FALSE(found.names_units);
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

TEST_F(Files, units_of_another_simulation_are_an_error)
{
  write(2);
  const std::string good = content(path);
  const std::string in_lj = std::regex_replace(good, std::regex("units test"), "units lj");
  ASSERT_NE(in_lj, good);
  std::ofstream(path, std::ios::binary) << in_lj;
  EXPECT_EQ(error_of(),
            "hills file FILE, line 4: its times and heights are in units lj, but this simulation "
            "has units "
            "test - convert them and this line, or give another file");
  // the rest of the comment has no effect
  std::ofstream(path, std::ios::binary)
      << std::regex_replace(good, std::regex("units test.*\n"), "units test: mine\n");
  EXPECT_TRUE(read(path).names_units);
}

TEST_F(Files, lines_may_end_as_on_windows)
{
  write(3);
  std::string text = std::regex_replace(content(path), std::regex("\n"), "\r\n");
  std::ofstream(path, std::ios::binary) << text;
  const auto expected = hills(4);
  {
    HillsFile file(path, options(1, 8, false), "test");
    const auto found = file.read(2);
    EXPECT_TRUE(found.names_units);
    EXPECT_EQ(found.damaged, "");
    EXPECT_EQ(found.nlater, 1);
    file.go_on();
    file.append(0.5, expected[2]);
  }
  const auto found = read(path);
  ASSERT_EQ(found.hills.size(), 3u);
  for (int h = 0; h < 3; ++h) EXPECT_EQ(found.hills[h].height, expected[h].height);
}

// a file that others change is noticed at the next hill, and all hills are saved
TEST_F(Files, changes_by_others_are_noticed_at_the_next_hill)
{
  const std::string other = (folder / "other").string();
  const std::vector<std::pair<std::string, std::function<void()>>> changes = {
      {"was deleted",
       [&] {
         std::filesystem::remove(path);
       }},
      {"was replaced by another file",
       [&] {
         std::filesystem::copy_file(path, other);
         std::filesystem::rename(other, path);
       }},
      {"has 5 bytes in place of the NUMBER that were written",
       [&] {
         std::filesystem::resize_file(path, 5);
       }},
      {"has 0 bytes in place of the NUMBER that were written",
       [&] {
         std::ofstream(path).flush();
       }},
      {"has MORE bytes in place of the NUMBER that were written", [&] {
         std::ofstream(path, std::ios::app) << "# note\n";
       }}};
  for (const bool continued : {false, true})
    for (const auto &[what, change] : changes) {
      for (const auto &entry : std::filesystem::directory_iterator(folder))
        std::filesystem::remove(entry);
      if (continued) write(4);
      HillsFile file(path, options(1, 8, false), "test");
      if (continued) {
        file.read(3);
        file.go_on();
        std::filesystem::remove(folder / "bck.0.HILLS");
      } else {
        file.create();
        for (int h = 0; h < 3; ++h) file.append(0.5, hills(3)[h]);
      }
      const std::string good = content(path);
      change();
      const std::string changed = content(path);
      std::string message;
      try {
        file.append(0.5, hills(4)[3]);
      } catch (const std::runtime_error &e) {
        message = e.what();
      }
      const std::string saved = (folder / "bck.0.HILLS").string();
      std::string expected =
          std::regex_replace(what, std::regex("NUMBER"), std::to_string(good.size()));
      expected = std::regex_replace(expected, std::regex("MORE"), std::to_string(good.size() + 7));
      EXPECT_EQ(message,
                "hills file " + path + " was changed by another program during the run: it " +
                    expected + " - all its hills are now in " + saved + "; rename that file to " +
                    path + " and go on from the last restart file, or with append yes");
      EXPECT_EQ(content(saved), good);
      EXPECT_EQ(content(path), changed);
    }
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
    hills.pop_back();    // fewer than are in the grid
    EXPECT_THROW(Metadynamics(o).read_grid(path, hills), std::runtime_error);
  }
}

// the lines of a grid file of an earlier version: no checksums, and columns for mixed derivatives
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
    hills[11].centre[0] += 1e-6;    // is in the file in 17 digits
    EXPECT_THROW(later.read_grid(path, hills), std::runtime_error);
  }
}

// whatever number of a grid or of its hills is altered, wherever
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
      const auto refusal = [&](const std::vector<Hill> &of_file) {
        Metadynamics copy(o);
        std::ofstream out(path, std::ios::binary);
        for (const auto &line : lines) out << line << "\n";
        out.close();
        try {
          copy.read_grid(path, of_file);
        } catch (const std::runtime_error &e) {
          EXPECT_EQ(copy.nhills(), 0);
          EXPECT_EQ(copy.maximum(), 0.0);    // nothing of the file is in the bias
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
          (part < n           ? hill.centre[part]
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
  EXPECT_EQ(with("periodic_s false", "periodic_s true"), ", line 5: periodic_s is true, but the fix has false");
  EXPECT_EQ(with("FIELDS s", "FIELDS t"),
            ", line 1: its columns are t metad.bias der_s, but the fix needs s metad.bias der_s");
  EXPECT_EQ(with(" 10 0 0\n", ""), ", line 207: it ends after 200 of 201 points");
  EXPECT_EQ(with(" 10 0 0\n", " 10 0 x\n"), ", line 208: 'x' is not a number");
  EXPECT_EQ(with("# hills 0\n", ""),
            ", line 207: no line '# hills N' says how many hills are in it");
}

}    // namespace
