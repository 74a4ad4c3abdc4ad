// Part of GPUCOORD, GPL-2.0. Functions of a per-atom value, on the host.

#include "gpucoord/atom_function.h"

#include "atom_formulas.h"

#include "../core/checks.h"
#include "../core/parsed_function.h"
#include "../pairs/cell_tasks_host.h"
#include "../switching/forms.h"
#include "../switching/switch_dispatch.h"
#include "gpucoord/expression.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace gpucoord {

namespace {

  using Kind = AtomFunctionKind;
  using Reduction = AtomFunction::Reduction;

  constexpr int MAX_ORDER = 100;
  const std::vector<std::string> NAMES = {"s"};    // variables of an expression

  // Atoms per block. The sums of the blocks are added in order.
  constexpr std::int64_t BLOCK = 1024;

  // Calls term(k, sums) for all k < n. Returns the sums over all terms, [NSUMS].
  template <int NSUMS, class Term>
  std::vector<double> sum_terms(std::int64_t n, int nthreads, const Term &term)
  {
    const std::int64_t nblocks = (n + BLOCK - 1) / BLOCK;
    std::vector<double> blocks(static_cast<std::size_t>(nblocks) * NSUMS, 0.0);
    run_in_parallel(nblocks, nblocks > 4 ? nthreads : 1, [&](std::int64_t b) {
      double sums[NSUMS] = {};
      for (std::int64_t k = b * BLOCK; k < std::min(n, (b + 1) * BLOCK); ++k) term(k, sums);
      std::copy_n(sums, NSUMS, &blocks[static_cast<std::size_t>(b) * NSUMS]);
    });
    std::vector<double> total(NSUMS, 0.0);
    for (std::size_t k = 0; k < blocks.size(); ++k) total[k % NSUMS] += blocks[k];
    return total;
  }

  // Returns S, the sum of f. evaluate(s, f, df) sets f and its derivative.
  template <class Evaluate>
  double sum_of(std::int64_t n, const double *s, double *f, double *df, int nthreads,
                const Evaluate &evaluate)
  {
    return sum_terms<1>(n, nthreads, [&](std::int64_t k, double *sum) {
      evaluate(s[k], f[k], df[k]);
      sum[0] += f[k];
    })[0];
  }

  // Returns ln(sum of exp(e_k)) over all ranks, or -infinity if there are no terms; e_k is
  // exponent(s_k). Sets the weight of each term, which is its part of the sum, or 0 for all terms
  // if an exponent is infinite.
  template <class Exponent>
  double log_sum_exp(std::int64_t n, const double *s, double *weight, const Exponent &exponent,
                     const AtomFunction::Reduce &reduce, int nthreads)
  {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t k = 0; k < n; ++k) largest = std::max(largest, exponent(s[k]));
    reduce(&largest, 1, Reduction::MAX);
    const bool is_finite = std::isfinite(largest);
    double sum = sum_terms<1>(n, nthreads, [&](std::int64_t k, double *total) {
      weight[k] = is_finite ? std::exp(exponent(s[k]) - largest) : 0.0;
      total[0] += weight[k];
    })[0];
    reduce(&sum, 1, Reduction::SUM);
    if (!is_finite) return largest;
    for (std::int64_t k = 0; k < n; ++k) weight[k] /= sum;
    return largest + std::log(sum);
  }

  bool is_constant(const std::string &expression)
  {
    const ParsedFunction parsed(expression);
    return parsed.value.createCompiledExpression().getVariables().empty();
  }

  double power(double x, int n)
  {
    double result = 1.0;
    for (int k = 0; k < n; ++k) result *= x;
    return result;
  }

  [[noreturn]] void fail(const char *field, const std::string &message)
  {
    throw AtomFunctionError(field, message);
  }

}    // namespace

// One evaluator of an expression per thread.
template <class Evaluator> struct PerThread {
  template <class... Arguments> void reserve(int nthreads, const Arguments &...arguments)
  {
    while (static_cast<int>(all.size()) < nthreads)
      all.push_back(std::make_unique<Evaluator>(arguments...));
  }
  Evaluator &mine() { return *all[omp_get_thread_num()]; }
  std::vector<std::unique_ptr<Evaluator>> all;
};

struct AtomFunction::Custom {
  PerThread<Expression> expressions;
  PerThread<SwitchEvaluator> sigmas;
};

