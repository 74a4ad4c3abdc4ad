// Part of GPUCOORD, GPL-2.0. Properties of open files that the C++ library cannot ask for.

#ifndef GPUCOORD_FILE_ON_DISK_H
#define GPUCOORD_FILE_ON_DISK_H

#include <cstdint>
#include <cstdio>
#include <string>

namespace gpucoord {

// Takes the lock of an open file, which lasts until the file is closed. false: another program, or
// another handle of this one, has it.
bool lock_file(std::FILE *);

// An open file and its path. Two system calls.
struct OnDisk {
  bool is_regular = false;    // false: a device or a pipe, or unknown after an error
  int error = 0;              // errno of the look-up; 0: none
  bool is_same = false;       // whether the path leads to the open file
  std::int64_t size = 0;      // bytes of a regular file
};
OnDisk look_up(const std::string &path, std::FILE *);

// Removes all bytes after the first size ones. false: errno says why.
bool shorten(std::FILE *, std::int64_t size);

}    // namespace gpucoord

#endif
