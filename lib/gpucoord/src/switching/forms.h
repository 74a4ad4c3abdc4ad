// Part of GPUCOORD, GPL-2.0. The forms of switching functions by name, for sources that select
// kernels of a form, and the constants of kernels. This header includes no formula.

#ifndef GPUCOORD_FORMS_H
#define GPUCOORD_FORMS_H

#include "formula.h"

#include "gpucoord/switch_table.h"

#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace gpucoord {

enum class SwitchForm {
#define GPUCOORD_FORM(KIND, FORM, FORMULA) FORM,
#include "gpucoord/switch_functions.def"
};

// Returns the first form that can evaluate this function.
SwitchForm form_of(const Switch &);

// Returns a number for each function of the table. It is the same for functions that one kernel
// can evaluate with different constants: those with the same form, the same integer exponents and
// the same expression.
std::vector<int> form_indices(const SwitchTable &);

// A build with GPUCOORD_FORMS lacks the kernels of some forms.
bool is_compiled(SwitchForm);

// Calls visitor(std::integral_constant<SwitchForm, FORM>()) for a compiled form.
template <class Visitor> void visit_form(SwitchForm form, Visitor &&visitor)
{
  switch (form) {
#define GPUCOORD_COMPILED(FORM) \
  case SwitchForm::FORM:        \
    return visitor(std::integral_constant<SwitchForm, SwitchForm::FORM>());
#include "gpucoord_compiled_forms.def"    // made by CMake
    default:
      throw std::logic_error("gpucoord: this form of a switching function is not compiled");
  }
}

// Returns the constants of the function's form. A window is not set.
template <class Real> GPUCOORD_TEST_API SwitchConstants<Real> make_constants(const Switch &);

template <class Real> void set_window(const Window &window, SwitchConstants<Real> &c)
{
  const auto inverse = [](double begin, double end) {
    return static_cast<Real>(1.0 / std::fmax(end - begin, 1e-30));
  };
  c.rise = static_cast<Real>(window.rise_begin);
  c.inv_rise = inverse(window.rise_begin, window.rise_end);
  c.fall = static_cast<Real>(window.fall_begin);
  c.inv_fall = inverse(window.fall_begin, window.fall_end);
}

}    // namespace gpucoord

#endif
