// Part of GPUCOORD, GPL-2.0. Files of values over time, which a restarted run continues.

#ifndef GPUCOORD_TRIM_FILE_H
#define GPUCOORD_TRIM_FILE_H

#include "gpucoord/export.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace gpucoord {

class Checksum;

struct TrimmedFile {
  std::string backup;        // new file with the later lines; "": there are none
  std::string incomplete;    // begin of the removed text after the end of the last line
};

// Removes the lines after the last one whose first number is at most 'time'. Moves them to a new
// file bck.N.NAME in the same folder, which begins with a copy of the comments at the beginning of
// the file. Earlier lines may have larger numbers, because a run may have restarted at time 0.
// Comments begin with #. Also removes text after the end of the last line, which a run leaves that
// was killed. A file that does not exist has no lines. Throws std::runtime_error with a message
// that tells the user what to do; the file is then unchanged.
GPUCOORD_API TrimmedFile trim_file(const std::string &path, double time);
// The same, but removes the lines after the first 'count' ones, whatever their numbers are.
// Comments do not count.
GPUCOORD_API TrimmedFile trim_file_to(const std::string &path, std::int64_t count);
// Removes only text after the end of the last line. Returns its begin, for a message. Does not read
// the rest of the file, which may be large. Files that are not regular have no lines.
GPUCOORD_API std::string remove_incomplete_line(const std::string &path);

// Lines of a file, without comments and without text after the end of the last line.
struct LinesOfFile {
  std::int64_t count = 0;
  double last_time = -HUGE_VAL;    // first number of the last line
  std::int64_t nlast = 0;          // lines at the end that begin with this number
  std::uint64_t checksum = 0;      // text of all lines
};

// A file to which another library of this process appends lines. The file need not exist.
class GPUCOORD_API AppendedFile {
 public:
  explicit AppendedFile(const std::string &path);
  ~AppendedFile();    // unlocks the file
  AppendedFile(const AppendedFile &) = delete;
  AppendedFile &operator=(const AppendedFile &) = delete;

  // Locks the file, if it exists. Throws std::runtime_error if another object of this class has
  // locked it, also in another program.
  void lock();
  // The same without keeping the lock.
  void check_lock() const;

  static constexpr std::int64_t ALL = std::numeric_limits<std::int64_t>::max();
  // Reads the lines after those of the last call, up to a total number of lines. Returns why the
  // lines of the last call are no longer in the file, or "". Throws std::runtime_error if the file
  // cannot be read.
  std::string read(std::int64_t max_count = ALL);
  const LinesOfFile &lines() const { return found; }
  // Returns whether the file ended with the end of a line when it was read.
  bool is_complete() const { return has_end; }

 private:
  std::FILE *open_and_lock() const;

  const std::string name, path;
  std::FILE *locked = nullptr;
  std::uint64_t position = 0;    // end of the lines that were read
  bool has_end = true;
  LinesOfFile found;
  std::unique_ptr<Checksum> checksum;
};

// Locks the folders of files while another library opens the files, which makes new files in the
// place of those of other programs. Waits while another object of this class has locked one of the
// folders, also in another program. Folders that do not exist are not locked.
class GPUCOORD_API FolderLock {
 public:
  explicit FolderLock(const std::vector<std::string> &files);
  ~FolderLock();
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

 private:
  std::vector<int> handles;
};

}    // namespace gpucoord

#endif
