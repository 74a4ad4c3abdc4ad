// Part of GPUCOORD, GPL-2.0. Check of a distance whose square single precision must hold.

#ifndef GPUCOORD_RANGE_CHECK_H
#define GPUCOORD_RANGE_CHECK_H

#include "text_files.h"

#include <string>

namespace gpucoord {

// The limits of the width of a switching function.
constexpr double MIN_RANGE = 1e-18, MAX_RANGE = 1e18;

// Error: a class whose constructor takes field and message. field: the member of the options.
// name: its name in messages
template <class Error> void check_range(const char *field, const std::string &name, double value)
{
  if (!(value >= MIN_RANGE && value <= MAX_RANGE))
    throw Error(field,
                name + " is " + short_text(value) + " but must be from " + short_text(MIN_RANGE) +
                    " to " + short_text(MAX_RANGE) + ", whose squares single precision holds");
}

}    // namespace gpucoord

#endif
