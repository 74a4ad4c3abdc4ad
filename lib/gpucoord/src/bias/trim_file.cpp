// Part of GPUCOORD, GPL-2.0. Checks and shortens files to which another library appends lines.

#include "gpucoord/trim_file.h"

#include "../core/checksum.h"
#include "../core/file_on_disk.h"
#include "../core/text_files.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace fs = std::filesystem;

namespace gpucoord {

namespace {

  // incomplete: text after the end of the last line
  std::vector<std::string> lines_of(const std::string &path, std::string &incomplete)
  {
    std::vector<std::string> lines;
    std::ifstream file(path, std::ios::binary);
    for (std::string line; std::getline(file, line);)
      if (file.eof())
        incomplete = line;
      else
        lines.push_back(line);
    std::error_code ignored;
    const bool is_closed = !file.is_open() && fs::exists(path, ignored);
    if (is_closed || file.bad())
      throw std::runtime_error("cannot read " + path + ": " + last_error());
    return lines;
  }

  // Returns the first number of a line, or -HUGE_VAL for a comment.
  double time_of(const std::string &line)
  {
    const auto begin = std::min(line.find_first_not_of(" \t\r"), line.size());
    const auto end = std::min(line.find_first_of(" \t\r", begin), line.size());
    double time;
    return to_number(line.substr(begin, end - begin), time) ? time : -HUGE_VAL;
  }

  bool is_comment(const std::string &line)
  {
    return time_of(line) == -HUGE_VAL;
  }

}    // namespace

TrimmedFile trim_file(const std::string &path, double time)
{
  TrimmedFile result;
  const auto lines = lines_of(path, result.incomplete);
  const auto is_later = [time](const std::string &line) {
    return time_of(line) > time;
  };
  const auto is_kept = [time](const std::string &line) {
    return !is_comment(line) && time_of(line) <= time;
  };
  auto later = std::find_if(lines.rbegin(), lines.rend(), is_kept).base();
  // Comments at the end are only moved if a line after them is later.
  const bool has_later = std::any_of(later, lines.end(), is_later);
  if (!has_later && result.incomplete.empty()) return result;
  // Comments after the last line that is kept stay in the file.
  later = has_later ? std::find_if_not(later, lines.end(), is_comment) : lines.end();
  try {
    NewFile kept(path);
    for (auto line = lines.begin(); line != later; ++line) kept.add(*line + "\n");
    if (has_later) {
      const std::string backup = free_backup_name(path);
      NewFile moved(backup);
      for (const auto &line : lines) {    // copy the comments with the column names
        if (line.empty() || line[0] != '#') break;
        moved.add(line + "\n");
      }
      for (auto line = later; line != lines.end(); ++line) moved.add(*line + "\n");
      moved.finish();
      result.backup = backup;
    }
    kept.finish();
  } catch (const std::runtime_error &e) {
    if (!result.backup.empty()) std::remove(result.backup.c_str());
    throw std::runtime_error(
        std::string(e.what()) + " - " + path +
        " is unchanged; make room, or allow writing, in its folder, and start the run again");
  }
  return result;
}

/* ---------------------------------------------------------------------- */

AppendedFile::AppendedFile(const std::string &path_in) :
    name(path_in), path(fs::absolute(path_in).string()), checksum(std::make_unique<Checksum>())
{
}

AppendedFile::~AppendedFile()
{
  if (locked) std::fclose(locked);
}

// Returns null if the file does not exist or cannot be opened.
std::FILE *AppendedFile::open_and_lock() const
{
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return nullptr;
  std::FILE *const file = std::fopen(path.c_str(), "r+b");
  if (!file || lock_file(file)) return file;
  std::fclose(file);
  throw std::runtime_error("file " + name + " is being written by another fix or run");
}

void AppendedFile::lock()
{
  if (!locked) locked = open_and_lock();
}

void AppendedFile::check_lock() const
{
  std::FILE *const file = locked ? nullptr : open_and_lock();
  if (file) std::fclose(file);
}

std::string AppendedFile::read(std::int64_t max_count)
{
  std::error_code ignored;
  has_end = true;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return "";
  const OnDisk on_disk = locked ? look_up(path, locked) : OnDisk();
  if (locked && !on_disk.error && !on_disk.is_same) return "it was replaced by another file";
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open() && !fs::exists(path, ignored)) return locked ? "it was deleted" : "";
  const std::uint64_t size = fs::file_size(path, ignored);
  if (file.is_open() && size < position)
    return "it has " + std::to_string(size) + " bytes in place of " + std::to_string(position);
  file.seekg(static_cast<std::streamoff>(position));
  for (std::string line; found.count < max_count && std::getline(file, line);) {
    has_end = !file.eof();
    if (!has_end) break;
    position += line.size() + 1;
    if (is_comment(line)) continue;
    const double time = time_of(line);
    found.nlast = time == found.last_time ? found.nlast + 1 : 1;
    found.last_time = time;
    ++found.count;
    checksum->add(line.data(), line.size());
    checksum->add("\n", 1);
  }
  if (!file.is_open() || file.bad())
    throw std::runtime_error("cannot read " + name + ": " + last_error());
  found.checksum = checksum->value();
  return "";
}

}    // namespace gpucoord
