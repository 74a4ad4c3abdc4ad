// Part of GPUCOORD, GPL-2.0.

#include "gpucoord/trim_file.h"

#include "../core/text_files.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

namespace gpucoord {

namespace {

  std::vector<std::string> lines_of(const std::string &path)
  {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  // First number of a line, or -HUGE_VAL in a comment.
  double time_of(const std::string &line)
  {
    const auto words = words_of(line);
    double time;
    return !words.empty() && to_number(words[0], time) ? time : -HUGE_VAL;
  }

}    // namespace

std::string trim_file(const std::string &path, double time)
{
  const auto lines = lines_of(path);
  const auto later = std::find_if(lines.begin(), lines.end(), [time](const std::string &line) {
    return time_of(line) > time;
  });
  if (later == lines.end()) return "";
  const std::string backup = free_backup_name(path);
  NewFile moved(backup), kept(path);
  for (const auto &line : lines) {    // the names of the columns
    if (line.empty() || line[0] != '#') break;
    moved.add(line + "\n");
  }
  for (auto line = later; line != lines.end(); ++line) moved.add(*line + "\n");
  for (auto line = lines.begin(); line != later; ++line) kept.add(*line + "\n");
  moved.finish();
  kept.finish();
  return backup;
}

double last_time_of_file(const std::string &path)
{
  double last = -HUGE_VAL;
  for (const auto &line : lines_of(path)) last = std::max(last, time_of(line));
  return last;
}

}    // namespace gpucoord
