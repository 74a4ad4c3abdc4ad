// Part of GPUCOORD, GPL-2.0. Properties of open files that the C++ library cannot ask for.

#ifndef GPUCOORD_FILE_ON_DISK_H
#define GPUCOORD_FILE_ON_DISK_H

#include <cstdio>
#include <string>

namespace gpucoord {

// Takes the lock of an open file, which lasts until the file is closed. false: another program, or
// another handle of this one, has it.
bool lock_file(std::FILE *);

// Whether path still leads to this open file. false: the file was deleted, or replaced by another.
bool leads_to(const std::string &path, std::FILE *);

}    // namespace gpucoord

#endif
