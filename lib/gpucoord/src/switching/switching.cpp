// Part of GPUCOORD, GPL-2.0. Checks, defaults and the stretch of a switching function.

#include "gpucoord/switching.h"

#include "custom_function_host.h"
#include "switch_dispatch.h"

#include <cstdio>

namespace gpucoord {

namespace {

  std::string number(double value)
  {
    char text[32];
    std::snprintf(text, sizeof(text), "%.10g", value);
    return text;
  }

  void need_positive(const char *field, const char *name, double value)
  {
    if (std::isnan(value))
      throw SwitchError(field, std::string(name) + " is required: give a number > 0");
    if (!(value > 0.0) || std::isinf(value))
      throw SwitchError(field,
                        std::string(name) + " is " + number(value) + " but must be > 0 and finite");
  }

  template <class Real>
  void evaluate_in(const Switch &function, Real r, Real &s, Real &slope,
                   CustomFunction *custom = nullptr)
  {
    const auto c = make_constants<Real>(function);
    s = slope = 0;
    if (!(r * r <= c.dmax_sq)) return;
    if (function.options().kind == SwitchKind::CUSTOM) {
      s = c.top;
      if (r <= c.d0) return;
      double value, derivative;
      const auto parsed_now = custom ? nullptr : function.make_custom();
      (custom ? custom : parsed_now.get())->evaluate((r - c.d0) * c.inv_r0, value, derivative);
      s = static_cast<Real>(value) * c.stretch + c.shift;
      slope = static_cast<Real>(derivative) * c.stretch * c.inv_r0;
      return;
    }
    visit_formula(function, [&](auto formula) {
      Real dfunc;
      formula.eval(c, r * r, s, dfunc);
      slope = dfunc * r;
    });
  }

}    // namespace

Switch::Switch(const SwitchOptions &options) : opt(options)
{
  if (std::isnan(opt.d0) || std::isinf(opt.d0) || opt.d0 < 0.0)
    throw SwitchError("d0", "d0 is " + number(opt.d0) + " but must be >= 0 and finite");
  if (!std::isnan(opt.dmax) && !(opt.dmax > opt.d0))
    throw SwitchError(
        "dmax", "dmax is " + number(opt.dmax) + " but must be larger than d0 = " + number(opt.d0));

  switch (opt.kind) {
    case SwitchKind::CUBIC:
      if (std::isnan(opt.dmax) || std::isinf(opt.dmax))
        throw SwitchError("dmax", "a finite dmax is required: s falls from 1 at d0 to 0 at dmax");
      opt.r0 = opt.dmax - opt.d0;
      break;
    case SwitchKind::Q:
      need_positive("beta", "beta (1/distance)", opt.beta);
      need_positive("lambda", "lambda", opt.lambda);
      need_positive("ref", "ref (distance)", opt.ref);
      opt.r0 = 1.0;
      break;
    default:
      need_positive("r0", "r0", opt.r0);
  }
  if (opt.r0 < 1e-18 || opt.r0 > 1e18)
    throw SwitchError(opt.kind == SwitchKind::CUBIC ? "dmax" : "r0",
                      "the width r0 is " + number(opt.r0) +
                          " but must be from 1e-18 to 1e18, whose squares single precision holds");
  switch (opt.kind) {
    case SwitchKind::RATIONAL:
      need_positive("n", "nn", opt.n);
      if (std::isnan(opt.m)) opt.m = 2 * opt.n;
      need_positive("m", "mm", opt.m);
      if (opt.m == opt.n)
        throw SwitchError(
            "m", "mm equals nn = " + number(opt.n) + ", so s would be 1 everywhere: give mm > nn");
      if (opt.m < opt.n)
        throw SwitchError("m",
                          "mm is " + number(opt.m) + " but must be larger than nn = " +
                              number(opt.n) + ", or s would grow with distance");
      if (std::isnan(opt.dmax)) opt.dmax = opt.d0 + opt.r0 * std::pow(1e-5, 1.0 / (opt.n - opt.m));
      break;
    case SwitchKind::SMAP:
      need_positive("a", "a", opt.a);
      need_positive("b", "b", opt.b);
      break;
    case SwitchKind::COSINUS:
      if (std::isnan(opt.dmax) || opt.dmax > opt.d0 + opt.r0) opt.dmax = opt.d0 + opt.r0;
      break;
    default:
      break;
  }
  if (std::isnan(opt.dmax)) opt.dmax = std::numeric_limits<double>::infinity();
  opt.shifted = opt.shifted && has_end() && !opt.stretch;
  if (opt.kind == SwitchKind::CUSTOM) make_custom();    // parse now: a bad expression is found here

  if (opt.shifted) shift_term = -evaluate(opt.dmax);
  if (!has_end() || !opt.stretch) return;
  // s'(0) and s'(dmax) by the formula itself, before the stretch is set. Just
  // above d0 stands for x = 0, where s = 1 by definition.
  double unused;
  if (opt.kind == SwitchKind::Q)
    at_zero = 1.0 / (1.0 + std::exp(opt.beta * (opt.d0 - opt.lambda * opt.ref)));
  else if (opt.kind == SwitchKind::CUSTOM)
    make_custom()->evaluate(0.0, at_zero, unused);
  if (!std::isfinite(at_zero))
    throw SwitchError("expression",
                      "the expression '" + opt.expression +
                          "' is not a finite number at x = 0, so it cannot be stretched to "
                          "1 there; use one that is, or nostretch");
  at_dmax = evaluate(opt.dmax);
  if (!std::isfinite(at_dmax))
    throw SwitchError("expression",
                      "the expression '" + opt.expression +
                          "' is not a finite number at dmax, so it cannot be stretched to 0 there; "
                          "use one that is, or a smaller dmax");
  stretch_factor = 1.0 / (at_zero - at_dmax);
  shift_term = -at_dmax * stretch_factor;
  if (!(rounding(Precision::DOUBLE) <= MOST_ROUNDING))    // also where it is not a number
    throw SwitchError("dmax",
                      "the function cannot be stretched: " + ends() + "; choose another " +
                          (opt.kind == SwitchKind::Q ? "ref, beta" : "r0") +
                          " or dmax, or nostretch");
}

double Switch::rounding(Precision precision) const
{
  const bool is_double = precision == Precision::DOUBLE;
  const double eps = is_double ? std::numeric_limits<double>::epsilon()
                               : std::numeric_limits<float>::epsilon();
  const double least = is_double ? std::numeric_limits<double>::min()
                                 : std::numeric_limits<float>::min();
  // s' stretch and shift are rounded before they cancel, and s' below 'least' may count as 0
  return 0.5 * eps * (std::fabs(at_zero * stretch_factor) + std::fabs(shift_term)) +
      least * std::fabs(stretch_factor);
}

// s' at both ends, and the lengths that it depends on
std::string Switch::ends() const
{
  const std::string lengths = opt.kind == SwitchKind::Q
      ? "ref = " + number(opt.ref) + " and beta = " + number(opt.beta)
      : "r0 = " + number(opt.r0);
  return "with " + lengths + " it is " + number(at_zero) + " at x = 0 and " + number(at_dmax) +
      " at dmax = " + number(opt.dmax);
}

std::string Switch::why_imprecise(Precision precision) const
{
  const double error = rounding(precision), factor = std::fabs(stretch_factor / opt.r0);
  const double most = precision == Precision::DOUBLE ? std::numeric_limits<double>::max()
                                                     : std::numeric_limits<float>::max();
  char limit[80];
  if (!(error <= MOST_ROUNDING))
    std::snprintf(limit, sizeof(limit), "makes s wrong by about %.1g, more than %.1g", error,
                  MOST_ROUNDING);
  else if (!(factor <= most))
    std::snprintf(limit, sizeof(limit), "gives ds/dr the factor %.2g, more than %.2g", factor,
                  most);
  else
    return "";
  static const char *const names[] = {"double", "mixed", "single"};
  return ends() + ", and stretching that to 1 and 0 in precision " +
      names[static_cast<int>(precision)] + " " + limit +
      "; use precision double, another dmax, or nostretch";
}

double Switch::evaluate(double r, double *slope, Precision precision) const
{
  double s = 0.0, ds = 0.0;
  if (precision == Precision::DOUBLE) {
    if (r <= opt.dmax) evaluate_in<double>(*this, r, s, ds);
  } else {
    float s_float, ds_float;
    evaluate_in<float>(*this, static_cast<float>(r), s_float, ds_float);
    s = s_float;
    ds = ds_float;
  }
  if (slope) *slope = ds;
  return s;
}

double Switch::value_at_dmax() const
{
  return has_end() ? evaluate(opt.dmax) : 0.0;
}

double Switch::slope_at_dmax() const
{
  double slope = 0.0;
  if (has_end()) evaluate(opt.dmax, &slope);
  return slope;
}

std::unique_ptr<CustomFunction> Switch::make_custom() const
{
  if (opt.kind != SwitchKind::CUSTOM) return nullptr;
  return std::make_unique<CustomFunction>(opt.expression);
}

SwitchEvaluator::SwitchEvaluator(const Switch &function_in) :
    function(function_in), custom(function.make_custom())
{
}

SwitchEvaluator::~SwitchEvaluator() = default;

double SwitchEvaluator::operator()(double r, double *slope)
{
  double s = 0.0, ds = 0.0;
  if (r <= function.dmax()) evaluate_in<double>(function, r, s, ds, custom.get());
  if (slope) *slope = ds;
  return s;
}

std::string Switch::description() const
{
  static const char *const names[] = {"rational", "exp",     "gaussian", "smap",  "cubic",
                                      "tanh",     "cosinus", "q",        "custom"};
  std::string text = names[static_cast<int>(opt.kind)];
  if (opt.kind == SwitchKind::RATIONAL)
    text += " nn " + number(opt.n) + " mm " + number(opt.m);
  else if (opt.kind == SwitchKind::SMAP)
    text += " a " + number(opt.a) + " b " + number(opt.b);
  else if (opt.kind == SwitchKind::Q)
    text +=
        " beta " + number(opt.beta) + " lambda " + number(opt.lambda) + " ref " + number(opt.ref);
  else if (opt.kind == SwitchKind::CUSTOM)
    text += " \"" + opt.expression + "\"";
  if (opt.kind != SwitchKind::Q) text += " r0 " + number(opt.r0);
  text += " d0 " + number(opt.d0);
  if (has_end())
    text += " dmax " + number(opt.dmax) +
        (opt.stretch       ? " stretched"
             : opt.shifted ? " shifted"
                           : " not stretched");
  else
    text += " without end";
  return text;
}

}    // namespace gpucoord
