// Part of GPUCOORD, GPL-2.0. exp and sin, so that loops over pairs vectorise on the host.
//
// Compilers call the scalar functions of the C library, one pair at a time, unless they may ignore the rules of
// floating point altogether: four times as long as a whole loop here. On a device its own functions are as good.

#ifndef GPUCOORD_VECTOR_MATH_H
#define GPUCOORD_VECTOR_MATH_H

#include "config.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

namespace gpucoord {

namespace vector_math {

  // exp(x) = 2^n exp(r), |r| <= ln(2)/2 (Cody and Waite, Software Manual for the Elementary Functions, 1980).
  // Adding ROUND leaves n in the lowest bits of the sum; NTERMS of the series of exp(r) reach half a last digit.
  template <class Real> struct Format;
  template <> struct Format<double> {
    using Bits = int64_t;
    static constexpr double LEAST = -708.0, MOST = 709.0;    // beyond, 2^n leaves the range of exponents
    static constexpr double ROUND = 6755399441055744.0;      // 1.5 2^52
    static constexpr double LN2_HIGH = 6.93145751953125e-1, LN2_LOW = 1.42860682030941723212e-6;
    static constexpr int MANTISSA = 52, EXP_TERMS = 13, SIN_TERMS = 11;
  };
  template <> struct Format<float> {
    using Bits = int32_t;
    static constexpr float LEAST = -87.0f, MOST = 88.0f;
    static constexpr float ROUND = 12582912.0f;              // 1.5 2^23
    static constexpr float LN2_HIGH = 6.93359375e-1f, LN2_LOW = -2.12194440e-4f;
    static constexpr int MANTISSA = 23, EXP_TERMS = 7, SIN_TERMS = 7;
  };

  // 1/k!
  struct InverseFactorials {
    double of[24] = {1.0};
    constexpr InverseFactorials()
    {
      for (int k = 1; k < 24; ++k) of[k] = of[k - 1] / k;
    }
  };

  template <class To, class From> GPUCOORD_HD To bits_as(From value)
  {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To result;
    memcpy(&result, &value, sizeof(result));
    return result;
  }

}    // namespace vector_math

// e^x to a few last digits; 0 below the smallest number of full precision, and the largest above it
template <class Real> GPUCOORD_HD Real exponential(Real x)
{
#ifdef __CUDA_ARCH__
  return exp(x);
#else
  using F = vector_math::Format<Real>;
  using Bits = typename F::Bits;
  const Real y = x < F::LEAST ? F::LEAST : x > F::MOST ? F::MOST : x;
  const Real shifted = y * Real(1.44269504088896340736) + F::ROUND;
  const Real n = shifted - F::ROUND;
  const Real r = (y - n * F::LN2_HIGH) - n * F::LN2_LOW;
  constexpr vector_math::InverseFactorials inverse_factorial;
  Real sum = Real(inverse_factorial.of[F::EXP_TERMS]);
  for (int k = F::EXP_TERMS; k > 0; --k) sum = sum * r + Real(inverse_factorial.of[k - 1]);
  const Bits scaled = vector_math::bits_as<Bits>(sum) +
      static_cast<Bits>(static_cast<uint64_t>(vector_math::bits_as<Bits>(shifted)) << F::MANTISSA);
  return x < F::LEAST ? Real(0) : vector_math::bits_as<Real>(scaled);
#endif
}

// sin t for 0 <= t <= pi/2, by its series
template <class Real> GPUCOORD_HD Real sine_of_quarter(Real t)
{
#ifdef __CUDA_ARCH__
  return sin(t);
#else
  const Real t_sq = t * t;
  constexpr int N = vector_math::Format<Real>::SIN_TERMS;
  constexpr vector_math::InverseFactorials inverse_factorial;
  Real sum = Real(inverse_factorial.of[2 * N + 1]);
  for (int k = N; k > 0; --k) sum = Real(inverse_factorial.of[2 * k - 1]) - sum * t_sq;
  return t * sum;
#endif
}

}    // namespace gpucoord

#endif
