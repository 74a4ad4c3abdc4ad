// Part of GPUCOORD, GPL-2.0. Operations on open files that the C++ standard library lacks.

#ifndef GPUCOORD_FILE_ON_DISK_H
#define GPUCOORD_FILE_ON_DISK_H

#include <cstdint>
#include <cstdio>
#include <string>

namespace gpucoord {

// Locks an open file until it is closed. Returns false if another program, or another handle of
// this program, holds the lock.
bool lock_file(std::FILE *);

// Locks a folder. Waits while another program, or another handle of this program, holds the lock.
// Returns a handle for unlock_folder(), or -1 if the folder cannot be locked.
int lock_folder(const std::string &folder);
void unlock_folder(int handle);

// State of an open file and its path. look_up() makes two system calls.
struct OnDisk {
  bool is_regular = false;    // false: a device, a pipe, or unknown after an error
  int error = 0;              // errno of the failed call; 0: no error
  bool is_same = false;       // the path refers to the open file
  std::int64_t size = 0;      // size of a regular file, bytes
};
OnDisk look_up(const std::string &path, std::FILE *);

// Truncates the file to this many bytes. Returns false on failure, with the reason in errno.
bool shorten(std::FILE *, std::int64_t size);

}    // namespace gpucoord

#endif
