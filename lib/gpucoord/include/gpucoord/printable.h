// Part of GPUCOORD, GPL-2.0. Text of files for messages.

#ifndef GPUCOORD_PRINTABLE_H
#define GPUCOORD_PRINTABLE_H

#include "gpucoord/export.h"

#include <string>

namespace gpucoord {

// Returns text that a message can quote: bytes that are not printable ASCII become \xNN, and a long
// text is cut.
GPUCOORD_API std::string printable(const std::string &text);

}    // namespace gpucoord

#endif
