// Part of GPUCOORD, GPL-2.0. From a Switch to the formula that evaluates it.

#ifndef GPUCOORD_SWITCH_DISPATCH_H
#define GPUCOORD_SWITCH_DISPATCH_H

#include "switch_formulas.h"

#include "gpucoord/switch_table.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace gpucoord {

// How rational is evaluated: 2, in squares, with n/2 and m/2; 1, with integer n and m; 0,
// with logarithms. Integer powers and sums lose up to a digit per factor ten of the exponent:
// above these limits logarithms are as good and faster.
GPUCOORD_HD int exponent_divisor(const SwitchOptions &o)
{
  for (int divisor = o.d0 == 0.0 ? 2 : 1; divisor > 0; --divisor) {
    const double n = o.n / divisor, m = o.m / divisor;
    if (n != std::floor(n) || m != std::floor(m)) continue;
    if (m == 2 * n ? n <= MAX_INTEGER_EXPONENT : m <= 128) return divisor;
  }
  return 0;
}

// Calls visitor(Formula{}) with the type PlainSwitch<...> or SquaredSwitch<...>
// that evaluates this function. CUSTOM is no formula and must not come here.
template <class Visitor> void visit_formula(const Switch &function, Visitor &&visitor)
{
  const SwitchOptions &o = function.options();
  switch (o.kind) {
    case SwitchKind::RATIONAL: {
      const int divisor = exponent_divisor(o);
      const bool twice = o.m == 2 * o.n;
      if (divisor == 2) {
        if (o.n == 6 && twice) return visitor(SquaredSwitch<shape::RationalCubeTwice>{});
        if (twice) return visitor(SquaredSwitch<shape::RationalTwice>{});
        return visitor(SquaredSwitch<shape::RationalInteger>{});
      }
      if (divisor == 1) {
        if (twice) return visitor(PlainSwitch<shape::RationalTwice>{});
        return visitor(PlainSwitch<shape::RationalInteger>{});
      }
      return visitor(PlainSwitch<shape::RationalReal>{});
    }
    case SwitchKind::EXP:
      return visitor(PlainSwitch<shape::Exponential>{});
    case SwitchKind::GAUSSIAN:
      return visitor(PlainSwitch<shape::Gaussian>{});
    case SwitchKind::SMAP:
      return visitor(PlainSwitch<shape::Smap>{});
    case SwitchKind::CUBIC:
      return visitor(PlainSwitch<shape::Cubic>{});
    case SwitchKind::TANH:
      return visitor(PlainSwitch<shape::Tanh>{});
    case SwitchKind::COSINUS:
      return visitor(PlainSwitch<shape::Cosinus>{});
    case SwitchKind::Q:
      return visitor(PlainSwitch<shape::NativeContacts>{});
    case SwitchKind::CUSTOM:
      break;
  }
  throw std::logic_error("gpucoord: a custom switching function has no compiled formula");
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
  c.n = static_cast<Real>(o.n);
  c.m = static_cast<Real>(o.m);
  c.q = static_cast<Real>(o.m - o.n);
  c.a = static_cast<Real>(o.a);
  c.b = static_cast<Real>(o.b);
  // (2^(a/b) - 1)^(1/a), by expm1 and log: 2^(a/b) may overflow
  const double exponent = std::log(2.0) * o.a / o.b;
  c.k = static_cast<Real>(
      std::exp((exponent < 40.0 ? std::log(std::expm1(exponent)) : exponent) / o.a));
  c.beta = static_cast<Real>(o.beta);
  c.center = static_cast<Real>(o.lambda * o.ref - o.d0);
  if (o.kind == SwitchKind::RATIONAL)
    if (const int divisor = exponent_divisor(o)) {
      c.in = static_cast<int>(o.n) / divisor;
      c.im = static_cast<int>(o.m) / divisor;
      if (divisor == 2) c.dfunc_scale = static_cast<Real>(2.0 * function.stretch() / (o.r0 * o.r0));
    }
  return c;
}

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
