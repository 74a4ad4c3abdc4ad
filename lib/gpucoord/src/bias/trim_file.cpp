// Part of GPUCOORD, GPL-2.0. Moves the later lines of a file to a backup.

#include "gpucoord/trim_file.h"

#include "../core/text_files.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace gpucoord {

namespace {

  std::vector<std::string> lines_of(const std::string &path)
  {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    std::error_code ignored;
    const bool is_closed = !file.is_open() && std::filesystem::exists(path, ignored);
    if (is_closed || file.bad())
      throw std::runtime_error("cannot read " + path + ": " + last_error());
    return lines;
  }

  // Returns the first number of a line, or -HUGE_VAL for a comment.
  double time_of(const std::string &line)
  {
    const auto words = words_of(line);
    double time;
    return !words.empty() && to_number(words[0], time) ? time : -HUGE_VAL;
  }

  bool is_comment(const std::string &line)
  {
    return time_of(line) == -HUGE_VAL;
  }

}    // namespace

std::string trim_file(const std::string &path, double time)
{
  const auto lines = lines_of(path);
  const auto is_later = [time](const std::string &line) {
    return time_of(line) > time;
  };
  const auto is_kept = [time](const std::string &line) {
    return !is_comment(line) && time_of(line) <= time;
  };
  auto later = std::find_if(lines.rbegin(), lines.rend(), is_kept).base();
  // Comments at the end are only moved if a line after them is later.
  if (std::none_of(later, lines.end(), is_later)) return "";
  // Comments after the last line that is kept stay in the file.
  later = std::find_if_not(later, lines.end(), is_comment);
  const std::string backup = free_backup_name(path);
  bool is_moved = false;
  try {
    NewFile moved(backup), kept(path);
    for (const auto &line : lines) {    // copy the comments with the column names
      if (line.empty() || line[0] != '#') break;
      moved.add(line + "\n");
    }
    for (auto line = later; line != lines.end(); ++line) moved.add(*line + "\n");
    for (auto line = lines.begin(); line != later; ++line) kept.add(*line + "\n");
    moved.finish();
    is_moved = true;
    kept.finish();
  } catch (const std::runtime_error &e) {
    if (is_moved) std::remove(backup.c_str());
    throw std::runtime_error(
        std::string(e.what()) + " - " + path +
        " is unchanged; make room, or allow writing, in its folder, and start the run again");
  }
  return backup;
}

double last_time_of_file(const std::string &path)
{
  double last = -HUGE_VAL;
  for (const auto &line : lines_of(path))
    if (!is_comment(line)) last = time_of(line);
  return last;
}

}    // namespace gpucoord
