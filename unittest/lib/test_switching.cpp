// Part of GPUCOORD, GPL-2.0. The switching functions, compared with their closed forms.

#include "backends.h"
#include "closed_forms.h"
#include "instruction_sets.h"
#include "switch_cases.h"

#include "../../lib/gpucoord/src/expression/custom_function_host.h"
#include "../../lib/gpucoord/src/switching/forms.h"
#include "gpucoord/coordination.h"
#include "gpucoord/switching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

using closed::Quad;
using gpucoord::Precision;
using gpucoord::Switch;
using gpucoord::SwitchKind;
using gpucoord::SwitchOptions;

namespace {

constexpr double EPS_DOUBLE = std::numeric_limits<double>::epsilon();
constexpr double EPS_FLOAT = std::numeric_limits<float>::epsilon();

// Errors of s are measured in units of eps (A + r |ds/dr|), errors of ds/dr in units of eps (A
// |ds/dr| + r |d2s/dr2|). This is the effect of rounding r (or d0 or r0) by one unit, plus one
// rounding of numbers of size A, the largest number in s = s' stretch + shift. A formula without
// cancellation has errors of a few units everywhere, including a tail of 1e-12. Largest errors: 2.7
// and 2.7 in double, 3.6 and 4.4 in float, both for rational 31/100, whose sums of 100 terms round
// 100 times.
constexpr double UNITS_S = 6.0;
constexpr double UNITS_DERIVATIVE = 6.0;
// Below this value, relative to its largest value, the derivative has underflowed in float.
constexpr double UNDERFLOW_DOUBLE = 1e-250;
constexpr double UNDERFLOW_FLOAT = 1e-25;

SwitchOptions with_dmax(SwitchOptions o, const Switch &function)
{
  o.dmax = function.dmax();
  return o;
}

// Special points, their neighbors on both sides, and grids.
std::vector<double> grid_of(const Switch &function, const SwitchOptions &formula, bool few)
{
  const double d0 = formula.d0, dmax = function.dmax();
  const double r0 = formula.kind == SwitchKind::Q ? formula.ref : function.options().r0;
  const double end = std::isinf(dmax) ? d0 + 30.0 * r0 : dmax;
  std::vector<double> grid = {0.0, 1e-100, 1e-50, 1e-30, 1e-18, 1e-15};
  const auto around = [&grid](double r) {
    double below = r, above = r;
    float below_float = static_cast<float>(r), above_float = below_float;
    grid.push_back(r);
    grid.push_back(below_float);
    for (int k = 0; k < 4; ++k) {
      grid.push_back(below = std::nextafter(below, 0.0));
      grid.push_back(above = std::nextafter(above, INF));
      grid.push_back(below_float = std::nextafterf(below_float, 0.0f));
      grid.push_back(above_float = std::nextafterf(above_float, INFINITY));
    }
    // Distances down to rounding from it, on both sides.
    for (double t = 1e-15; t < 0.5; t *= 1.7) {
      grid.push_back(r * (1.0 - t));
      grid.push_back(r * (1.0 + t));
    }
  };
  if (d0 > 0.0) around(d0);
  around(d0 + r0);
  if (formula.kind == SwitchKind::Q) around(formula.lambda * formula.ref);
  if (!std::isinf(dmax)) around(dmax);
  const int n = few ? 150 : 1200;
  for (int k = 0; k <= n; ++k) grid.push_back(end * k / n);
  for (int k = 0; k <= n / 4; ++k)    // towards d0, where x is small
    grid.push_back(d0 + r0 * std::pow(10.0, -14.0 + 14.0 * k / (n / 4)));
  if (std::isinf(dmax))    // the tail
    for (int k = 0; k <= n / 4; ++k) grid.push_back(d0 + r0 * std::pow(10.0, 3.0 * k / (n / 4)));
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0.0, 1.02 * end);
  for (int k = 0; k < n / 2; ++k) grid.push_back(uniform(random));
  std::sort(grid.begin(), grid.end());
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  return grid;
}

struct Truth {
  double r;
  Quad s, derivative, curvature;    // from the definition, cut off at d0 and dmax
};

