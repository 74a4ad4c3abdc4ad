// Part of GPUCOORD, GPL-2.0. The logarithm of a sum of exponentials, of which the smallest and the
// largest number are limits.

#ifndef GPUCOORD_LOG_SUM_EXP_H
#define GPUCOORD_LOG_SUM_EXP_H

#include "definition.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace gpucoord {

// Base of functions with an argument beta.
struct WithBeta : WholeFunction {
  static std::vector<AtomFunctionParameter> parameters() { return {atom_parameter::BETA}; }
  static void check(const AtomFunctionOptions &o)
  {
    require_positive<AtomFunctionError>("beta", "beta", o.beta);
  }
  static std::string description(const AtomFunctionOptions &o)
  {
    return " beta " + short_text(o.beta);
  }
};

// Returns ln(sum of exp(e_k)) over all ranks, or -infinity if there are no terms; e_k is
// exponent(s_k). Sets f to the weight of each term, which is its part of the sum, or to 0 for all
// terms if an exponent is infinite.
template <class Atoms, class Exponent> double log_sum_exp(Atoms &atoms, const Exponent &exponent)
{
  using Reduction = AtomFunction::Reduction;
  const std::int64_t n = atoms.n;
  const double *const s = atoms.s;
  double *const weight = atoms.f;
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t k = 0; k < n; ++k) largest = std::max(largest, exponent(s[k]));
  atoms.reduce(&largest, 1, Reduction::MAX);
  const bool is_finite = std::isfinite(largest);
  auto sum = atoms.template sums<1>([&](std::int64_t k, double *total) {
    weight[k] = is_finite ? std::exp(exponent(s[k]) - largest) : 0.0;
    total[0] += weight[k];
  });
  atoms.reduce(sum.data(), 1, Reduction::SUM);
  if (!is_finite) return largest;
  for (std::int64_t k = 0; k < n; ++k) weight[k] /= sum[0];
  return largest + std::log(sum[0]);
}

// Returns ln(sum of exp(factor s_k))/factor and sets its derivatives, which are the weights of the
// terms. 0 if there are no terms.
template <class Atoms> double log_sum_exp_of_multiples(Atoms &atoms, double factor)
{
  const double log_sum = log_sum_exp(atoms, [&](double x) {
    return factor * x;
  });
  std::copy_n(atoms.f, atoms.n, atoms.dSds);
  return log_sum == -std::numeric_limits<double>::infinity() ? 0.0 : log_sum / factor;
}

}    // namespace gpucoord

#endif
