// Part of GPUCOORD, GPL-2.0. Files of values in time, which a restarted run continues.

#ifndef GPUCOORD_TRIM_FILE_H
#define GPUCOORD_TRIM_FILE_H

#include "gpucoord/export.h"

#include <string>

namespace gpucoord {

// Moves all lines from the first one on whose first number is larger than time to a new file
// bck.N.NAME in the same folder, with a copy of the comments at the beginning. Comments begin with
// #. Returns the name of that file, or "" where
// there is no such line or no file of this path. Throws std::runtime_error, and then has changed
// nothing.
GPUCOORD_API std::string trim_file(const std::string &path, double time);

// The largest first number of a line, or -HUGE_VAL where there is no file or no line.
GPUCOORD_API double last_time_of_file(const std::string &path);

}    // namespace gpucoord

#endif