struct TrueFunction {
  TrueFunction(const Switch &function, const SwitchCase &c) :
      exact(with_dmax(c.formula, function)), amplification(exact.amplification()), d0(c.formula.d0),
      expression(c.options.kind == SwitchKind::CUSTOM)
  {
    const double n = c.formula.n, m = function.options().m;
    if (c.formula.kind == SwitchKind::RATIONAL && (n != std::floor(n) || m != std::floor(m)))
      real_exponent = n;
    r0 = function.options().r0;
    if (c.formula.kind == SwitchKind::Q) center = c.formula.lambda * c.formula.ref;
    for (const double r : grid_of(function, c.formula, expression)) points.push_back(at(r));
    for (const auto &p : points)
      largest_derivative =
          std::max(largest_derivative, std::fabs(static_cast<double>(p.derivative)));
  }
  Truth at(double r) const
  {
    const auto p = exact(Quad(r));
    return {r, p.s, p.ds, p.ds == 0 ? Quad(0) : curvature(r)};
  }
  // The step is relative to x, which may be tiny. The result only sets the unit of errors.
  Quad curvature(Quad r) const
  {
    const Quad h = (r - Quad(d0)) * Quad(1e-8);
    return (exact.smooth(r + h).ds - exact.smooth(r - h).ds) / (2 * h);
  }
  // x^n with a real exponent may be computed as exp(n ln x), which loses the digits of n ln x
  // before the point. This matters only for x far from 1, where ds/dr is small.
  double logarithm(double r) const
  {
    if (real_exponent == 0.0 || r <= d0) return 0.0;
    return std::fabs(real_exponent * std::log((r - d0) / r0));
  }
  // s and its derivatives at d0 or dmax, as if the function continued beyond.
  Truth limit(Quad r) const
  {
    const Quad inside = r > Quad(d0) ? r : Quad(d0) + Quad(1e-9) * Quad(d0 > 0 ? d0 : 1.0);
    const auto p = exact.smooth(inside);
    return {static_cast<double>(r), p.s, p.ds, curvature(inside)};
  }
  closed::Function<Quad> exact;
  double amplification, d0;
  double real_exponent = 0.0, r0;
  double center = 0.0;    // lambda ref of q, which is rounded like r
  bool expression;        // text of a user: its rounding errors are not the library's
  double largest_derivative = 0.0;
  std::vector<Truth> points;
};

struct Worst {
  double s = 0.0;                      // largest error of s
  double derivative = 0.0;             // largest error of ds/dr over the largest ds/dr
  double derivative_relative = 0.0;    // largest relative error of ds/dr if it is well-conditioned
  double units_s = 0.0, units_derivative = 0.0;
  double r_s = 0.0, r_derivative = 0.0;    // positions of the largest errors
};

// Computes s and ds/dr at r.
using Evaluator = std::function<void(double r, double &s, double &derivative)>;

// In float, r within two roundings of d0 or dmax may be on either side of it.
Worst worst_errors(const Switch &function, const TrueFunction &truth, bool single,
                   const Evaluator &evaluate)
{
  const double eps = single ? EPS_FLOAT : EPS_DOUBLE;
  const double floor = truth.largest_derivative *
      (truth.expression ? eps
           : single     ? UNDERFLOW_FLOAT
                        : UNDERFLOW_DOUBLE);
  const double d0 = truth.d0, dmax = function.dmax();
  Worst worst;
  for (const Truth &p : truth.points) {
    if (single && p.r > 0.0 && p.r < 1e-18) continue;    // r^2 underflows
    double s, derivative;
    evaluate(p.r, s, derivative);
    struct Error {
      double s, derivative, units_s, units_derivative, relative;
    };
    const auto error_against = [&](Quad true_s, Quad true_derivative, Quad true_curvature) {
      Error e;
      const double size = std::fabs(static_cast<double>(true_derivative));
      const double curvature = std::fabs(static_cast<double>(true_curvature));
      e.s = std::fabs(static_cast<double>(Quad(s) - true_s));
      e.derivative = std::fabs(static_cast<double>(Quad(derivative) - true_derivative));
      e.units_s = e.s / (eps * (truth.amplification + (p.r + truth.center) * size));
      const double logarithm = truth.logarithm(p.r);
      e.units_derivative = e.derivative == 0.0 ? 0.0
                                               : e.derivative /
              (eps * ((truth.amplification + logarithm) * size + (p.r + truth.center) * curvature) +
               floor);
      const bool well_conditioned = size > 1e-3 * truth.largest_derivative &&
          p.r * curvature < 10.0 * size && truth.amplification < 2.0;
      e.relative = well_conditioned ? e.derivative / size : 0.0;
      if (std::isnan(s)) e.s = e.units_s = INF;
      if (std::isnan(derivative)) e.derivative = e.units_derivative = INF;
      return e;
    };
    Error e = error_against(p.s, p.derivative, p.curvature);
    if (single) {
      const auto better = [&e](const Error &other) {
        if (other.units_s + other.units_derivative < e.units_s + e.units_derivative) e = other;
      };
      if (std::fabs(p.r - d0) <= 2 * EPS_FLOAT * p.r) {
        const Truth limit = truth.limit(Quad(p.r));
        better(error_against(1, 0, 0));
        better(error_against(limit.s, limit.derivative, limit.curvature));
      }
      if (std::fabs(p.r - dmax) <= 2 * EPS_FLOAT * p.r) {
        const Truth limit = truth.limit(Quad(p.r));
        better(error_against(0, 0, 0));
        better(error_against(limit.s, limit.derivative, limit.curvature));
      }
    }
    worst.s = std::max(worst.s, e.s);
    worst.derivative = std::max(worst.derivative, e.derivative / truth.largest_derivative);
    worst.derivative_relative = std::max(worst.derivative_relative, e.relative);
    if (e.units_s > worst.units_s) {
      worst.units_s = e.units_s;
      worst.r_s = p.r;
    }
    if (e.units_derivative > worst.units_derivative) {
      worst.units_derivative = e.units_derivative;
      worst.r_derivative = p.r;
    }
  }
  return worst;
}

