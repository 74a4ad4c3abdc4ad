// Part of GPUCOORD, GPL-2.0. System calls for open files on Windows and POSIX.

#include "file_on_disk.h"

#include <cerrno>

#include <sys/stat.h>

#ifdef _WIN32
#include <io.h>
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#endif

namespace gpucoord {

#ifdef _WIN32

bool lock_file(std::FILE *file)
{
  // On Windows, other processes cannot read locked bytes. Therefore lock a byte far beyond the last
  // one.
  OVERLAPPED range = {};
  range.OffsetHigh = 0x7fffffff;
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file)));
  return LockFileEx(handle, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &range) ||
      GetLastError() != ERROR_LOCK_VIOLATION;
}

// Windows does not let two programs write a file that one of them replaces.
int lock_folder(const std::string &)
{
  return -1;
}

void unlock_folder(int) {}

OnDisk look_up(const std::string &path, std::FILE *file)
{
  OnDisk result;
  struct _stat64 named, open;
  if (_fstat64(_fileno(file), &open) != 0) {
    result.error = errno;
    return result;
  }
  result.is_regular = (open.st_mode & _S_IFREG) != 0;
  result.size = open.st_size;
  if (!result.is_regular) return result;
  if (_stat64(path.c_str(), &named) != 0) result.error = errno;
  // Windows neither deletes nor renames an open file. An existing path therefore refers to this
  // file.
  result.is_same = result.error == 0;
  return result;
}

bool shorten(std::FILE *file, std::int64_t size)
{
  return _chsize_s(_fileno(file), size) == 0;
}

#else

bool lock_file(std::FILE *file)
{
  // A program that this process starts in the background would hold the lock as long as it runs.
  fcntl(fileno(file), F_SETFD, FD_CLOEXEC);
  // File systems without locks return other errors, which count as success.
  return flock(fileno(file), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

int lock_folder(const std::string &folder)
{
  const int handle = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return -1;
  while (flock(handle, LOCK_EX) != 0)
    if (errno != EINTR) {    // a file system without locks
      close(handle);
      return -1;
    }
  return handle;
}

void unlock_folder(int handle)
{
  close(handle);
}

OnDisk look_up(const std::string &path, std::FILE *file)
{
  OnDisk result;
  struct stat named, open;
  if (fstat(fileno(file), &open) != 0) {
    result.error = errno;
    return result;
  }
  result.is_regular = S_ISREG(open.st_mode);
  result.size = open.st_size;
  if (!result.is_regular) return result;
  if (stat(path.c_str(), &named) != 0)
    result.error = errno;
  else
    result.is_same = named.st_dev == open.st_dev && named.st_ino == open.st_ino;
  return result;
}

bool shorten(std::FILE *file, std::int64_t size)
{
  return ftruncate(fileno(file), size) == 0;
}

#endif

}    // namespace gpucoord
