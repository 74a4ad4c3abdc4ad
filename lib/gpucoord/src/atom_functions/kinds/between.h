// Part of GPUCOORD, GPL-2.0. between: f = [erf((b - s)/(sqrt(2) w)) - erf((a - s)/(sqrt(2) w))]/2.

#ifndef GPUCOORD_ATOM_FUNCTION_BETWEEN_H
#define GPUCOORD_ATOM_FUNCTION_BETWEEN_H

#include "../smeared_interval.h"

namespace gpucoord {

template <> struct AtomFunctionDefinition<AtomFunctionKind::BETWEEN> : SumOverAtoms {
  static constexpr const char *NAME = "between";
  static std::vector<AtomFunctionParameter> parameters()
  {
    using namespace atom_parameter;
    return {A, B, SMEAR};
  }

  static void check(const AtomFunctionOptions &o) { check_interval(o); }
  static std::string description(const AtomFunctionOptions &o)
  {
    return " " + short_text(o.a) + " and " + short_text(o.b) + " smear " + short_text(o.smear);
  }

  template <class Parts, class Use>
  static void with_formula(const AtomFunctionOptions &o, const Parts &, const Use &use)
  {
    use(SmearedInterval(o.a, o.b, o.smear * (o.b - o.a)));
  }
};

}    // namespace gpucoord

#endif
