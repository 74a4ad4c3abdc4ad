// Part of GPUCOORD, GPL-2.0. more_than: f = 1 - sigma(s), with a switching function sigma.

#ifndef GPUCOORD_ATOM_FUNCTION_MORE_THAN_H
#define GPUCOORD_ATOM_FUNCTION_MORE_THAN_H

#include "../with_sigma.h"

namespace gpucoord {

template <> struct AtomFunctionDefinition<AtomFunctionKind::MORE_THAN> : WithSigma<true> {
  static constexpr const char *NAME = "more_than";
};

}    // namespace gpucoord

#endif
