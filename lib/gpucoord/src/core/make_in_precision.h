// Part of GPUCOORD, GPL-2.0. The choice between the two types of pair terms.

#ifndef GPUCOORD_MAKE_IN_PRECISION_H
#define GPUCOORD_MAKE_IN_PRECISION_H

#include "gpucoord/types.h"

#include <memory>
#include <utility>

namespace gpucoord {

// Makes a Backend<double> for precision double, otherwise a Backend<float>.
template <class Interface, template <class> class Backend, class... Arguments>
std::unique_ptr<Interface> make_in_precision(Precision precision, Arguments &&...arguments)
{
  if (precision == Precision::DOUBLE)
    return std::make_unique<Backend<double>>(std::forward<Arguments>(arguments)...);
  return std::make_unique<Backend<float>>(std::forward<Arguments>(arguments)...);
}

}    // namespace gpucoord

#endif
