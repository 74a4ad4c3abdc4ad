// Part of GPUCOORD, GPL-2.0. A second implementation of the switching functions, for the tests
// only.
//
// It shares no code with lib/gpucoord. It evaluates the textbook formulas in long double or in 113
// bits (glibc's functions of _Float128), where their cancellation does not matter. At the removable
// singularity of rational, the textbook formula is 0/0. There, the binomial series about x = 1 is
// summed instead.

#ifndef GPUCOORD_TEST_CLOSED_FORMS_H
#define GPUCOORD_TEST_CLOSED_FORMS_H

#include "gpucoord/coordination.h"

#include <cmath>
#include <functional>
#include <limits>

namespace closed {

// 113 bits on x86_64 and aarch64 with glibc. Clang has no _Float128 in C++, and glibc then does not
// declare its functions of that type.
#ifdef __clang__
using Quad = __float128;
#else
using Quad = _Float128;
#endif
extern "C" {
Quad quad_pow(Quad x, Quad e) __asm__("powf128");
Quad quad_exp(Quad x) __asm__("expf128");
Quad quad_tanh(Quad x) __asm__("tanhf128");
Quad quad_cos(Quad x) __asm__("cosf128");
Quad quad_sin(Quad x) __asm__("sinf128");
Quad quad_atan(Quad x) __asm__("atanf128");
}

inline long double power(long double x, long double e)
{
  return powl(x, e);
}
inline Quad power(Quad x, Quad e)
{
  return quad_pow(x, e);
}
inline long double exponential(long double x)
{
  return expl(x);
}
inline Quad exponential(Quad x)
{
  return quad_exp(x);
}
inline long double tangent_h(long double x)
{
  return tanhl(x);
}
inline Quad tangent_h(Quad x)
{
  return quad_tanh(x);
}
inline long double cosine(long double x)
{
  return cosl(x);
}
inline Quad cosine(Quad x)
{
  return quad_cos(x);
}
inline long double sine(long double x)
{
  return sinl(x);
}
inline Quad sine(Quad x)
{
  return quad_sin(x);
}

template <class T> T absolute(T x)
{
  return x < 0 ? -x : x;
}
inline long double arc_tangent(long double x)
{
  return atanl(x);
}
inline Quad arc_tangent(Quad x)
{
  return quad_atan(x);
}
template <class T> T pi()
{
  static const T value = 4 * arc_tangent(T(1));
  return value;
}

template <class T> struct Pair {
  T s, ds;
};

// x^e by multiplication if e is a small integer: sufficiently accurate and fast.
template <class T> T to_the(T x, double e)
{
  if (e >= 0 && e <= 200 && e == std::floor(e)) {
    T result = 1;
    for (int k = 0; k < static_cast<int>(e); ++k) result *= x;
    return result;
  }
  return power(x, T(e));
}

// Sum over k of C(e, k+1) t^k = ((1+t)^e - 1)/t, and its derivative with respect to t.
template <class T> Pair<T> binomial_quotient(double e, T t)
{
  Pair<T> p = {0, 0};
  T coefficient = T(e), tk = 1, tk1 = 0;    // C(e, k+1), t^k, t^(k-1)
  for (int k = 0; k < 60; ++k) {
    p.s += coefficient * tk;
    p.ds += coefficient * T(k) * tk1;
    coefficient *= (T(e) - T(k + 1)) / T(k + 2);
    tk1 = tk;
    tk *= t;
  }
  return p;
}

// phi(x) and dphi/dx from the table in reference/coordination.md, x > 0.
template <class T> Pair<T> rational(double n, double m, T x)
{
  const T t = x - T(1);
  if (absolute(t) * T(m) < T(0.02)) {
    const Pair<T> top = binomial_quotient(n, t), bottom = binomial_quotient(m, t);
    return {top.s / bottom.s, (top.ds * bottom.s - top.s * bottom.ds) / (bottom.s * bottom.s)};
  }
  if (x > T(1)) {    // multiplied by x^-m to avoid overflow
    const T y = T(1) / x, ym = to_the(y, m), yq = power(y, T(m) - T(n));
    const T bottom = ym - T(1);
    return {(ym - yq) / bottom,
            (-T(n) * yq * y * bottom + T(m) * y * (ym - yq)) / (bottom * bottom)};
  }
  const T xn = to_the(x, n), xm = to_the(x, m);
  const T top = T(1) - xn, bottom = T(1) - xm;
  return {top / bottom, (-T(n) * xn / x * bottom + T(m) * xm / x * top) / (bottom * bottom)};
}

// Only q uses r.
template <class T> Pair<T> shape(const gpucoord::SwitchOptions &o, T x, T r)
{
  using gpucoord::SwitchKind;
  switch (o.kind) {
    case SwitchKind::RATIONAL:
      return rational<T>(o.n, std::isnan(o.m) ? 2 * o.n : o.m, x);
    case SwitchKind::EXP:
      return {exponential(-x), -exponential(-x)};
    case SwitchKind::GAUSSIAN: {
      const T e = exponential(-x * x / T(2));
      return {e, -x * e};
    }
    case SwitchKind::SMAP: {
      const T a = o.a, b = o.b, c = power(T(2), a / b) - T(1);
      const T base = T(1) + c * power(x, a);
      return {power(base, -b / a),
              -b / a * power(base, -b / a - T(1)) * c * a * power(x, a - T(1))};
    }
    case SwitchKind::CUBIC:
      return {1 - 3 * x * x + 2 * x * x * x, 6 * x * x - 6 * x};
    case SwitchKind::TANH: {
      // 1 - tanh x loses all digits at large x, even in 113 bits. Use 1 - tanh x = 2 e^-2x/(1 +
      // e^-2x).
      const T e = exponential(T(-2) * x);
      if (x > T(10)) return {2 * e / (1 + e), -4 * e / ((1 + e) * (1 + e))};
      const T t = tangent_h(x);
      return {1 - t, -(1 - t) * (1 + t)};
    }
    case SwitchKind::COSINUS:    // dmax never exceeds x = 1
      return {(cosine(pi<T>() * x) + 1) / 2, -pi<T>() * sine(pi<T>() * x) / 2};
    case SwitchKind::Q: {
      const T beta = o.beta, t = beta * (r - T(o.lambda) * T(o.ref));
      if (t > T(0)) {
        const T e = exponential(-t);
        return {e / (1 + e), -beta * e / ((1 + e) * (1 + e))};
      }
      const T e = exponential(t);
      return {1 / (1 + e), -beta * e / ((1 + e) * (1 + e))};
    }
    case SwitchKind::CUSTOM:
      break;
  }
  return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
}

// The whole function, including cutoff and stretch or shift. Options are those of the user, except
// dmax, which is Switch::dmax() and has a separate test. CUSTOM has no formula here: pass the
// options of the built-in function that the expression equals.
template <class T> class Function {
 public:
  explicit Function(const gpucoord::SwitchOptions &options) : o(options)
  {
    const bool cubic = o.kind == gpucoord::SwitchKind::CUBIC;
    const bool q = o.kind == gpucoord::SwitchKind::Q;
    r0 = cubic ? T(o.dmax) - T(o.d0) : q ? T(1) : T(o.r0);
    at_zero = q ? raw(T(o.d0)).s : T(1);
    const bool shifted = o.shifted && !o.stretch;
    if ((o.stretch || shifted) && o.dmax < std::numeric_limits<double>::infinity()) {
      at_end = raw(T(o.dmax)).s;
      if (o.stretch) factor = T(1) / (at_zero - at_end);
      if (shifted) top = T(1) - at_end;
    }
  }
  // Largest number in s = phi factor - phi(dmax) factor, the unit of rounding errors.
  double amplification() const { return static_cast<double>(factor * (T(1) + at_end)); }

  // Stretched function without cuts at d0 and dmax: the smooth function that continues beyond them.
  Pair<T> smooth(T r) const
  {
    const Pair<T> p = raw(r);
    return {(p.s - at_end) * factor, p.ds * factor};
  }
  Pair<T> operator()(T r) const
  {
    if (r <= T(o.d0)) return {top, 0};
    if (r > T(o.dmax)) return {0, 0};
    return smooth(r);
  }

 private:
  Pair<T> raw(T r) const
  {
    const Pair<T> p = shape<T>(o, (r - T(o.d0)) / r0, r);
    return {p.s, p.ds / r0};
  }
  gpucoord::SwitchOptions o;
  T r0 = 1, at_zero = 1, at_end = 0, factor = 1, top = 1;
};

// 3 x^2 - 2 x^3, from 0 to 1 between two distances.
template <class T> T step(double begin, double end, T r)
{
  if (r <= T(begin)) return 0;
  if (r >= T(end)) return 1;
  const T x = (r - T(begin)) / (T(end) - T(begin));
  return 3 * x * x - 2 * x * x * x;
}

// Fraction of a pair at distance r that a window keeps.
template <class T> T window(const gpucoord::Window &w, T r)
{
  return step(w.rise_begin, w.rise_end, r) * (1 - step(w.fall_begin, w.fall_end, r));
}

}    // namespace closed

#endif
