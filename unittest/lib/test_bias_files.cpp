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

// A killed run may leave any beginning of the header. Other files must not be overwritten.
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

// An error at the next hill, which saves all hills: from the file, or from memory where their text is
// lost. Later hills repeat the error and save nothing again.
TEST_F(Files, changes_by_others_are_noticed_at_the_next_hill)
{
  const std::string other = (folder / "other").string();
  struct Change {
    std::string what;
    bool loses_text;
    std::function<void()> make;
  };
  const std::vector<Change> changes = {
      {"was deleted", false,
       [&] {
         std::filesystem::remove(path);
       }},
      {"was replaced by another file", false,
       [&] {
         std::filesystem::copy_file(path, other);
         std::filesystem::rename(other, path);
       }},
      {"has 5 bytes in place of the NUMBER that were written", true,
       [&] {
         std::filesystem::resize_file(path, 5);
       }},
      {"has 0 bytes in place of the NUMBER that were written", true,
       [&] {
         std::ofstream(path).flush();
       }},
      {"was deleted", true,
       [&] {
         std::filesystem::resize_file(path, 300);
         std::filesystem::remove(path);
       }},
      {"has MORE bytes in place of the NUMBER that were written", true,
       [&] {
         const std::string text = content(path);
         std::ofstream(path) << "# note\n" << text;
       }},
      {"has MORE bytes in place of the NUMBER that were written", false, [&] {
         std::ofstream(path, std::ios::app) << "# note\n";
       }}};
  for (const bool continued : {false, true})
    for (const bool keeps_hills : {false, true})
      for (const auto &[what, loses_text, change] : changes) {
        for (const auto &entry : std::filesystem::directory_iterator(folder))
          std::filesystem::remove(entry);
        const auto known = hills(3);
        if (continued) write(4);
        HillsFile file(path, options(1, 8, false), "test");
        if (continued) {
          file.read(3);
          file.go_on();
          std::filesystem::remove(folder / "bck.0.HILLS");
        } else {
          file.create();
          for (const auto &hill : known) file.append(0.5, hill);
        }
        const std::string good = content(path);
        change();
        const std::string changed = content(path);
        const std::string saved = (folder / "bck.0.HILLS").string();
        std::string expected = "hills file " + path +
            " was changed by another program during the run: it " +
            std::regex_replace(what, std::regex("NUMBER"), std::to_string(good.size())) + " - ";
        expected =
            std::regex_replace(expected, std::regex("MORE"), std::to_string(good.size() + 7));
        expected += loses_text && !keeps_hills ? "text of its hills is lost, and a bias on a grid "
                                                 "keeps no hills; what is left is now in " +
                saved +
                " - use a backup of the hills file, and go on from a restart file of its time"
                                               : "all its hills are now in " + saved +
                (loses_text ? ", with time 0 because their text is lost" : "") +
                "; rename that file to " + path +
                " and go on from the last restart file, or with append yes";
        for (int hill = 0; hill < 2; ++hill) {
          std::string message;
          try {
            file.append(0.5, hills(4)[3], keeps_hills ? &known : nullptr);
          } catch (const std::runtime_error &e) {
            message = e.what();
          }
          EXPECT_EQ(message, expected);
        }
        const std::string left = what == "was deleted" ? good.substr(0, 300) : changed;
        EXPECT_EQ(content(saved),
                  !loses_text       ? good
                      : keeps_hills ? std::regex_replace(good, std::regex("\n 0\\.5 "), "\n 0 ")
                                    : left);
        EXPECT_EQ(content(path), changed);
        EXPECT_FALSE(std::filesystem::exists(folder / "bck.1.HILLS"));
      }
}

// A hill that was read may have another biasfactor, of which only the height in the bias is known.
TEST_F(Files, hills_saved_from_memory_keep_their_height)
{
  HillsFile file(path, options(1, 8, false), "test");
  file.create();
  auto known = hills(3);
  known[1].height = height_of_bias(known[1].file_height, 3.0);
  std::filesystem::resize_file(path, 5);
  EXPECT_THROW(file.append(0.5, hills(4)[3], &known), std::runtime_error);
  const auto found = read((folder / "bck.0.HILLS").string());
  ASSERT_EQ(found.hills.size(), 3u);
  for (int h = 0; h < 3; ++h) EXPECT_EQ(found.hills[h].height, known[h].height);
}

