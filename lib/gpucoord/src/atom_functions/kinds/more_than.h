// Part of GPUCOORD, GPL-2.0. more_than: f = 1 - sigma(s), with a switching function sigma.

#ifndef GPUCOORD_ATOM_FUNCTION_MORE_THAN_H
#define GPUCOORD_ATOM_FUNCTION_MORE_THAN_H

#include "../definition.h"
#include "../threshold.h"

#include <type_traits>

namespace gpucoord {

template <> struct AtomFunctionDefinition<AtomFunctionKind::MORE_THAN> : SumOverAtoms {
  static constexpr const char *NAME = "more_than";
  static constexpr bool HAS_SIGMA = true;

  template <class Parts, class Use>
  static void with_formula(const AtomFunctionOptions &o, const Parts &parts, const Use &use)
  {
    parts.with_sigma([&](const auto &sigma) {
      use(Threshold<std::decay_t<decltype(sigma)>>{sigma, o.sigma.d0, true});
    });
  }
};

}    // namespace gpucoord

#endif
