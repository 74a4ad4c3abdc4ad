// Part of GPUCOORD, GPL-2.0. exp, expm1, log, pow and sin for pair loops that vectorize on the
// host.
//
// Arguments must be finite. Without -ffast-math, compilers call the scalar functions of the C
// library once per pair, which takes four times as long as a whole loop with these functions. On a
// device, CUDA's own functions are as fast.

#ifndef GPUCOORD_VECTOR_MATH_H
#define GPUCOORD_VECTOR_MATH_H

#include "config.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "compile without -ffast-math: it takes (x + big) - big for x, and spoils exponentials"
#endif

namespace gpucoord {

namespace vector_math {

  // Argument reduction: Cody and Waite, Software Manual for the Elementary Functions, 1980. The
  // number of terms gives an error of half a unit in the last place. Adding ROUND leaves an integer
  // in the lowest bits of the sum.
  template <class Real> struct Format;
  template <> struct Format<double> {
    using Bits = int64_t;
    using UnsignedBits = uint64_t;
    static constexpr double MIN_ARGUMENT = -708.0,
                            MAX_ARGUMENT = 709.0;          // 2^n overflows above this argument
    static constexpr double ROUND = 6755399441055744.0;    // 1.5 2^52
    static constexpr double LN2_HIGH = 6.93145751953125e-1, LN2_LOW = 1.42860682030941723212e-6;
    static constexpr int MANTISSA = 52, EXP_TERMS = 13, LOG_TERMS = 10, SIN_TERMS = 11;
    static constexpr Bits ROUND_BITS = 0x4338000000000000,
                          HALF_ROOT_BITS = 0x3fe6a09e667f3bcd;    // sqrt(1/2)
    static constexpr Bits HIGH_HALF = ~Bits((1 << 27) - 1);
    static constexpr double LARGE = 1.7e308;
  };
  template <> struct Format<float> {
    using Bits = int32_t;
    using UnsignedBits = uint32_t;
    static constexpr float MIN_ARGUMENT = -87.0f, MAX_ARGUMENT = 88.0f;
    static constexpr float ROUND = 12582912.0f;    // 1.5 2^23
    static constexpr float LN2_HIGH = 6.93359375e-1f, LN2_LOW = -2.12194440e-4f;
    static constexpr int MANTISSA = 23, EXP_TERMS = 7, LOG_TERMS = 5, SIN_TERMS = 7;
    static constexpr Bits ROUND_BITS = 0x4b400000, HALF_ROOT_BITS = 0x3f3504f3;
    static constexpr Bits HIGH_HALF = ~Bits((1 << 12) - 1);
    static constexpr float LARGE = 3.3e38f;
  };

  // 1/k!
  struct InverseFactorials {
    double value[24] = {1.0};
    constexpr InverseFactorials()
    {
      for (int k = 1; k < 24; ++k) value[k] = value[k - 1] / k;
    }
  };

  template <class To, class From> GPUCOORD_HD To bits_as(From value)
  {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To result;
    memcpy(&result, &value, sizeof(result));
    return result;
  }

  // Returns factor * 2^n. n is given at the position of an exponent. May overflow without undefined
  // behavior; the caller discards such results.
  template <class Real>
  GPUCOORD_HD Real times_power_of_2(Real factor, typename Format<Real>::Bits exponent)
  {
    using Bits = typename Format<Real>::UnsignedBits;
    return bits_as<Real>(bits_as<Bits>(factor) + static_cast<Bits>(exponent));
  }

  // Reduces x = n ln 2 + r, |r| <= ln(2)/2, with n within the range of exponents.
  template <class Real> struct Reduced {
    Real r;
    typename Format<Real>::Bits exponent;    // n, at the position of an exponent

    GPUCOORD_HD explicit Reduced(Real x)
    {
      using F = Format<Real>;
      const Real y = x < F::MIN_ARGUMENT ? F::MIN_ARGUMENT
          : x > F::MAX_ARGUMENT          ? F::MAX_ARGUMENT
                                         : x;
      const Real shifted = y * Real(1.44269504088896340736) + F::ROUND;
      const Real n = shifted - F::ROUND;
      r = (y - n * F::LN2_HIGH) - n * F::LN2_LOW;
      exponent = static_cast<typename F::Bits>(
          static_cast<uint64_t>(bits_as<typename F::Bits>(shifted)) << F::MANTISSA);
    }
    // Returns factor * 2^n.
    GPUCOORD_HD Real times_power(Real factor) const { return times_power_of_2(factor, exponent); }
  };

  // Splits x = 2^exponent m, sqrt(1/2) <= m < sqrt(2).
  template <class Real> struct Split {
    Real exponent, m;

    GPUCOORD_HD explicit Split(Real x)
    {
      using F = Format<Real>;
      const auto bits = bits_as<typename F::Bits>(x);
      const auto k = (bits - F::HALF_ROOT_BITS) >> F::MANTISSA;
      exponent = bits_as<Real>(k + F::ROUND_BITS) - F::ROUND;
      m = bits_as<Real>(bits - k * (typename F::Bits(1) << F::MANTISSA));
    }
  };

