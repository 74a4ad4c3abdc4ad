// Part of GPUCOORD, GPL-2.0. Files of values in time, which a restarted run continues.

#ifndef GPUCOORD_TRIM_FILE_H
#define GPUCOORD_TRIM_FILE_H

#include "gpucoord/export.h"

#include <string>

namespace gpucoord {

// Moves the lines after the last one whose first number is at most time to a new file bck.N.NAME in
// the same folder, with a copy of the comments at the beginning. Earlier lines may have larger
// numbers, because a run may have begun again at time 0. Comments begin with #. Returns the name of
// that file, or "" where there is no later line, or no file of this path. Throws
// std::runtime_error with the way out, and then has changed nothing.
GPUCOORD_API std::string trim_file(const std::string &path, double time);

// The first number of the last line, or -HUGE_VAL where there is no file or no line. Throws
// std::runtime_error where the file cannot be read.
GPUCOORD_API double last_time_of_file(const std::string &path);

}    // namespace gpucoord

#endif
