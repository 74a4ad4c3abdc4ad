// Part of GPUCOORD, GPL-2.0. From a Switch to the formula that evaluates it.

#ifndef GPUCOORD_SWITCH_DISPATCH_H
#define GPUCOORD_SWITCH_DISPATCH_H

#include "switch_formulas.h"

#include "gpucoord/switching.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace gpucoord {

// Sums over integer exponents cost a term each; above this the logarithms of
// RationalReal are as good and faster.
GPUCOORD_HD bool is_integer(double value)
{
  return value == std::floor(value) && value <= 256;
}

// rational exponents and d0 that allow the form without a square root
GPUCOORD_HD bool in_squares(const SwitchOptions &o)
{
  return o.d0 == 0.0 && is_integer(o.n / 2) && is_integer(o.m / 2);
}

// Calls visitor(Formula{}) with the type PlainSwitch<...> or SquaredSwitch<...>
// that evaluates this function. CUSTOM is no formula and must not come here.
template <class Visitor> void visit_formula(const Switch &function, Visitor &&visitor)
{
  const SwitchOptions &o = function.options();
  switch (o.kind) {
    case SwitchKind::RATIONAL: {
      const bool twice = o.m == 2 * o.n && o.n <= MAX_INTEGER_EXPONENT;
      if (in_squares(o)) {
        if (o.n == 6 && twice) return visitor(SquaredSwitch<shape::RationalCubeTwice>{});
        if (twice) return visitor(SquaredSwitch<shape::RationalTwice>{});
        return visitor(SquaredSwitch<shape::RationalInteger>{});
      }
      if (is_integer(o.n) && is_integer(o.m)) {
        if (twice) return visitor(PlainSwitch<shape::RationalTwice>{});
        return visitor(PlainSwitch<shape::RationalInteger>{});
      }
      return visitor(PlainSwitch<shape::RationalReal>{});
    }
    case SwitchKind::EXP: return visitor(PlainSwitch<shape::Exponential>{});
    case SwitchKind::GAUSSIAN: return visitor(PlainSwitch<shape::Gaussian>{});
    case SwitchKind::SMAP: return visitor(PlainSwitch<shape::Smap>{});
    case SwitchKind::CUBIC: return visitor(PlainSwitch<shape::Cubic>{});
    case SwitchKind::TANH: return visitor(PlainSwitch<shape::Tanh>{});
    case SwitchKind::COSINUS: return visitor(PlainSwitch<shape::Cosinus>{});
    case SwitchKind::Q: return visitor(PlainSwitch<shape::NativeContacts>{});
    case SwitchKind::CUSTOM: break;
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
  c.n = static_cast<Real>(o.n);
  c.m = static_cast<Real>(o.m);
  c.q = static_cast<Real>(o.m - o.n);
  c.a = static_cast<Real>(o.a);
  c.b = static_cast<Real>(o.b);
  c.c = static_cast<Real>(std::exp2(o.a / o.b) - 1.0);
  c.beta = static_cast<Real>(o.beta);
  c.center = static_cast<Real>(o.lambda * o.ref);
  if (o.kind == SwitchKind::RATIONAL && is_integer(o.n) && is_integer(o.m)) {
    const int halve = in_squares(o) ? 2 : 1;
    c.in = static_cast<int>(o.n) / halve;
    c.im = static_cast<int>(o.m) / halve;
  }
  return c;
}

}    // namespace gpucoord

#endif
