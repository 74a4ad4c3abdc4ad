// Part of GPUCOORD, GPL-2.0.

#include "file_on_disk.h"

#ifdef _WIN32
#include <filesystem>
#include <io.h>
#include <windows.h>
#else
#include <cerrno>
#include <sys/file.h>
#include <sys/stat.h>
#endif

namespace gpucoord {

#ifdef _WIN32

bool lock_file(std::FILE *file)
{
  // Windows does not let others read bytes that are locked: lock one that is far beyond the end
  OVERLAPPED place = {};
  place.OffsetHigh = 0x7fffffff;
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file)));
  return LockFileEx(handle, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) ||
      GetLastError() != ERROR_LOCK_VIOLATION;
}

// Windows neither deletes nor renames an open file.
bool leads_to(const std::string &path, std::FILE *)
{
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

#else

bool lock_file(std::FILE *file)
{
  // file systems without locks give other errors
  return flock(fileno(file), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool leads_to(const std::string &path, std::FILE *file)
{
  struct stat named, open;
  return stat(path.c_str(), &named) == 0 && fstat(fileno(file), &open) == 0 &&
      named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

#endif

}    // namespace gpucoord
