// Part of GPUCOORD, GPL-2.0. max: S = beta ln sum exp(s_i/beta).

#ifndef GPUCOORD_ATOM_FUNCTION_MAX_H
#define GPUCOORD_ATOM_FUNCTION_MAX_H

#include "../log_sum_exp.h"

namespace gpucoord {

template <> struct AtomFunctionDefinition<AtomFunctionKind::MAX> : WithBeta {
  static constexpr const char *NAME = "max";
  static constexpr int EXTREME = 1;

  template <class Atoms> static double evaluate(const AtomFunctionOptions &o, Atoms &atoms)
  {
    return log_sum_exp_of_multiples(atoms, 1.0 / o.beta);
  }
};

}    // namespace gpucoord

#endif
