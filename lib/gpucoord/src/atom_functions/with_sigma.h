// Part of GPUCOORD, GPL-2.0. The base of functions of a per-atom value that are a switching
// function sigma of it, or 1 - sigma.

#ifndef GPUCOORD_WITH_SIGMA_H
#define GPUCOORD_WITH_SIGMA_H

#include "definition.h"
#include "threshold.h"

#include <type_traits>

namespace gpucoord {

template <bool IS_MORE> struct WithSigma : SumOverAtoms {
  static constexpr bool HAS_SIGMA = true;

  template <class Parts, class Use>
  static void with_formula(const AtomFunctionOptions &o, const Parts &parts, const Use &use)
  {
    parts.with_sigma([&](const auto &sigma) {
      use(Threshold<std::decay_t<decltype(sigma)>>{sigma, o.sigma.d0, IS_MORE});
    });
  }
};

}    // namespace gpucoord

#endif
