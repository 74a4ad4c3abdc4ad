// Part of GPUCOORD, GPL-2.0. moment: S = mean of (s_i - mean)^order.

#ifndef GPUCOORD_ATOM_FUNCTION_MOMENT_H
#define GPUCOORD_ATOM_FUNCTION_MOMENT_H

#include "../definition.h"

#include <cstdint>

namespace gpucoord {

template <> struct AtomFunctionDefinition<AtomFunctionKind::MOMENT> : WholeFunction {
  static constexpr const char *NAME = "moment";
  static constexpr int MAX_ORDER = 100;
  static std::vector<AtomFunctionParameter> parameters() { return {atom_parameter::ORDER}; }

  static void check(const AtomFunctionOptions &o)
  {
    if (o.order < 2 || o.order > MAX_ORDER)
      throw AtomFunctionError("order",
                              "the order is " + std::to_string(o.order) + " but must be 2 to " +
                                  std::to_string(MAX_ORDER) + ": the first moment is always 0");
  }
  static std::string description(const AtomFunctionOptions &o)
  {
    return " " + std::to_string(o.order);
  }

  static double power(double x, int n)
  {
    double result = 1.0;
    for (int k = 0; k < n; ++k) result *= x;
    return result;
  }

  template <class Atoms> static double evaluate(const AtomFunctionOptions &o, Atoms &atoms)
  {
    using Reduction = AtomFunction::Reduction;
    const double *const s = atoms.s;
    double *const f = atoms.f, *const dSds = atoms.dSds;
    auto sums = atoms.template sums<2>([&](std::int64_t k, double *sum) {
      sum[0] += s[k];
      sum[1] += 1.0;
    });
    atoms.reduce(sums.data(), 2, Reduction::SUM);
    const double natoms = sums[1], mean = natoms > 0.0 ? sums[0] / natoms : 0.0;
    auto moments = atoms.template sums<2>([&](std::int64_t k, double *sum) {
      dSds[k] = power(s[k] - mean, o.order - 1);
      f[k] = dSds[k] * (s[k] - mean);
      sum[0] += f[k];
      sum[1] += dSds[k];
    });
    atoms.reduce(moments.data(), 2, Reduction::SUM);
    if (natoms == 0.0) return 0.0;
    for (std::int64_t k = 0; k < atoms.n; ++k)
      dSds[k] = o.order / natoms * (dSds[k] - moments[1] / natoms);
    return moments[0] / natoms;
  }
};

}    // namespace gpucoord

#endif
