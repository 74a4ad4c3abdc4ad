// Part of GPUCOORD, GPL-2.0. Functions of a per-atom value, on the host.

#include "gpucoord/atom_function.h"

#include "dispatch.h"

#include "../core/run_in_parallel.h"
#include "../expression/parsed_function.h"
#include "../switching/forms.h"
#include "../switching/switch_dispatch.h"
#include "gpucoord/expression.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace gpucoord {

namespace {

  const std::vector<std::string> NAMES = {"s"};    // variables of an expression

  // Atoms per block. The sums of the blocks are added in order.
  constexpr std::int64_t BLOCK = 1024;

  // Calls term(k, sums) for all k < n. Returns the sums over all terms.
  template <int NSUMS, class Term>
  std::array<double, NSUMS> sum_terms(std::int64_t n, int nthreads, const Term &term)
  {
    const std::int64_t nblocks = (n + BLOCK - 1) / BLOCK;
    std::vector<double> blocks(static_cast<std::size_t>(nblocks) * NSUMS, 0.0);
    run_in_parallel(nblocks, nblocks > 4 ? nthreads : 1, [&](std::int64_t b) {
      double sums[NSUMS] = {};
      for (std::int64_t k = b * BLOCK; k < std::min(n, (b + 1) * BLOCK); ++k) term(k, sums);
      std::copy_n(sums, NSUMS, &blocks[static_cast<std::size_t>(b) * NSUMS]);
    });
    std::array<double, NSUMS> total = {};
    for (std::size_t k = 0; k < blocks.size(); ++k) total[k % NSUMS] += blocks[k];
    return total;
  }

  // The atoms of this rank (WholeFunction in definition.h).
  struct Atoms {
    const std::int64_t n;
    const double *const s;
    double *const f, *const dSds;
    const AtomFunction::Reduce &reduce;
    const int nthreads;

    template <int NSUMS, class Term> std::array<double, NSUMS> sums(const Term &term) const
    {
      return sum_terms<NSUMS>(n, nthreads, term);
    }
  };

  bool is_constant(const std::string &expression)
  {
    const ParsedFunction parsed(expression);
    return parsed.value.createCompiledExpression().getVariables().empty();
  }

  [[noreturn]] void fail(const char *field, const std::string &message)
  {
    throw AtomFunctionError(field, message);
  }

  Switch make_sigma(const SwitchOptions &options)
  {
    try {
      Switch sigma = make_endless_switch(options);
      if (options.kind == SwitchKind::CUSTOM && is_constant(options.expression))
        fail("expression",
             "the expression '" + options.expression + "' does not depend on x - write it in x");
      return sigma;
    } catch (const SwitchError &e) {
      fail(e.field.c_str(), e.what());
    }
  }

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

}    // namespace

const std::vector<AtomFunctionInfo> &AtomFunctionInfo::all()
{
  static const auto info = [](AtomFunctionKind kind, auto definition) {
    static_assert(!(definition.HAS_SIGMA && definition.HAS_EXPRESSION),
                  "the GPU has one program for each function");
    return AtomFunctionInfo{kind,
                            definition.NAME,
                            definition.HAS_SIGMA,
                            definition.HAS_EXPRESSION,
                            definition.parameters(),
                            definition.IS_SUM,
                            definition.EXTREME,
                            definition.DIVIDES_BY_S};
  };
  static const std::vector<AtomFunctionInfo> functions = {
#define GPUCOORD_ATOM_FUNCTION(KIND) \
  info(AtomFunctionKind::KIND, AtomFunctionDefinition<AtomFunctionKind::KIND>{}),
#include "gpucoord/atom_functions.def"
  };
  return functions;
}

// The parts of a formula (SumOverAtoms in definition.h), evaluated by nthreads threads.
struct AtomFunction::Parts {
  const Switch *sigma = nullptr;
  const std::string *expression = nullptr;
  int nthreads = 1;
  mutable PerThread<SwitchEvaluator> sigmas;
  mutable PerThread<Expression> expressions;

