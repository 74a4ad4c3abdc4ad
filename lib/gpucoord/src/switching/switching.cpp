// Part of GPUCOORD, GPL-2.0. Checks, defaults and the stretch of a switching function.

#include "gpucoord/switching.h"

#include "../core/range_check.h"
#include "../expression/custom_function_host.h"
#include "forms.h"
#include "switch_dispatch.h"

#include <cstdio>

namespace gpucoord {

namespace {

  template <class Real>
  void evaluate_in(const Switch &function, Real r, Real &s, Real &derivative,
                   CustomFunction *custom = nullptr)
  {
    const auto c = make_constants<Real>(function);
    s = derivative = 0;
    if (!(r * r <= c.dmax_sq)) return;
    if (function.options().kind == SwitchKind::CUSTOM) {
      s = c.top;
      if (r <= c.d0) return;
      double value, derivative_of_x;
      const auto parsed_now = custom ? nullptr : function.make_custom();
      (custom ? custom : parsed_now.get())->evaluate((r - c.d0) * c.inv_r0, value, derivative_of_x);
      s = static_cast<Real>(value) * c.stretch + c.shift;
      derivative = static_cast<Real>(derivative_of_x) * c.stretch * c.inv_r0;
      return;
    }
    visit_formula(function, [&](auto formula) {
      Real dfunc;
      formula.eval(c, r * r, s, dfunc);
      derivative = dfunc * r;
    });
  }

}    // namespace

const std::vector<SwitchInfo> &SwitchInfo::all()
{
  static const auto info = [](SwitchKind kind, auto definition) {
    SwitchInfo f = {kind, definition.NAME, definition.WHY_NO_R0, definition.parameters(),
                    definition.SIZE};
    f.parameters.insert(f.parameters.end(), {parameter::D0, parameter::DMAX, parameter::NOSTRETCH});
    return f;
  };
  static const std::vector<SwitchInfo> functions = {
#define GPUCOORD_FUNCTION(KIND, FORM, FORMULA) \
  info(SwitchKind::KIND, Definition<SwitchKind::KIND>{}),
#include "gpucoord/switch_functions.def"
  };
  return functions;
}

Switch::Switch(const SwitchOptions &options) : opt(options)
{
  if (std::isnan(opt.d0) || std::isinf(opt.d0) || opt.d0 < 0.0)
    throw SwitchError("d0", "d0 is " + short_text(opt.d0) + " but must be >= 0 and finite");
  if (!std::isnan(opt.dmax) && !(opt.dmax > opt.d0))
    throw SwitchError("dmax",
                      "dmax is " + short_text(opt.dmax) +
                          " but must be larger than d0 = " + short_text(opt.d0));
  visit_definition(opt.kind, [this](auto definition) {
    definition.set_width(opt);
    check_range<SwitchError>(definition.WHY_NO_R0 ? "dmax" : "r0", "the width r0", opt.r0);
    definition.check(opt);
  });
  if (opt.kind == SwitchKind::CUSTOM) parsed = parse_custom(opt.expression);
  if (!is_compiled(form_of(*this)))
    throw SwitchError("kind",
                      std::string("this build has no ") + SwitchInfo::get(opt.kind).name +
                          " (CMake option GPUCOORD_FORMS): add it there, or build all functions "
                          "without the option");
  if (std::isnan(opt.dmax)) opt.dmax = std::numeric_limits<double>::infinity();
  opt.shifted = opt.shifted && has_end() && !opt.stretch;

  if (opt.shifted) shift_term = -evaluate(opt.dmax);
  if (has_end() && opt.stretch) stretch_to_ends();
}

Switch make_endless_switch(SwitchOptions options)
{
  const SwitchOptions given = options;
  if (std::isnan(options.dmax)) options.dmax = std::numeric_limits<double>::infinity();
  try {
    return Switch(options);
  } catch (const SwitchError &e) {
    if (e.field != "dmax") throw;
  }
  return Switch(given);    // report dmax as the user gave it
}

void Switch::stretch_to_ends()
{
  // phi(0) and phi(dmax) from the formula itself, before the stretch is set. phi(0) is taken just
  // above d0, because s = 1 by definition at x = 0.
  visit_definition(opt.kind, [this](auto definition) {
    at_zero = definition.at_zero(opt);
    at_dmax = evaluate(opt.dmax);
    definition.check_ends(opt, at_zero, at_dmax);
    stretch_factor = 1.0 / (at_zero - at_dmax);
    shift_term = -at_dmax * stretch_factor;
    if (!(rounding(Precision::DOUBLE) <= MAX_ROUNDING))    // true also for NaN
      throw SwitchError("dmax",
                        "the function cannot be stretched: " + ends() + "; choose another " +
                            definition.LENGTHS + " or dmax, or nostretch");
  });
}

std::string Switch::stretch_warning() const
{
  if (std::fabs(at_zero - 1.0) <= 1e-6) return "";
  return visit_definition(opt.kind, [this](auto definition) {
    return definition.stretch_warning(*this);
  });
}

double Switch::rounding(Precision precision) const
{
  const bool is_double = precision == Precision::DOUBLE;
  const double eps = is_double ? std::numeric_limits<double>::epsilon()
                               : std::numeric_limits<float>::epsilon();
  const double minimum = is_double ? std::numeric_limits<double>::min()
                                   : std::numeric_limits<float>::min();
  // s' stretch and shift are rounded before they cancel. s' below 'minimum' may count as 0.
  return 0.5 * eps * (std::fabs(at_zero * stretch_factor) + std::fabs(shift_term)) +
      minimum * std::fabs(stretch_factor);
}

// Returns a text with s' at both ends, and the lengths that it depends on.
std::string Switch::ends() const
{
  const std::string lengths = visit_definition(opt.kind, [this](auto definition) {
    return definition.lengths(opt);
  });
  return "with " + lengths + " it is " + short_text(at_zero) + " at x = 0 and " +
      short_text(at_dmax) + " at dmax = " + short_text(opt.dmax);
}

std::string Switch::why_imprecise(Precision precision) const
{
  const double error = rounding(precision), factor = std::fabs(stretch_factor / opt.r0);
  const double maximum = precision == Precision::DOUBLE ? std::numeric_limits<double>::max()
                                                        : std::numeric_limits<float>::max();
  char limit[80];
  if (!(error <= MAX_ROUNDING))
    std::snprintf(limit, sizeof(limit), "makes s wrong by about %.1g, more than %.1g", error,
                  MAX_ROUNDING);
  else if (!(factor <= maximum))
    std::snprintf(limit, sizeof(limit), "gives ds/dr the factor %.2g, more than %.2g", factor,
                  maximum);
  else
    return "";
  static const char *const names[] = {"double", "mixed", "single"};
  return ends() + ", and stretching that to 1 and 0 in precision " +
      names[static_cast<int>(precision)] + " " + limit +
      "; use precision double, another dmax, or nostretch";
}

double Switch::evaluate(double r, double *derivative, Precision precision) const
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
  if (derivative) *derivative = ds;
  return s;
}

