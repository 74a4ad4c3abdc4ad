// Part of GPUCOORD, GPL-2.0. min: S = beta/ln sum exp(beta/s_i); 0 if any s_i <= 0.

#ifndef GPUCOORD_ATOM_FUNCTION_MIN_H
#define GPUCOORD_ATOM_FUNCTION_MIN_H

#include "../log_sum_exp.h"

namespace gpucoord {

template <> struct AtomFunctionDefinition<AtomFunctionKind::MIN> : WithBeta {
  static constexpr const char *NAME = "min";
  static constexpr int EXTREME = -1;
  static constexpr bool DIVIDES_BY_S = true;

  // The exponent of s_i = 0 is infinite: S and its derivatives are 0 in this limit. Rounding may
  // make s_i slightly negative, which counts as 0.
  template <class Atoms> static double evaluate(const AtomFunctionOptions &o, Atoms &atoms)
  {
    const double beta = o.beta;
    const double log_sum = log_sum_exp(atoms, [&](double x) {
      return x > 0.0 ? beta / x : std::numeric_limits<double>::infinity();
    });
    const double value = std::isfinite(log_sum) ? beta / log_sum : 0.0;
    const double *const s = atoms.s, *const f = atoms.f;
    for (std::int64_t k = 0; k < atoms.n; ++k)
      atoms.dSds[k] = f[k] > 0.0 ? f[k] * (value / s[k]) * (value / s[k]) : 0.0;
    return value;
  }
};

}    // namespace gpucoord

#endif
