// Part of GPUCOORD, GPL-2.0. less_than: f = sigma(s), with a switching function sigma.

#ifndef GPUCOORD_ATOM_FUNCTION_LESS_THAN_H
#define GPUCOORD_ATOM_FUNCTION_LESS_THAN_H

#include "../with_sigma.h"

namespace gpucoord {

template <> struct AtomFunctionDefinition<AtomFunctionKind::LESS_THAN> : WithSigma<false> {
  static constexpr const char *NAME = "less_than";
};

}    // namespace gpucoord

#endif