std::string row(const std::string &name, const char *how, const Worst &w)
{
  char text[200];
  std::snprintf(text, sizeof(text), "| %s | %s | %.1e | %.1e | %.1e | %.1f | %.1f |", name.c_str(),
                how, w.s, w.derivative, w.derivative_relative, w.units_s, w.units_derivative);
  return text;
}

class EveryFunction : public testing::TestWithParam<SwitchCase> {
 protected:
  EveryFunction() : function(GetParam().options), truth(truth_of(function, GetParam()))
  {
    static bool header = false;
    if (!header)
      std::puts(
          "| function | arithmetic | s, absolute | ds/dr over its maximum | ds/dr, relative | s, "
          "roundings | ds/dr, roundings |\n|---|---|---|---|---|---|---|");
    header = true;
  }
  void expect_small(const Worst &w, const std::string &how)
  {
    EXPECT_LE(w.units_s, UNITS_S) << how << ": s is worst at r = " << testing::PrintToString(w.r_s);
    EXPECT_LE(w.units_derivative, UNITS_DERIVATIVE)
        << how << ": ds/dr is worst at r = " << testing::PrintToString(w.r_derivative);
  }
  // The tests of one function share it if they run in one process.
  static const TrueFunction &truth_of(const Switch &function, const SwitchCase &c)
  {
    static std::map<std::string, TrueFunction> known;
    const auto found = known.find(c.name);
    return (found != known.end() ? found : known.emplace(c.name, TrueFunction(function, c)).first)
        ->second;
  }
  const Switch function;
  const TrueFunction &truth;
};

// Checks the closed form of the derivative, the reference for all other tests.
TEST_P(EveryFunction, closed_form_derivative_is_the_finite_difference)
{
  for (const Truth &p : truth.points) {
    if (p.derivative == 0) continue;
    const Quad r = p.r, d0 = truth.d0;
    const Quad h = (r - d0) * Quad(1e-10);
    const Quad difference = (truth.exact.smooth(r + h).s - truth.exact.smooth(r - h).s) / (2 * h);
    // Truncation is h^2 s'''/6, below 1e-16 of the derivative for exponents up to 100 and for tails
    // exp(-x^2/2) with x up to 40, and below 1e-18 of the largest derivative where the derivative
    // passes through 0. Rounding of s in 113 bits (1e-34) is divided by h.
    const double tolerance = 1e-13 * std::fabs(static_cast<double>(p.derivative)) +
        1e-18 * truth.largest_derivative +
        static_cast<double>(Quad(1e-31) * Quad(truth.amplification) / h);
    ASSERT_NEAR(static_cast<double>(difference - p.derivative), 0.0, tolerance) << "r = " << p.r;
  }
}

TEST_P(EveryFunction, double_equals_the_closed_form)
{
  const Worst w =
      worst_errors(function, truth, false, [this](double r, double &s, double &derivative) {
        s = function.evaluate(r, &derivative);
      });
  std::puts(row(GetParam().name, "double", w).c_str());
  expect_small(w, "double");
}

TEST_P(EveryFunction, float_equals_the_closed_form)
{
  const Worst w =
      worst_errors(function, truth, true, [this](double r, double &s, double &derivative) {
        s = function.evaluate(r, &derivative, Precision::SINGLE);
      });
  std::puts(row(GetParam().name, "float", w).c_str());
  expect_small(w, "float");
}

TEST_P(EveryFunction, derivative_is_the_finite_difference_of_the_closed_form)
{
  for (const Truth &p : truth.points) {
    const double x = p.r - truth.d0;
    // Closer to d0 the relative step loses the derivative.
    if (p.derivative == 0 || x < 1e-3) continue;
    const Quad r = p.r, h = Quad(x) * Quad(1e-10);
    const Quad difference = (truth.exact.smooth(r + h).s - truth.exact.smooth(r - h).s) / (2 * h);
    double derivative;
    function.evaluate(p.r, &derivative);
    // 1e-13 of the derivative, and 20 roundings of the largest one, from r near d0 or dmax.
    const double tolerance = 1e-13 * std::fabs(static_cast<double>(p.derivative)) +
        20 * EPS_DOUBLE * truth.amplification *
            (truth.largest_derivative + p.r * std::fabs(static_cast<double>(p.curvature)));
    ASSERT_NEAR(derivative, static_cast<double>(difference), tolerance) << "r = " << p.r;
  }
}

