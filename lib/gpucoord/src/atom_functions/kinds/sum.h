// Part of GPUCOORD, GPL-2.0. sum: f = s.

#ifndef GPUCOORD_ATOM_FUNCTION_SUM_H
#define GPUCOORD_ATOM_FUNCTION_SUM_H

#include "../definition.h"

namespace gpucoord {

struct Identity {
  GPUCOORD_HD void operator()(double s, double &value, double &derivative) const
  {
    value = s;
    derivative = 1.0;
  }
};

template <> struct AtomFunctionDefinition<AtomFunctionKind::SUM> : SumOverAtoms {
  static constexpr const char *NAME = "sum";

  template <class Parts, class Use>
  static void with_formula(const AtomFunctionOptions &, const Parts &, const Use &use)
  {
    use(Identity());
  }
};

}    // namespace gpucoord

#endif
