// Part of GPUCOORD, GPL-2.0. Selects the form of a switching function and sets its constants.

#include "forms.h"

#include "switch_dispatch.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

namespace gpucoord {

SwitchForm form_of(const Switch &function)
{
  const SwitchOptions &o = function.options();
#define GPUCOORD_FORM(KIND, FORM, FORMULA) \
  if (o.kind == SwitchKind::KIND && FORMULA::fits(o)) return SwitchForm::FORM;
#define GPUCOORD_EXPRESSION(KIND, FORM, FORMULA)
#include "gpucoord/switch_functions.def"
  return SwitchForm::Interpreted;
}

bool is_compiled(SwitchForm form)
{
  switch (form) {
#define GPUCOORD_COMPILED(FORM) case SwitchForm::FORM:
#include "gpucoord_compiled_forms.def"
    return true;
    default:
      return false;
  }
}

std::vector<int> form_indices(const SwitchTable &table)
{
  using Kernel = std::tuple<SwitchForm, int, int, std::string>;
  std::vector<Kernel> known;
  std::vector<int> indices;
  for (const Switch &function : table.functions()) {
    const SwitchConstants<double> c = make_constants<double>(function);
    const Kernel kernel(form_of(function), c.in, c.im, function.options().expression);
    const auto at = std::find(known.begin(), known.end(), kernel);
    indices.push_back(static_cast<int>(at - known.begin()));
    if (at == known.end()) known.push_back(kernel);
  }
  return indices;
}

template <class Real> SwitchConstants<Real> make_constants(const Switch &function)
{
  const SwitchOptions &o = function.options();
  SwitchConstants<Real> c = {};
  c.inv_r0 = static_cast<Real>(1.0 / o.r0);
  c.inv_r0_sq = static_cast<Real>(1.0 / (o.r0 * o.r0));
  c.d0 = static_cast<Real>(o.d0);
  c.dmax_sq = static_cast<Real>(std::fmin(o.dmax * o.dmax, std::numeric_limits<Real>::max()));
  c.stretch = static_cast<Real>(function.stretch());
  c.shift = static_cast<Real>(function.shift());
  c.top = static_cast<Real>(function.top());
  c.dfunc_scale = static_cast<Real>(function.stretch() / o.r0);
  if (o.kind != SwitchKind::CUSTOM)
    visit_formula(function, [&](auto formula) {
      c.dfunc_scale = static_cast<Real>(formula.dfunc_scale(function.stretch(), o.r0));
    });
  visit_definition(o.kind, [&](auto definition) {
    definition.set_constants(o, c);
  });
  return c;
}

template SwitchConstants<float> make_constants<float>(const Switch &);
template SwitchConstants<double> make_constants<double>(const Switch &);

}    // namespace gpucoord
