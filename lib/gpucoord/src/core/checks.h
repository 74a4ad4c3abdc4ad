// Part of GPUCOORD, GPL-2.0. Checks of numbers.

#ifndef GPUCOORD_CHECKS_H
#define GPUCOORD_CHECKS_H

#include "text_files.h"

#include <cmath>
#include <string>

namespace gpucoord {

// Returns the message about a number that must be > 0 and finite. It is empty if the number is.
inline std::string positive_error(const std::string &name, double value)
{
  if (value > 0.0 && std::isfinite(value)) return "";
  return name + " is " + short_text(value) + " but must be > 0 and finite";
}

// Error: a class whose constructor takes field and message. field: the member of the options.
// name: its name in messages
template <class Error> void check_positive(const char *field, const std::string &name, double value)
{
  const std::string message = positive_error(name, value);
  if (!message.empty()) throw Error(field, message);
}

// For a parameter without default: NaN stands for one that is not given.
template <class Error>
void require_positive(const char *field, const std::string &name, double value)
{
  if (std::isnan(value)) throw Error(field, name + " is required: give a number > 0");
  check_positive<Error>(field, name, value);
}

}    // namespace gpucoord

#endif
