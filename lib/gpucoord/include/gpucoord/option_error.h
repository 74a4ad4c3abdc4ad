// Part of GPUCOORD, GPL-2.0. A bad option of an order parameter.

#ifndef GPUCOORD_OPTION_ERROR_H
#define GPUCOORD_OPTION_ERROR_H

#include "gpucoord/export.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace gpucoord {

// field: the member of the options or of one of their members, or a parameter of the function.
// what() names the value, the limit and the way out.
class GPUCOORD_API OptionError : public std::invalid_argument {
 public:
  OptionError(std::string field_in, const std::string &message) :
      std::invalid_argument(message), field(std::move(field_in))
  {
  }
  const std::string field;
};

}    // namespace gpucoord

#endif
