// Part of GPUCOORD, GPL-2.0. Files of values over time, which a restarted run continues.

#ifndef GPUCOORD_TRIM_FILE_H
#define GPUCOORD_TRIM_FILE_H

#include "gpucoord/export.h"

#include <string>

namespace gpucoord {

// Removes the lines after the last one whose first number is at most 'time'. Moves them to a new
// file bck.N.NAME in the same folder, which begins with a copy of the comments at the beginning of
// the file. Earlier lines may have larger numbers, because a run may have restarted at time 0.
// Comments begin with #. Returns the name of the new file, or "" if there is no later line or the
// file does not exist. Throws std::runtime_error with a
// message that tells the user what to do; the file is then unchanged.
GPUCOORD_API std::string trim_file(const std::string &path, double time);

// Returns the first number of the last line, or -HUGE_VAL if there is no file or no line. Throws
// std::runtime_error if the file cannot be read.
GPUCOORD_API double last_time_of_file(const std::string &path);

}    // namespace gpucoord

#endif