AtomFunction::AtomFunction(const AtomFunctionOptions &options) :
    opt(options), custom(std::make_unique<Custom>())
{
  const auto beta = [this] {
    require_positive<AtomFunctionError>("beta", "beta", opt.beta);
  };
  switch (opt.kind) {
    case Kind::SUM:
      break;
    case Kind::HISTOGRAM:
      if (opt.nbins < 1 || opt.nbins > MAX_BINS)
        fail("nbins",
             "the number of bins is " + std::to_string(opt.nbins) + " but must be 1 to " +
                 std::to_string(MAX_BINS));
      [[fallthrough]];
    case Kind::BETWEEN:
      for (const double bound : {opt.a, opt.b})
        if (!std::isfinite(bound))
          fail(std::isfinite(opt.a) ? "b" : "a",
               "a bound is " + short_text(bound) + " but must be a finite number");
      if (!(opt.a < opt.b))
        fail("b",
             "the upper bound is " + short_text(opt.b) + " but must be above the lower bound " +
                 short_text(opt.a));
      check_positive<AtomFunctionError>("smear", "smear", opt.smear);
      break;
    case Kind::MORE_THAN:
    case Kind::LESS_THAN:
      try {
        sigma = std::make_unique<const Switch>(make_endless_switch(opt.sigma));
        if (opt.sigma.kind == SwitchKind::CUSTOM && is_constant(opt.sigma.expression))
          fail("expression",
               "the expression '" + opt.sigma.expression +
                   "' does not depend on x - write it in x");
      } catch (const SwitchError &e) {
        fail(e.field.c_str(), e.what());
      }
      break;
    case Kind::MOMENT:
      if (opt.order < 2 || opt.order > MAX_ORDER)
        fail("order",
             "the order is " + std::to_string(opt.order) + " but must be 2 to " +
                 std::to_string(MAX_ORDER) + ": the first moment is always 0");
      break;
    case Kind::MIN:
    case Kind::MAX:
    case Kind::ALT_MIN:
      beta();
      break;
    case Kind::CUSTOM:
      try {
        custom->expressions.reserve(1, opt.expression, NAMES);
      } catch (const ExpressionError &e) {
        if (e.name == NAMES[0])    // s does not occur in the expression
          fail("expression",
               "the expression '" + opt.expression + "' does not depend on s - write it in s");
        fail("expression", e.what());
      }
  }
}

AtomFunction::~AtomFunction() = default;

bool AtomFunction::is_sum() const
{
  return opt.kind != Kind::MOMENT && opt.kind != Kind::MIN && opt.kind != Kind::MAX &&
      opt.kind != Kind::ALT_MIN;
}

std::string AtomFunction::description() const
{
  switch (opt.kind) {
    case Kind::SUM:
      return "sum";
    case Kind::MORE_THAN:
      return "more_than " + sigma->description();
    case Kind::LESS_THAN:
      return "less_than " + sigma->description();
    case Kind::BETWEEN:
      return "between " + short_text(opt.a) + " and " + short_text(opt.b) + " smear " +
          short_text(opt.smear);
    case Kind::HISTOGRAM:
      return "histogram from " + short_text(opt.a) + " to " + short_text(opt.b) + " in " +
          std::to_string(opt.nbins) + " bins smear " + short_text(opt.smear);
    case Kind::MOMENT:
      return "moment " + std::to_string(opt.order);
    case Kind::MIN:
      return "min beta " + short_text(opt.beta);
    case Kind::MAX:
      return "max beta " + short_text(opt.beta);
    case Kind::ALT_MIN:
      return "alt_min beta " + short_text(opt.beta);
    default:
      return "custom " + opt.expression;
  }
}