  template <class Use> void with_sigma(const Use &use) const
  {
    if (sigma->options().kind == SwitchKind::CUSTOM) {
      sigmas.reserve(nthreads, *sigma);
      return use([this](double x, double &value, double &derivative) {
        value = sigmas.mine()(x, &derivative);
      });
    }
    const auto c = make_constants<double>(*sigma);
    visit_formula(*sigma, [&](auto formula) {
      use([c, formula](double x, double &value, double &derivative) {
        value = derivative = 0.0;
        if (!(x * x <= c.dmax_sq)) return;
        formula.eval(c, x * x, value, derivative);
        derivative *= x;
      });
    });
  }

  template <class Use> void with_expression(const Use &use) const
  {
    expressions.reserve(nthreads, *expression, NAMES);
    use([this](double x, double &value, double &derivative) {
      value = expressions.mine().evaluate(&x, &derivative);
    });
  }
};

AtomFunction::AtomFunction(const AtomFunctionOptions &options) :
    opt(options), parts(std::make_unique<Parts>())
{
  visit_atom_function(opt.kind, [this](auto definition) {
    definition.check(opt);
  });
  if (info().has_sigma) {
    sigma = std::make_unique<const Switch>(make_sigma(opt.sigma));
    parts->sigma = sigma.get();
  }
  parts->expression = &opt.expression;
  if (!info().has_expression) return;
  try {
    parts->expressions.reserve(1, opt.expression, NAMES);
  } catch (const ExpressionError &e) {
    if (e.name == NAMES[0])    // s does not occur in the expression
      fail("expression",
           "the expression '" + opt.expression + "' does not depend on s - write it in s");
    fail("expression", e.what());
  }
}

AtomFunction::~AtomFunction() = default;

std::string AtomFunction::description() const
{
  return visit_atom_function(opt.kind, [this](auto definition) {
    return definition.NAME + (sigma ? " " + sigma->description() : "") +
        definition.description(opt);
  });
}

AtomFunction::Result AtomFunction::evaluate(std::int64_t n, const double *s, double *f,
                                            double *dSds, const Reduce &reduce, int nthreads,
                                            const AtomWeights &weights)
{
  if (weights.w && (!is_sum() || nbins() > 0))
    throw std::invalid_argument("function " + description() +
                                " takes no weights of atoms - use a sum without bins");
  if (weights.gradient && !weights.w)
    throw std::invalid_argument("gradients of weights need the weights");
  Result result;
  parts->nthreads = nthreads;
  visit_atom_function(opt.kind, [&](auto definition) {
    if constexpr (decltype(definition)::IS_SUM)
      definition.with_formula(opt, *parts, [&](const auto &formula) {
        result.value = sum_terms<1>(n, nthreads, [&](std::int64_t k, double *sum) {
          const double w = weights.w ? weights.w[k] : 1.0;
          formula(s[k], f[k], dSds[k]);
          dSds[k] *= w;
          sum[0] += w * f[k];
        })[0];
      });
    else {
      Atoms atoms = {n, s, f, dSds, reduce, nthreads};
      result.value = definition.evaluate(opt, atoms);
    }
  });
  std::int64_t bad = n;
#pragma omp parallel for schedule(static) num_threads(nthreads) reduction(min : bad) if (n > 4096)
  for (std::int64_t k = 0; k < n; ++k)
    if (!std::isfinite(f[k]) || !std::isfinite(dSds[k])) bad = std::min(bad, k);
  if (bad < n) result.bad = bad;
  return result;
}

void add_weight_gradients(std::int64_t n, const int *row, const double *f,
                          const AtomWeights &weights, int columns, double *peratom)
{
  if (!weights.gradient) return;
  for (std::int64_t k = 0; k < n; ++k) {
    double *const to = peratom + columns * (row ? row[k] : k);
    for (int c = 0; c < 3; ++c) to[1 + c] += f[k] * weights.gradient[3 * k + c];
  }
}

void AtomFunction::add_histogram(std::int64_t n, const double *s, double *bins, int nthreads) const
{
  for (int bin = 0; bin < opt.nbins; ++bin) {
    const auto interval = AtomFunctionDefinition<AtomFunctionKind::HISTOGRAM>::bin(opt, bin);
    bins[bin] += sum_terms<1>(n, nthreads, [&](std::int64_t k, double *sum) {
      double value, derivative;
      interval(s[k], value, derivative);
      sum[0] += value;
    })[0];
  }
}

}    // namespace gpucoord
