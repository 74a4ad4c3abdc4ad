// Part of GPUCOORD, GPL-2.0. Selects the definition of a function of a per-atom value. This header
// includes all definitions.

#ifndef GPUCOORD_ATOM_FUNCTION_DISPATCH_H
#define GPUCOORD_ATOM_FUNCTION_DISPATCH_H

#include "gpucoord_atom_functions.h"    // made by CMake: the headers in kinds/

#include <stdexcept>

namespace gpucoord {

// Calls visitor(AtomFunctionDefinition<KIND>{}) and returns its result.
template <class Visitor> auto visit_atom_function(AtomFunctionKind kind, Visitor &&visitor)
{
  switch (kind) {
#define GPUCOORD_ATOM_FUNCTION(KIND) \
  case AtomFunctionKind::KIND:       \
    return visitor(AtomFunctionDefinition<AtomFunctionKind::KIND>{});
#include "gpucoord/atom_functions.def"
  }
  throw std::logic_error("gpucoord: no such function of a per-atom value");
}

}    // namespace gpucoord

#endif