// The path is that of the folder in which the file was opened.
TEST_F(Files, directory_may_change_during_the_run)
{
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::current_path(folder);
  HillsFile file("HILLS", options(1, 8, false), "test");
  file.create();
  file.append(0.5, hills(1)[0]);
  std::filesystem::current_path(folder / "sub");
  std::string message;
  try {
    file.append(0.5, hills(2)[1]);
    std::filesystem::remove(path);
    file.append(0.5, hills(3)[2]);
  } catch (const std::runtime_error &e) {
    message = e.what();
  }
  std::filesystem::current_path(before);
  const std::string saved = (folder / "bck.0.HILLS").string();
  EXPECT_EQ(message,
            "hills file HILLS was changed by another program during the run: it was deleted - all "
            "its hills are now in " +
                saved + "; rename that file to " + path +
                " and go on from the last restart file, or with append yes");
  EXPECT_EQ(read(saved).hills.size(), 2u);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "sub"));
}

// The file stays open, so the next hill saves them where that has become possible.
TEST_F(Files, hills_that_cannot_be_saved_are_kept)
{
  const std::string home = (folder / "home").string(), name = home + "/HILLS";
  std::filesystem::create_directory(home);
  HillsFile file(name, options(1, 8, false), "test");
  file.create();
  for (const auto &hill : hills(3)) file.append(0.5, hill);
  const std::string good = content(name);
  std::filesystem::remove_all(home);
  const auto message = [&] {
    try {
      file.append(0.5, hills(4)[3]);
    } catch (const std::runtime_error &e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string saved = home + "/bck.0.HILLS";
  const std::string deleted =
      "hills file " + name + " was changed by another program during the run: it was deleted - ";
  EXPECT_EQ(message(),
            deleted + "its hills cannot be saved under another name: cannot write " + saved +
                ": No such file or directory");
  std::filesystem::create_directory(home);
  EXPECT_EQ(message(),
            deleted + "all its hills are now in " + saved + "; rename that file to " + name +
                " and go on from the last restart file, or with append yes");
  EXPECT_EQ(content(saved), good);
}

TEST_F(Files, devices_are_not_compared)
{
  std::filesystem::create_symlink("/dev/null", path);
  HillsFile file(path, options(1, 8, false), "test");
  EXPECT_EQ(file.create(), "");
  for (const auto &hill : hills(3)) file.append(0.5, hill);
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_FALSE(std::filesystem::exists(folder / "bck.0.HILLS"));
}

// The file may be intact where its path cannot be looked up: nothing is blamed and nothing is saved.
TEST_F(Files, paths_that_cannot_be_looked_up_are_errors)
{
  const std::string aside = (folder / "aside").string();
  write(2);
  const std::string expected = content(path);
  std::filesystem::remove(path);
  HillsFile file(path, options(1, 8, false), "test");
  file.create();
  file.append(0.5, hills(1)[0]);
  std::filesystem::rename(path, aside);
  std::filesystem::create_symlink("HILLS", path);    // leads to itself
  std::string message;
  try {
    file.append(0.5, hills(2)[1]);
  } catch (const std::runtime_error &e) {
    message = e.what();
  }
  EXPECT_EQ(message,
            "cannot check hills file " + path +
                " before a hill is added: Too many levels of symbolic links - make " + path +
                " accessible and go on from the last restart file, or with append yes");
  EXPECT_FALSE(std::filesystem::exists(folder / "bck.0.HILLS"));
  std::filesystem::remove(path);
  std::filesystem::rename(aside, path);
  file.append(0.5, hills(2)[1]);
  EXPECT_EQ(content(path), expected);
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
  const std::vector<Hill> of_grid = {
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
  EXPECT_FALSE(copy.read_grid(path, of_grid));
  EXPECT_EQ(copy.nhills(), 5);
  for (const auto &hill : of_grid) sum.add(hill);
  EXPECT_EQ(copy.hills_checksum(), sum.hills_checksum());
  // V and derivatives at c = 2, d = 2
  const double expected[] = {0.44977332267622205, -0.083159535662433268, -0.18865925372038156,
                             0.10362466522423956};
  for (int k = 0; k < 4; ++k) EXPECT_EQ(copy.grid_values()[4 * 5 + k], expected[k]);
  std::string altered = GRID_OF_EARLIER_VERSION;
  altered.replace(altered.find("0.103624"), 8, "0.103625");
  std::ofstream(path, std::ios::binary) << altered;
  try {
    Metadynamics(o).read_grid(path, of_grid);
    FAIL();
  } catch (const std::runtime_error &e) {
    EXPECT_EQ(std::string(e.what()),
              "grid file " + path +
                  " is not the sum of these hills: it has der_c_d = 0.1036256652 at c = 2, d = 2, "
                  "where the first 5 hills have 0.1036246652");
  }
}

// Altered are single numbers of the grid or of its hills, at random places.
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
