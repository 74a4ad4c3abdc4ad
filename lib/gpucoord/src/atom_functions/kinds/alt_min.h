// Part of GPUCOORD, GPL-2.0. alt_min: S = -ln(sum exp(-beta s_i))/beta.

#ifndef GPUCOORD_ATOM_FUNCTION_ALT_MIN_H
#define GPUCOORD_ATOM_FUNCTION_ALT_MIN_H

#include "../log_sum_exp.h"

namespace gpucoord {

template <> struct AtomFunctionDefinition<AtomFunctionKind::ALT_MIN> : WithBeta {
  static constexpr const char *NAME = "alt_min";
  static constexpr int EXTREME = -1;

  template <class Atoms> static double evaluate(const AtomFunctionOptions &o, Atoms &atoms)
  {
    return log_sum_exp_of_multiples(atoms, -o.beta);
  }
};

}    // namespace gpucoord

#endif
