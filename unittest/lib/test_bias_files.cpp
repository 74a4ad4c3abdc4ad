// Part of GPUCOORD, GPL-2.0. Hills files: read back, damaged, altered, and written by PLUMED.

#include "bias_files.h"

#include "gpucoord/trim_file.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <stdexcept>

namespace {

TEST_F(Files, hills_read_back_to_the_last_bit)
{
  write(20);
  const auto found = read(path);
  const auto expected = hills(20);
  ASSERT_EQ(found.hills.size(), 20u);
  for (int h = 0; h < 20; ++h) {
    EXPECT_EQ(found.hills[h].center[0], expected[h].center[0]);
    EXPECT_EQ(found.hills[h].sigma[0], expected[h].sigma[0]);
    EXPECT_EQ(found.hills[h].height, expected[h].height);
  }
  EXPECT_EQ(found.damaged, "");
  EXPECT_EQ(found.nlater, 0);
  EXPECT_TRUE(found.names_units);
  for (const auto &deposit : found.deposits) EXPECT_EQ(deposit.row.back(), 8.0);
}

double last_time(const std::string &file_name)
{
  gpucoord::AppendedFile file(file_name);
  file.read();
  return file.lines().last_time;
}

// Files of other programs that a restarted run continues.
TEST_F(Files, later_lines_move_to_a_backup_file)
{
  const std::string begin = "#! FIELDS time s\n 0.4 5\n 0.1 5\n 0.2 6\n",
                    later = " 0.3 7\n#! SET x 1\n 0.5 8\n";
  const auto text_of = [](const std::string &name) {
    std::ifstream file(name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::ofstream(path) << begin << later;
  EXPECT_EQ(last_time(path), 0.5);
  EXPECT_EQ(gpucoord::trim_file(path, 0.5).backup, "");
  EXPECT_EQ(text_of(path), begin + later);
  const std::string backup = gpucoord::trim_file(path, 0.25).backup;
  EXPECT_EQ(text_of(path), begin);
  EXPECT_EQ(text_of(backup), "#! FIELDS time s\n" + later);
  EXPECT_EQ(last_time(path), 0.2);
  EXPECT_EQ(gpucoord::trim_file(path + ".nix", 0.0).backup, "");
  EXPECT_EQ(last_time(path + ".nix"), -HUGE_VAL);
  const std::string second = gpucoord::trim_file(path, 0.0).backup;
  EXPECT_NE(second, backup);
  EXPECT_EQ(text_of(second), begin);
  EXPECT_EQ(text_of(path), "#! FIELDS time s\n");
}

// A run that is killed leaves any part of its last line.
TEST_F(Files, text_after_the_last_line_is_removed)
{
  const auto text_of = [](const std::string &name) {
    std::ifstream file(name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string lines = "#! FIELDS time s\n 0.1 5\n 0.2 6\n", later = " 0.3 7\n";
  for (const char *const rest : {" ", " 0", " 0.25", " 0.25 5", "#! FIEL"}) {
    std::ofstream(path) << lines << rest;
    const auto trimmed = gpucoord::trim_file(path, 0.25);
    EXPECT_EQ(trimmed.backup, "");
    EXPECT_EQ(trimmed.incomplete, rest);
    EXPECT_EQ(text_of(path), lines);
    std::ofstream(path) << lines << later << rest;
    const auto both = gpucoord::trim_file(path, 0.25);
    EXPECT_EQ(text_of(both.backup), "#! FIELDS time s\n" + later);
    EXPECT_EQ(both.incomplete, rest);
    EXPECT_EQ(text_of(path), lines);
  }
}

// Lines are counted without comments. Links to the file remain.
TEST_F(Files, lines_after_a_number_of_lines_move)
{
  const auto text_of = [](const std::string &name) {
    std::ifstream file(name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string comment = "#! FIELDS time s\n",
                    two = comment + " 0.1 5\n" + comment + " 0.2 6\n",
                    later = " 0.1 7\n" + comment + " 0.2 8\n", link = path + ".link";
  std::ofstream(path) << two << comment << later << " 0.3";
  std::filesystem::create_symlink(path, link);
  const auto trimmed = gpucoord::trim_file_to(link, 2);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(text_of(path), two + comment);
  EXPECT_EQ(text_of(trimmed.backup), comment + later);
  EXPECT_EQ(trimmed.incomplete, " 0.3");
  std::ofstream(path, std::ios::app) << " 0";
  const auto again = gpucoord::trim_file_to(link, 2);
  EXPECT_EQ(again.backup, "");
  EXPECT_EQ(again.incomplete, " 0");
  EXPECT_EQ(text_of(path), two + comment);
}

TEST_F(Files, only_the_incomplete_line_is_removed)
{
  using gpucoord::remove_incomplete_line;
  const auto rest_of = [this](const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
    return remove_incomplete_line(path);
  };
  const auto size = [this] {
    return std::filesystem::file_size(path);
  };
  EXPECT_EQ(rest_of(""), "");
  EXPECT_EQ(rest_of(" 0.1\n"), "");
  EXPECT_EQ(size(), 5u);
  EXPECT_EQ(rest_of(" 0.1"), " 0.1");
  EXPECT_EQ(size(), 0u);
  EXPECT_EQ(rest_of(" 0.1\n \x1b[1m"), " \\x1b[1m");
  EXPECT_EQ(size(), 5u);
  for (const std::size_t length : {65535, 65536, 65537, 200000}) {    // around a block
    EXPECT_EQ(rest_of(" 0.1\n" + std::string(length, 'x')), std::string(80, 'x') + "...");
    EXPECT_EQ(size(), 5u);
  }
  std::filesystem::remove(path);
  EXPECT_EQ(remove_incomplete_line(path), "");
  EXPECT_EQ(remove_incomplete_line("/dev/null"), "");
}

#ifndef _WIN32
TEST_F(Files, background_programs_hold_no_lock)
{
  std::ofstream(path) << "1\n";
  {
    gpucoord::AppendedFile first(path);
    first.lock();
    ASSERT_EQ(std::system("sleep 5 >/dev/null 2>&1 &"), 0);
  }
  EXPECT_NO_THROW(gpucoord::AppendedFile(path).lock());
}
#endif

// Reads a file that grows.
TEST_F(Files, appended_lines_are_read_once)
{
  using gpucoord::AppendedFile;
  const std::string comment = "#! FIELDS time s\n", one = " 0.1 5\n", two = " 0.2 6\n";
  AppendedFile grows(path);
  EXPECT_EQ(grows.read(), "");
  EXPECT_EQ(grows.lines().count, 0);
  std::ofstream(path) << comment << one << " 0.2";
  EXPECT_EQ(grows.read(), "");
  EXPECT_FALSE(grows.is_complete());
  EXPECT_EQ(grows.lines().count, 1);
  std::ofstream(path, std::ios::app) << " 6\n" << comment << " 0.2 7\n";
  EXPECT_EQ(grows.read(), "");
  EXPECT_TRUE(grows.is_complete());
  EXPECT_EQ(grows.lines().count, 3);
  EXPECT_EQ(grows.lines().nlast, 2);
  EXPECT_EQ(grows.lines().last_time, 0.2);

  // Comments do not count.
  const auto read = [this](const std::string &text, std::int64_t count) {
    std::ofstream(path) << text;
    AppendedFile file(path);
    EXPECT_EQ(file.read(count), "");
    return file.lines();
  };
  const auto all = grows.lines();
  EXPECT_EQ(read(one + two + " 0.2 7\n", AppendedFile::ALL).checksum, all.checksum);
  EXPECT_EQ(read(one + two + " 0.2 7\n 0.3 8\n 0.4", 3).checksum, all.checksum);
  EXPECT_NE(read(one + two + " 0.2 8\n", 3).checksum, all.checksum);
  EXPECT_NE(read(two + one + " 0.2 7\n", 3).checksum, all.checksum);
  EXPECT_EQ(read(one + two, 3).count, 2);

  std::ofstream(path) << one;
  EXPECT_NE(grows.read().find("it has 7 bytes in place of "), std::string::npos);
}

TEST_F(Files, one_object_locks_a_file)
{
  using gpucoord::AppendedFile;
  AppendedFile first(path);
  first.lock();
  EXPECT_FALSE(std::filesystem::exists(path));
  std::ofstream(path) << "1\n";
  first.lock();
  first.check_lock();
  {
    AppendedFile second(path);
    for (const bool keeps : {true, false}) try {
        if (keeps)
          second.lock();
        else
          second.check_lock();
        ADD_FAILURE();
      } catch (const std::runtime_error &e) {
        EXPECT_EQ(std::string(e.what()),
                  "file " + path + " is being written by another fix or run");
      }
  }
  EXPECT_EQ(first.read(), "");
  std::filesystem::rename(path, path + ".old");
  EXPECT_EQ(first.read(), "it was deleted");
  std::ofstream(path) << "1\n2\n";
  EXPECT_EQ(first.read(), "it was replaced by another file");
  AppendedFile(path).lock();    // the other file is free
}

// If a file cannot be read or written, nothing changes.
TEST_F(Files, trim_file_fails_without_a_change)
{
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).string() + ".folder", file = folder / "HILLS";
  fs::create_directories(folder);
  const std::string text = "# time s\n 0.1 5\n 0.2 6\n 0.3 7\n";
  std::ofstream(file) << text;
  {
    const char *const blocked = "bck.0.HILLS.part";
    fs::create_directory(folder / blocked);
    try {
      gpucoord::trim_file(file.string(), 0.1);
      ADD_FAILURE() << blocked;
    } catch (const std::runtime_error &e) {
      const std::string message = e.what();
      EXPECT_EQ(message.find("cannot write " + folder.string()), 0u) << message;
      EXPECT_NE(message.find(" - " + file.string() + " is unchanged; make room"), message.npos)
          << message;
    }
    fs::remove(folder / blocked);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
    std::ifstream stream(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), text);
  }
  EXPECT_THROW(gpucoord::trim_file(folder.string(), 0.1), std::runtime_error);
  EXPECT_EQ(last_time(folder.string()), -HUGE_VAL);
  fs::remove_all(folder);
}

// PLUMED 2.11 wrote these lines.
TEST_F(Files, reads_plumed)
{
  std::ofstream(path)
      << "#! FIELDS time s sigma_s height biasf\n#! SET multivariate false\n"
         "#! SET kerneltype stretched-gaussian\n"
         "                      200       5.0153029346568108      0.20000000000000001      "
         "0.28275877473874583                        8\n";
  const auto found = read(path);
  EXPECT_FALSE(found.names_units);
  ASSERT_EQ(found.hills.size(), 1u);
  EXPECT_EQ(found.hills[0].center[0], 5.0153029346568108);
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
    HillsFile file(path, options(1, 8, false), "LAMMPS", "test");
    const std::string five = content(path);
    const auto found = file.read(3);
    EXPECT_EQ(found.nlater, 2);
    EXPECT_EQ(found.hills.size(), 3u);
    EXPECT_EQ(content(path), five);
    EXPECT_EQ(file.resume(), (folder / "bck.0.HILLS").string());
    EXPECT_EQ(content(path), three);
    file.append(0.5, hills(4)[3]);
  }
  const auto moved = read((folder / "bck.0.HILLS").string());
  ASSERT_EQ(moved.hills.size(), 2u);
  EXPECT_EQ(moved.hills[0].center[0], hills(5)[3].center[0]);
  EXPECT_EQ(read(path).hills.size(), 4u);
}

// A killed run may have written any part of its last line.
TEST_F(Files, every_cut_of_the_last_line_is_repaired)
{
  write(3);
  const std::string three = content(path);
  std::filesystem::remove(path);
  write(4);
  const std::string four = content(path);
  for (std::size_t size = three.size() + 1; size < four.size(); ++size) {
    std::ofstream(path, std::ios::binary) << four.substr(0, size);
    HillsFile file(path, options(1, 8, false), "LAMMPS", "test");
    const auto found = file.read(HillsFile::ALL);
    file.resume();
    EXPECT_EQ(found.hills.size(), 3u);
    EXPECT_NE(found.damaged, "");
    file.append(0.5, hills(4)[3]);
    EXPECT_EQ(content(path), four) << size;
  }
}

// A killed run may leave any incomplete header. Other files must not be overwritten.
TEST_F(Files, begins_of_a_header_are_completed_and_other_files_refused)
{
  write(0);
  const std::string header = content(path);
  for (std::size_t size = 0; size <= header.size(); ++size) {
    std::ofstream(path, std::ios::binary) << header.substr(0, size);
    HillsFile file(path, options(1, 8, false), "LAMMPS", "test");
    EXPECT_EQ(file.read(HillsFile::ALL).hills.size(), 0u);
    file.resume();
    EXPECT_EQ(content(path), header) << size;
  }
  for (const char *const text :
       {"my notes", "# my notes\n", "#! FIELDS time s sigma_s height biasg", "\n"}) {
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(error_of(), "file FILE is not a hills file - give the name of one, or of a new file")
        << text;
  }
}

TEST_F(Files, has_one_writer)
{
  HillsFile file(path, options(1, 8, false), "LAMMPS", "test");
  file.create();
  const std::string message =
      "hills file " + path + " is being written by another fix or run - use one file for each";
  const std::string link = (folder / "link").string();
  std::filesystem::create_symlink(path, link);
  for (const bool append : {false, true})
    for (const std::string &name : {path, link}) {
      HillsFile other(name, options(1, 8, false), "LAMMPS", "test");
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
  EXPECT_EQ(error_of(5),
            "hills file FILE ends after 4 of the 5 hills that were in the bias of the restart file "
            "- give the hills file "
            "of that run");
  const std::string header = good.substr(0, good.find(" 0.5"));
  const auto with = [&](const std::string &lines) {
    std::ofstream(path, std::ios::binary) << header << lines;
    return error_of();
  };
  const std::string line = " 0.5 1 0.1 0.3 8\n";
  EXPECT_EQ(with(" 0.5 1 0.1 0.3\n" + line),
            "hills file FILE, line 6: 4 columns in place of 5 - repair it, or use a backup of it");
  EXPECT_EQ(with(line + " 0.5 1 0.1 x 8\n" + line),
            "hills file FILE, line 7: 'x' is not a number - repair it, or use a backup of it");
  EXPECT_EQ(with(" 0.5 1 0 0.3 8\n" + line),
            "hills file FILE, line 6: sigma 0 is not above 0 - repair it, or use a backup of it");
  std::ofstream(path) << "#! FIELDS time phi sigma_phi height biasf\n" << line;
  EXPECT_NE(error_of().find("it has the columns 'time phi sigma_phi height biasf', but this fix "
                            "needs 'time s sigma_s "
                            "height biasf'"),
            std::string::npos);
  std::ofstream(path) << header << "#! SET kerneltype gaussian\n";
  EXPECT_NE(error_of().find("kerneltype is gaussian, but only stretched-gaussian is known"),
            std::string::npos);
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
  // The rest of the comment has no effect.
  std::ofstream(path, std::ios::binary)
      << std::regex_replace(good, std::regex("units test.*\n"), "units test: mine\n");
  EXPECT_TRUE(read(path).names_units);
}

TEST_F(Files, other_formats_are_an_error)
{
  write(2);
  const std::string good = content(path);
  const auto with = [&](const std::string &line) {
    std::ofstream(path, std::ios::binary)
        << std::regex_replace(good, std::regex("# GPUCOORD hills format 1\n"), line);
  };
  for (const std::string format : {"0", "2", "x"}) {
    with("# GPUCOORD hills format " + format + "\n");
    EXPECT_EQ(error_of(),
              "hills file FILE, line 5: it has format " + format +
                  ", but this version of GPUCOORD needs format 1 - continue with the "
                  "version that wrote it, or give another file");
  }
  with("");    // as PLUMED writes it
  EXPECT_EQ(read(path).hills.size(), 2u);
}

TEST_F(Files, lines_may_end_as_on_windows)
{
  write(3);
  std::string text = std::regex_replace(content(path), std::regex("\n"), "\r\n");
  std::ofstream(path, std::ios::binary) << text;
  const auto expected = hills(4);
  {
    HillsFile file(path, options(1, 8, false), "LAMMPS", "test");
    const auto found = file.read(2);
    EXPECT_TRUE(found.names_units);
    EXPECT_EQ(found.damaged, "");
    EXPECT_EQ(found.nlater, 1);
    file.resume();
    file.append(0.5, expected[2]);
  }
  const auto found = read(path);
  ASSERT_EQ(found.hills.size(), 3u);
  for (int h = 0; h < 3; ++h) EXPECT_EQ(found.hills[h].height, expected[h].height);
}

// The next hill raises an error and saves all hills: from the file, or from memory if their text is
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
        HillsFile file(path, options(1, 8, false), "LAMMPS", "test");
        if (continued) {
          file.read(3);
          file.resume();
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
                                                 "keeps no hills; the remaining text is in " +
                saved +
                " - use a backup of the hills file, and continue from a restart file of the same "
                "time"
                                               : "all its hills are in " + saved +
                (loses_text ? ", with time 0 because their text is lost" : "") +
                "; rename that file to " + path +
                " and continue from the last restart file, or with append yes";
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

// A hill from a file may have a different biasfactor. Only its height in the bias is known then.
TEST_F(Files, hills_saved_from_memory_keep_their_height)
{
  HillsFile file(path, options(1, 8, false), "LAMMPS", "test");
  file.create();
  auto known = hills(3);
  known[1].height = height_of_bias(known[1].file_height, 3.0);
  std::filesystem::resize_file(path, 5);
  EXPECT_THROW(file.append(0.5, hills(4)[3], &known), std::runtime_error);
  const auto found = read((folder / "bck.0.HILLS").string());
  ASSERT_EQ(found.hills.size(), 3u);
  for (int h = 0; h < 3; ++h) EXPECT_EQ(found.hills[h].height, known[h].height);
}

// The path is relative to the working directory at the time the file was opened.
TEST_F(Files, directory_may_change_during_the_run)
{
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::current_path(folder);
  HillsFile file("HILLS", options(1, 8, false), "LAMMPS", "test");
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
            "its hills are in " +
                saved + "; rename that file to " + path +
                " and continue from the last restart file, or with append yes");
  EXPECT_EQ(read(saved).hills.size(), 2u);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "sub"));
}

// The file stays open. The next hill saves all hills as soon as this is possible.
TEST_F(Files, hills_that_cannot_be_saved_are_kept)
{
  const std::string home = (folder / "home").string(), name = home + "/HILLS";
  std::filesystem::create_directory(home);
  HillsFile file(name, options(1, 8, false), "LAMMPS", "test");
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
            deleted + "all its hills are in " + saved + "; rename that file to " + name +
                " and continue from the last restart file, or with append yes");
  EXPECT_EQ(content(saved), good);
}

TEST_F(Files, devices_are_not_compared)
{
  std::filesystem::create_symlink("/dev/null", path);
  HillsFile file(path, options(1, 8, false), "LAMMPS", "test");
  EXPECT_EQ(file.create(), "");
  for (const auto &hill : hills(3)) file.append(0.5, hill);
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_FALSE(std::filesystem::exists(folder / "bck.0.HILLS"));
}

// The file may be intact if its path cannot be looked up. The message then names no culprit, and
// nothing is saved.
TEST_F(Files, paths_that_cannot_be_looked_up_are_errors)
{
  const std::string aside = (folder / "aside").string();
  write(2);
  const std::string expected = content(path);
  std::filesystem::remove(path);
  HillsFile file(path, options(1, 8, false), "LAMMPS", "test");
  file.create();
  file.append(0.5, hills(1)[0]);
  std::filesystem::rename(path, aside);
  std::filesystem::create_symlink("HILLS", path);    // links to itself
  std::string message;
  try {
    file.append(0.5, hills(2)[1]);
  } catch (const std::runtime_error &e) {
    message = e.what();
  }
  EXPECT_EQ(message,
            "cannot check hills file " + path +
                " before a hill is added: Too many levels of symbolic links - make " + path +
                " accessible and continue from the last restart file, or with append yes");
  EXPECT_FALSE(std::filesystem::exists(folder / "bck.0.HILLS"));
  std::filesystem::remove(path);
  std::filesystem::rename(aside, path);
  file.append(0.5, hills(2)[1]);
  EXPECT_EQ(content(path), expected);
}

}    // namespace