  // Returns ln m = 2 artanh((m - 1)/(m + 1)) by its power series.
  template <class Real> GPUCOORD_HD Real logarithm_of_split(Real m)
  {
    const Real t = (m - Real(1)) / (m + Real(1)), t_sq = t * t;
    constexpr int N = Format<Real>::LOG_TERMS;
    Real sum = Real(1.0 / (2 * N + 1));
    for (int n = N; n > 0; --n) sum = sum * t_sq + Real(1.0 / (2 * n - 1));
    return Real(2) * t * sum;
  }

  // Returns the sum of r^k/(k + first)! over k = 0 to EXP_TERMS - first.
  template <class Real> GPUCOORD_HD Real exponential_series(Real r, int first)
  {
    constexpr InverseFactorials inverse_factorial;
    constexpr int N = Format<Real>::EXP_TERMS;
    Real sum = Real(inverse_factorial.value[N]);
    for (int k = N; k > first; --k) sum = sum * r + Real(inverse_factorial.value[k - 1]);
    return sum;
  }

}    // namespace vector_math

// Returns e^x to a few units in the last place. Returns 0 if e^x is below the smallest normal
// number, and the largest result above the range.
template <class Real> GPUCOORD_HD Real exponential(Real x)
{
#ifdef __CUDA_ARCH__
  return exp(x);
#else
  const vector_math::Reduced<Real> reduced(x);
  const Real result = reduced.times_power(vector_math::exponential_series(reduced.r, 0));
  return x < vector_math::Format<Real>::MIN_ARGUMENT ? Real(0) : result;
#endif
}

// Returns e^x for x <= 0. In float on a device, the error is |x| units in the last place, and the
// function takes a third of the time.
template <class Real> GPUCOORD_HD Real quick_exponential(Real x)
{
#ifdef __CUDA_ARCH__
  if (sizeof(Real) == sizeof(float)) return __expf(x);
#endif
  return exponential(x);
}

// Returns e^x - 1 for x <= 0, also accurate near 0.
template <class Real> GPUCOORD_HD Real exponential_minus_1(Real x)
{
#ifdef __CUDA_ARCH__
  return expm1(x);
#else
  const vector_math::Reduced<Real> reduced(x);
  const Real power = reduced.times_power(Real(1));
  return power * (reduced.r * vector_math::exponential_series(reduced.r, 1)) + (power - Real(1));
#endif
}

// Returns ln x for x > 0, also accurate near 1.
template <class Real> GPUCOORD_HD Real logarithm(Real x)
{
#ifdef __CUDA_ARCH__
  return log(x);
#else
  using F = vector_math::Format<Real>;
  const vector_math::Split<Real> split(x);
  return split.exponent * F::LN2_HIGH +
      (split.exponent * F::LN2_LOW + vector_math::logarithm_of_split(split.m));
#endif
}

// Returns x^a for x > 0, with a relative error of a few |a| units in the last place. Returns 0 or a
// large number if the result is out of range.
template <class Real> GPUCOORD_HD Real real_power(Real x, Real a)
{
#ifdef __CUDA_ARCH__
  return pow(x, a);
#else
  // The result is 2^z with z = a k + a log2(m). Splitting a into high and low halves makes a k
  // exact after subtraction of the integer part.
  using F = vector_math::Format<Real>;
  const Real log2_e = Real(1.44269504088896340736), ln_2 = Real(0.69314718055994530942);
  const vector_math::Split<Real> split(x);
  const Real a_high =
      vector_math::bits_as<Real>(vector_math::bits_as<typename F::Bits>(a) & F::HIGH_HALF);
  const Real high = a_high * split.exponent;
  const Real low =
      (a - a_high) * split.exponent + a * (vector_math::logarithm_of_split(split.m) * log2_e);
  const Real z = high + low, minimum = F::MIN_ARGUMENT * log2_e, maximum = F::MAX_ARGUMENT * log2_e;
  const Real shifted = (z < minimum ? minimum : z > maximum ? maximum : z) + F::ROUND;
  const Real r = (high - (shifted - F::ROUND)) + low;
  const auto exponent = static_cast<uint64_t>(vector_math::bits_as<typename F::Bits>(shifted))
      << F::MANTISSA;
  const Real result = vector_math::times_power_of_2(vector_math::exponential_series(r * ln_2, 0),
                                                    static_cast<typename F::Bits>(exponent));
  return z < minimum ? Real(0) : z > maximum ? F::LARGE : result;
#endif
}

// Returns sin t for 0 <= t <= pi/2, by its power series.
template <class Real> GPUCOORD_HD Real sine_of_quarter(Real t)
{
#ifdef __CUDA_ARCH__
  return sin(t);
#else
  const Real t_sq = t * t;
  constexpr int N = vector_math::Format<Real>::SIN_TERMS;
  constexpr vector_math::InverseFactorials inverse_factorial;
  Real sum = Real(inverse_factorial.value[2 * N + 1]);
  for (int k = N; k > 0; --k) sum = Real(inverse_factorial.value[2 * k - 1]) - sum * t_sq;
  return t * sum;
#endif
}

}    // namespace gpucoord

#endif