AtomFunction::Result AtomFunction::evaluate(std::int64_t n, const double *s, double *f,
                                            double *dSds, const Reduce &reduce, int nthreads)
{
  Result result;
  const double beta = opt.beta;
  switch (opt.kind) {
    case Kind::SUM:
    case Kind::HISTOGRAM:
      result.value =
          sum_of(n, s, f, dSds, nthreads, [](double x, double &value, double &derivative) {
            value = x;
            derivative = 1.0;
          });
      break;
    case Kind::MORE_THAN:
    case Kind::LESS_THAN: {
      const bool is_more = opt.kind == Kind::MORE_THAN;
      const auto add = [&](const auto &sigma_of) {
        return sum_of(n, s, f, dSds, nthreads, [&](double x, double &value, double &derivative) {
          threshold(is_more, sigma->options().d0, x, value, derivative, sigma_of);
        });
      };
      const auto c = make_constants<double>(*sigma);
      if (sigma->options().kind == SwitchKind::CUSTOM) {
        custom->sigmas.reserve(nthreads, *sigma);
        result.value = add([&](double x, double &value, double &derivative) {
          value = custom->sigmas.mine()(x, &derivative);
        });
      } else
        visit_formula(*sigma, [&](auto formula) {
          result.value = add([&](double x, double &value, double &derivative) {
            value = derivative = 0.0;
            if (!(x * x <= c.dmax_sq)) return;
            formula.eval(c, x * x, value, derivative);
            derivative *= x;
          });
        });
      break;
    }
    case Kind::BETWEEN: {
      const Interval interval(opt.a, opt.b, opt.smear);
      result.value =
          sum_of(n, s, f, dSds, nthreads, [&](double x, double &value, double &derivative) {
            interval.evaluate(x, value, derivative);
          });
      break;
    }
    case Kind::MOMENT: {
      auto sums = sum_terms<2>(n, nthreads, [&](std::int64_t k, double *sum) {
        sum[0] += s[k];
        sum[1] += 1.0;
      });
      reduce(sums.data(), 2, Reduction::SUM);
      const double natoms = sums[1], mean = natoms > 0.0 ? sums[0] / natoms : 0.0;
      auto moments = sum_terms<2>(n, nthreads, [&](std::int64_t k, double *sum) {
        dSds[k] = power(s[k] - mean, opt.order - 1);
        f[k] = dSds[k] * (s[k] - mean);
        sum[0] += f[k];
        sum[1] += dSds[k];
      });
      reduce(moments.data(), 2, Reduction::SUM);
      if (natoms == 0.0) break;
      result.value = moments[0] / natoms;
      for (std::int64_t k = 0; k < n; ++k)
        dSds[k] = opt.order / natoms * (dSds[k] - moments[1] / natoms);
      break;
    }
    case Kind::MIN: {
      // The exponent of s_i = 0 is infinite: S and its derivatives are 0 in this limit. Rounding
      // may make s_i slightly negative, which counts as 0.
      const double log_sum = log_sum_exp(
          n, s, f,
          [&](double x) {
            return x > 0.0 ? beta / x : std::numeric_limits<double>::infinity();
          },
          reduce, nthreads);
      result.value = std::isfinite(log_sum) ? beta / log_sum : 0.0;
      for (std::int64_t k = 0; k < n; ++k)
        dSds[k] = f[k] > 0.0 ? f[k] * (result.value / s[k]) * (result.value / s[k]) : 0.0;
      break;
    }
    case Kind::MAX:
    case Kind::ALT_MIN: {
      const double factor = opt.kind == Kind::MAX ? 1.0 / beta : -beta;
      const double log_sum = log_sum_exp(
          n, s, f,
          [&](double x) {
            return factor * x;
          },
          reduce, nthreads);
      result.value = log_sum == -std::numeric_limits<double>::infinity() ? 0.0 : log_sum / factor;
      std::copy_n(f, n, dSds);
      break;
    }
    case Kind::CUSTOM:
      custom->expressions.reserve(nthreads, opt.expression, NAMES);
      result.value =
          sum_of(n, s, f, dSds, nthreads, [&](double x, double &value, double &derivative) {
            value = custom->expressions.mine().evaluate(&x, &derivative);
          });
  }
  std::int64_t bad = n;
#pragma omp parallel for schedule(static) num_threads(nthreads) reduction(min : bad) if (n > 4096)
  for (std::int64_t k = 0; k < n; ++k)
    if (!std::isfinite(f[k]) || !std::isfinite(dSds[k])) bad = std::min(bad, k);
  if (bad < n) result.bad = bad;
  return result;
}

void AtomFunction::add_histogram(std::int64_t n, const double *s, double *bins, int nthreads) const
{
  const double width = (opt.b - opt.a) / opt.nbins;
  for (int bin = 0; bin < opt.nbins; ++bin) {
    const Interval interval(opt.a + bin * width, opt.a + (bin + 1) * width, opt.smear);
    bins[bin] += sum_terms<1>(n, nthreads, [&](std::int64_t k, double *sum) {
      double value, derivative;
      interval.evaluate(s[k], value, derivative);
      sum[0] += value;
    })[0];
  }
}

}    // namespace gpucoord