double Switch::value_at_dmax() const
{
  return has_end() ? evaluate(opt.dmax) : 0.0;
}

double Switch::derivative_at_dmax() const
{
  double derivative = 0.0;
  if (has_end()) evaluate(opt.dmax, &derivative);
  return derivative;
}

std::unique_ptr<CustomFunction> Switch::make_custom() const
{
  if (opt.kind != SwitchKind::CUSTOM) return nullptr;
  return std::make_unique<CustomFunction>(*parsed);
}

SwitchEvaluator::SwitchEvaluator(const Switch &function_in) :
    function(function_in), custom(function.make_custom())
{
}

SwitchEvaluator::~SwitchEvaluator() = default;

double SwitchEvaluator::operator()(double r, double *derivative)
{
  double s = 0.0, ds = 0.0;
  if (r <= function.dmax()) evaluate_in<double>(function, r, s, ds, custom.get());
  if (derivative) *derivative = ds;
  return s;
}

std::string Switch::description() const
{
  const SwitchInfo &function = SwitchInfo::get(opt.kind);
  std::string parameters = visit_definition(opt.kind, [this](auto definition) {
    return definition.description(opt);
  });
  if (parameters.empty()) {
    for (const SwitchParameter &p : visit_definition(opt.kind, [](auto definition) {
           return definition.parameters();
         }))
      parameters += std::string(" ") + p.keyword + " " + short_text(opt.*p.value);
    parameters += " r0 " + short_text(opt.r0);
  }
  std::string text = function.name + parameters;
  text += " d0 " + short_text(opt.d0);
  if (has_end())
    text += " dmax " + short_text(opt.dmax) +
        (opt.stretch       ? " stretched"
             : opt.shifted ? " shifted"
                           : " not stretched");
  else
    text += " without end";
  return text;
}

}    // namespace gpucoord
