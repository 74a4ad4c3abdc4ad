// Part of GPUCOORD, GPL-2.0. Checks and shortens files to which another library appends lines.

#include "gpucoord/trim_file.h"

#include "../core/checksum.h"
#include "../core/file_on_disk.h"
#include "../core/text_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace fs = std::filesystem;

namespace gpucoord {

namespace {

  using Lines = std::vector<std::string>;

  // incomplete: text after the end of the last line
  Lines lines_of(const std::string &path, std::string &incomplete)
  {
    Lines lines;
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

  [[noreturn]] void fail(const std::string &path, const std::string &why)
  {
    throw std::runtime_error(
        why + " - " + path +
        " is unchanged; make room, or allow writing, in its folder, and start the run again");
  }

  // Keeps links to the file, unlike a new file in its place.
  void truncate(const std::string &path, std::uint64_t size)
  {
    std::error_code error;
    fs::resize_file(path, size, error);
    if (error) fail(path, "cannot write " + path + ": " + error.message());
  }

  // Moves the lines from 'later' on to a new file, which begins with the first comments of the old
  // one.
  TrimmedFile move_lines(const std::string &path, const Lines &lines, Lines::const_iterator later,
                         const std::string &incomplete)
  {
    TrimmedFile result;
    result.backup = free_backup_name(path);
    result.incomplete = printable(incomplete);
    try {
      NewFile moved(result.backup);
      for (const auto &line : lines) {    // copy the comments with the column names
        if (line.empty() || line[0] != '#') break;
        moved.add(line + "\n");
      }
      for (auto line = later; line != lines.end(); ++line) moved.add(*line + "\n");
      moved.finish();
    } catch (const std::runtime_error &e) {
      fail(path, e.what());
    }
    std::uint64_t size = 0;
    for (auto line = lines.begin(); line != later; ++line) size += line->size() + 1;
    try {
      truncate(path, size);
    } catch (const std::runtime_error &) {
      std::remove(result.backup.c_str());
      throw;
    }
    return result;
  }

}    // namespace

std::string remove_incomplete_line(const std::string &path)
{
  constexpr std::uint64_t BLOCK = 1 << 16, LONGEST = 100;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";
  const std::uint64_t size = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  std::string text;
  const auto read = [&](std::uint64_t begin, std::uint64_t length) {
    text.resize(length);
    file.seekg(static_cast<std::streamoff>(begin));
    file.read(&text[0], static_cast<std::streamsize>(length));
    if (error || !file) throw std::runtime_error("cannot read " + path + ": " + last_error());
  };
  std::uint64_t kept = 0;
  for (std::uint64_t begin = size; begin > 0 && kept == 0;) {
    const std::uint64_t length = std::min(BLOCK, begin);
    begin -= length;
    read(begin, length);
    const auto newline = text.rfind('\n');
    if (newline != std::string::npos) kept = begin + newline + 1;
  }
  if (kept == size) return "";
  read(kept, std::min(LONGEST, size - kept));
  file.close();    // Windows cannot truncate an open file
  truncate(path, kept);
  return printable(text);
}

TrimmedFile trim_file(const std::string &path, double time)
{
  std::string incomplete;
  const Lines lines = lines_of(path, incomplete);
  const auto is_later = [time](const std::string &line) {
    return time_of(line) > time;
  };
  const auto is_kept = [time](const std::string &line) {
    return !is_comment(line) && time_of(line) <= time;
  };
  auto later = std::find_if(lines.rbegin(), lines.rend(), is_kept).base();
  // Comments at the end are only moved if a line after them is later.
  if (std::none_of(later, lines.end(), is_later)) return {"", remove_incomplete_line(path)};
  // Comments after the last line that is kept stay in the file.
  later = std::find_if_not(later, lines.end(), is_comment);
  return move_lines(path, lines, later, incomplete);
}

TrimmedFile trim_file_to(const std::string &path, std::int64_t count)
{
  std::string incomplete;
  const Lines lines = lines_of(path, incomplete);
  auto later = lines.begin();
  for (; later != lines.end() && (count > 0 || is_comment(*later)); ++later)
    if (!is_comment(*later)) --count;
  if (later == lines.end()) return {"", remove_incomplete_line(path)};
  return move_lines(path, lines, later, incomplete);
}

/* ---------------------------------------------------------------------- */

static std::string absolute(const std::string &path)
{
  std::error_code error;
  const auto result = fs::absolute(path, error);
  return error ? path : result.string();
}

AppendedFile::AppendedFile(const std::string &path_in) :
    name(path_in), path(absolute(path_in)), checksum(std::make_unique<Checksum>())
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

// All programs lock in the order of names, so that none waits for another one that waits for it.
FolderLock::FolderLock(const std::vector<std::string> &files)
{
  std::set<std::string> folders;
  for (const std::string &file : files) {
    std::error_code ignored;
    const fs::path path = fs::weakly_canonical(absolute(file), ignored);
    folders.insert(path.parent_path().string());
  }
  for (const std::string &folder : folders) {
    const int handle = lock_folder(folder);
    if (handle >= 0) handles.push_back(handle);
  }
}

FolderLock::~FolderLock()
{
  for (const int handle : handles) unlock_folder(handle);
}

}    // namespace gpucoord