// Kernels of every instruction set, with one partner (the end of a vector loop) and with many
// copies of it (the loop itself).
template <class Real>
void check_kernels(const Switch &function, const TrueFunction &truth, const std::string &name)
{
  const auto constants = gpucoord::make_constants<Real>(function);
  const auto custom = function.make_custom();
  const bool single = sizeof(Real) == 4;
  for (const auto &set : instruction_sets<Real>(function, Precision::MIXED))
    for (const int copies : {1, 16}) {
      // Copies of one number are summed in Real: 16 s has the relative error of s and a few
      // roundings.
      const std::vector<Real> zero(copies, Real(0));
      std::vector<Real> x(copies);
      const Worst w =
          worst_errors(function, truth, single, [&](double r, double &s, double &derivative) {
            std::fill(x.begin(), x.end(), static_cast<Real>(r));
            double sums[gpucoord::NSUMS] = {};
            set.kernels.gather[gpucoord::DERIVATIVES](constants, custom.get(),
                                                      {copies, x.data(), zero.data(), zero.data()},
                                                      {0, 0, 0, -1}, sums);
            s = sums[0] / copies;
            derivative = -sums[1] / copies;
          });
      const std::string how = name + " " + set.name + (copies == 1 ? " alone" : " in a vector");
      EXPECT_LE(w.units_s, UNITS_S) << how << ": s at r = " << testing::PrintToString(w.r_s);
      EXPECT_LE(w.units_derivative, UNITS_DERIVATIVE)
          << how << ": ds/dr at r = " << testing::PrintToString(w.r_derivative);
    }
}

TEST_P(EveryFunction, kernels_of_every_instruction_set_equal_the_closed_form_in_double)
{
  check_kernels<double>(function, truth, "double");
}

TEST_P(EveryFunction, kernels_of_every_instruction_set_equal_the_closed_form_in_float)
{
  check_kernels<float>(function, truth, "float");
}

// ---- the backend of backends.h in pair mode: one pair at each distance

void check_backend(const Switch &function, const TrueFunction &truth, const std::string &name,
                   Precision precision)
{
  const std::size_t n = truth.points.size();
  std::vector<double> origin(3 * n, 0.0), at(3 * n, 0.0), peratom(4 * n, 0.0), distances;
  std::vector<int> rows, not_owned(n, -1);
  for (std::size_t k = 0; k < n; ++k) {
    distances.push_back(at[3 * k] = truth.points[k].r);    // sorted
    rows.push_back(static_cast<int>(k));
  }
  gpucoord::PairsInput in;
  in.n = static_cast<std::int64_t>(n);
  in.xa = origin.data();
  in.xb = at.data();
  in.row_a = rows.data();
  in.row_b = not_owned.data();
  make_backend(function, precision, 1)->pairs(in, gpucoord::DERIVATIVES, peratom.data());
  const Worst w = worst_errors(
      function, truth, precision != Precision::DOUBLE,
      [&](double r, double &s, double &derivative) {
        const auto k = std::lower_bound(distances.begin(), distances.end(), r) - distances.begin();
        s = peratom[4 * k];
        derivative = -peratom[4 * k + 1];    // the gradient of the atom at the origin
      });
  const std::string how = backend_name() +
      (precision == Precision::DOUBLE      ? " double"
           : precision == Precision::MIXED ? " mixed"
                                           : " single");
  std::puts(row(name, how.c_str(), w).c_str());
  EXPECT_LE(w.units_s, UNITS_S) << how << ": s is worst at r = " << testing::PrintToString(w.r_s);
  EXPECT_LE(w.units_derivative, UNITS_DERIVATIVE)
      << how << ": ds/dr is worst at r = " << testing::PrintToString(w.r_derivative);
}

TEST_P(EveryFunction, backend_equals_the_closed_form_in_double)
{
  check_backend(function, truth, GetParam().name, Precision::DOUBLE);
}

TEST_P(EveryFunction, backend_equals_the_closed_form_in_float)
{
  check_backend(function, truth, GetParam().name, Precision::MIXED);
  check_backend(function, truth, GetParam().name, Precision::SINGLE);
}

std::string test_name(const testing::TestParamInfo<SwitchCase> &info)
{
  std::string name = std::to_string(info.index) + "_";
  for (const char c : info.param.name)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(switching, EveryFunction, testing::ValuesIn(switch_cases()), test_name);

}    // namespace
