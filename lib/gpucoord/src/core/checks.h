// Part of GPUCOORD, GPL-2.0. Checks of numbers, and their text in messages.

#ifndef GPUCOORD_CHECKS_H
#define GPUCOORD_CHECKS_H

#include <cmath>
#include <cstdio>
#include <string>

namespace gpucoord {

inline std::string text_of(double value, int digits = 10)
{
  char text[32];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

// Returns the message about a number that must be > 0 and finite. It is empty if the number is.
inline std::string positive_error(const std::string &name, double value)
{
  if (value > 0.0 && std::isfinite(value)) return "";
  return name + " is " + text_of(value) + " but must be > 0 and finite";
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
