// Part of GPUCOORD, GPL-2.0. The kernels of potential maps, for host and device.
//
// A kernel computes the potential K(r) of a unit charge at distance r, and K'(r)/r for the field.
// Both are built from the bare potential 1/r and its derivative. With MapOverlap::SOFT, the
// potential of a charged ball replaces the bare potential near a charge. The caller applies the
// cutoff.

#ifndef GPUCOORD_MAP_FORMULAS_H
#define GPUCOORD_MAP_FORMULAS_H

#include "../core/config.h"
#include "../core/erf_series.h"
#include "../core/reciprocal.h"
#include "../core/vector_math.h"
#include "gpucoord/potential_map.h"

#include <math.h>

namespace gpucoord {

// Constants of one map, rounded to the precision of its kernel.
template <class Real> struct MapConstants {
  Real cutoff_sq;    // distance^2; a large number for DIRECT
  Real inv_cutoff, inv_cutoff_sq, inv_cutoff_cubed;
  Real alpha;    // 1/distance
  Real alpha_sq, two_alpha_over_root_pi;
  Real tiny_sq;      // distance^2, more than 0
  Real radius_sq;    // distance^2
  // Ball of charge: K = ball_top - ball_curve r^2, K'/r = -2 ball_curve.
  Real ball_top;
  Real ball_curve;
  Real erf_series[ErfSeries::TERMS];    // for EwaldInFloat
};

// Returns whether EwaldInFloat replaces Ewald.
template <class Real> GPUCOORD_HD bool uses_erf_series(const MapOptions &options)
{
  return sizeof(Real) == sizeof(float) && options.kernel == MapKernel::EWALD &&
      options.alpha * options.cutoff <= ErfSeries::LARGEST;
}

template <class Real> inline MapConstants<Real> make_map_constants(const MapOptions &options)
{
  // The squares of LARGE and MIN_DISTANCE are within the range of float.
  constexpr double LARGE = 1e30, MIN_DISTANCE = 1e-12, ROOT_PI = 1.77245385090551602730;
  const bool has_cutoff = options.kernel != MapKernel::DIRECT;
  const double cutoff_sq = has_cutoff ? options.cutoff * options.cutoff : LARGE;
  const double inv_cutoff = has_cutoff ? 1.0 / options.cutoff : 0.0;
  const double tiny = options.tiny > MIN_DISTANCE ? options.tiny : MIN_DISTANCE;
  const double inv_radius = options.overlap == MapOverlap::SOFT ? 1.0 / options.radius : 0.0;
  MapConstants<Real> c;
  c.cutoff_sq = static_cast<Real>(cutoff_sq);
  c.inv_cutoff = static_cast<Real>(inv_cutoff);
  c.inv_cutoff_sq = static_cast<Real>(inv_cutoff * inv_cutoff);
  c.inv_cutoff_cubed = static_cast<Real>(inv_cutoff * inv_cutoff * inv_cutoff);
  c.alpha = static_cast<Real>(options.alpha);
  c.alpha_sq = static_cast<Real>(options.alpha * options.alpha);
  c.two_alpha_over_root_pi = static_cast<Real>(2.0 * options.alpha / ROOT_PI);
  c.tiny_sq = static_cast<Real>(tiny * tiny);
  c.radius_sq = static_cast<Real>(options.radius * options.radius);
  c.ball_top = static_cast<Real>(1.5 * inv_radius);
  c.ball_curve = static_cast<Real>(0.5 * inv_radius * inv_radius * inv_radius);
  const ErfSeries series =
      uses_erf_series<Real>(options) ? ErfSeries::make(options.alpha, options.cutoff) : ErfSeries();
  for (int k = 0; k < ErfSeries::TERMS; ++k)
    c.erf_series[k] = static_cast<Real>(series.coefficient[k]);
  return c;
}

// The bare potential that kernels are built from.
template <class Real> struct BarePotential {
  Real r_sq, inv_r;
  Real value, derivative;    // K and K'/r of the bare potential
};

// Returns the bare potential of a charge beyond 'tiny' and outside a ball.
template <class Real> GPUCOORD_HD BarePotential<Real> bare_potential_apart(Real r_sq)
{
  BarePotential<Real> bare;
  bare.r_sq = r_sq;
  bare.inv_r = inverse_root(r_sq);
  bare.value = bare.inv_r;
  bare.derivative = -bare.inv_r * bare.inv_r * bare.inv_r;
  return bare;
}

template <bool SOFT, class Real>
GPUCOORD_HD BarePotential<Real> bare_potential(const MapConstants<Real> &c, Real r_sq)
{
  BarePotential<Real> bare = bare_potential_apart(r_sq > c.tiny_sq ? r_sq : c.tiny_sq);
  bare.r_sq = r_sq;
  if (SOFT) {
    const bool in_ball = r_sq < c.radius_sq;
    bare.value = in_ball ? c.ball_top - c.ball_curve * r_sq : bare.value;
    bare.derivative = in_ball ? Real(-2) * c.ball_curve : bare.derivative;
  }
  return bare;
}

// e^(x^2) erfc(x), x >= 0: (1 + 2x) times this function is a polynomial in (x - 3)/(x + 3) (M.
// Shepherd and J. Laframboise, Math. Comp. 36, 249 (1981)). The coefficients are those of its
// Chebyshev series, truncated where they fall below half a unit in the last place.
GPUCOORD_HD double scaled_erfc_series(double t)
{
  constexpr double COEFFICIENTS[] = {
      1.2530080582697295,      -0.13562110612457575,    -0.047562294353420379,
      0.12964515870228347,     -0.11927366341676002,    0.06830802735638397,
      -0.023770514891530075,   0.0025293916672051723,   0.0018886900977441495,
      -0.00077983127972901585, -0.00010515831297813128, 0.00012509531076254534,
      4.9441243422236599e-6,   -2.0089997833284277e-5,  -7.1878838344042667e-7,
      3.4542947702777379e-6,   3.3669790806407596e-7,   -5.9639836255227405e-7,
      -1.2054142286489379e-7,  8.7658814117305584e-8,   2.7843881265502221e-8,
      -7.6419628925899748e-9,  -3.1813541434969273e-9};
  // Even and odd powers are summed separately. GCC unrolls these two shorter loops and can then
  // vectorize the loop around them.
  constexpr int LAST = sizeof(COEFFICIENTS) / sizeof(COEFFICIENTS[0]) - 1;
  static_assert(LAST % 2 == 0, "the highest power is even");
  const double t_sq = t * t;
  double even = COEFFICIENTS[LAST], odd = COEFFICIENTS[LAST - 1];
  for (int k = LAST - 2; k >= 0; k -= 2) even = even * t_sq + COEFFICIENTS[k];
  for (int k = LAST - 3; k >= 0; k -= 2) odd = odd * t_sq + COEFFICIENTS[k];
  return even + t * odd;
}
GPUCOORD_HD float scaled_erfc_series(float t)
{
  constexpr float COEFFICIENTS[] = {1.25300806f,      -0.135621069f,   -0.0475621569f,
                                    0.129644114f,     -0.119275275f,   0.0683165678f,
                                    -0.0237635764f,   0.00249911687f,  0.00187507912f,
                                    -0.000726453679f, -9.25451669e-5f, 7.73102422e-5f};
  constexpr int N = sizeof(COEFFICIENTS) / sizeof(COEFFICIENTS[0]);
  float sum = COEFFICIENTS[N - 1];
  for (int k = N - 2; k >= 0; --k) sum = sum * t + COEFFICIENTS[k];
  return sum;
}
template <class Real> GPUCOORD_HD Real scaled_erfc(Real x)
{
  const Real a = x + Real(3), b = Real(1) + Real(2) * x,
             inverse = reciprocal(a * b);    // one division instead of two
  return scaled_erfc_series((x - Real(3)) * (b * inverse)) * (a * inverse);
}

namespace map_kernel {

  struct Cut {
    template <bool SOFT, class Real>
    static GPUCOORD_HD void eval(const MapConstants<Real> &, const BarePotential<Real> &bare,
                                 Real &value, Real &derivative)
    {
      value = bare.value;
      derivative = bare.derivative;
    }
  };

  // The host uses Cut instead.
  struct Direct : Cut {};

  struct Smooth {
    template <bool SOFT, class Real>
    static GPUCOORD_HD void eval(const MapConstants<Real> &c, const BarePotential<Real> &bare,
                                 Real &value, Real &derivative)
    {
      const Real f = Real(1) - bare.r_sq * c.inv_cutoff_sq;
      value = bare.value * f * f;
      derivative = f * (bare.derivative * f - Real(4) * c.inv_cutoff_sq * bare.value);
    }
  };

  struct Taylor {
    template <bool SOFT, class Real>
    static GPUCOORD_HD void eval(const MapConstants<Real> &c, const BarePotential<Real> &bare,
                                 Real &value, Real &derivative)
    {
      const Real s = bare.r_sq * c.inv_cutoff_sq;
      value = bare.value - c.inv_cutoff * (Real(1.875) + s * (Real(-1.25) + Real(0.375) * s));
      derivative = bare.derivative + c.inv_cutoff_cubed * (Real(2.5) - Real(1.5) * s);
    }
  };

  struct Ewald {
    template <bool SOFT, class Real>
    static GPUCOORD_HD void eval(const MapConstants<Real> &c, const BarePotential<Real> &bare,
                                 Real &value, Real &derivative)
    {
      const Real x = c.alpha * bare.r_sq * bare.inv_r;
      const Real gaussian = quick_exponential(-c.alpha_sq * bare.r_sq),
                 erfc_over_r = gaussian * scaled_erfc(x) * bare.inv_r;
      value = erfc_over_r;
      derivative = -(erfc_over_r + c.two_alpha_over_root_pi * gaussian) * bare.inv_r * bare.inv_r;
      if (!SOFT) return;
      // In the ball: the bare potential minus erf(alpha r)/r. At small distances, the terms of the
      // difference cancel; a series replaces them.
      constexpr int TERMS = sizeof(Real) == sizeof(float) ? 7 : 13;
      const Real a_sq = c.alpha_sq * bare.r_sq;
      Real erf_over_r = 0, erf_derivative = 0;
      // Sums (-a^2)^n / (n! (2n + 1)), and its derivative with respect to -a^2.
      for (int n = TERMS; n >= 0; --n) {
        constexpr vector_math::InverseFactorials inverse_factorial;
        erf_derivative = erf_over_r - erf_derivative * a_sq;
        erf_over_r = Real(inverse_factorial.value[n] / (2 * n + 1)) - erf_over_r * a_sq;
      }
      const bool is_small = a_sq < Real(0.25), in_ball = bare.r_sq < c.radius_sq;
      const Real far_value = bare.inv_r - erfc_over_r,
                 far_derivative = -bare.inv_r * bare.inv_r * bare.inv_r - derivative;
      erf_over_r = is_small ? c.two_alpha_over_root_pi * erf_over_r : far_value;
      erf_derivative = is_small ? Real(-2) * c.alpha_sq * c.two_alpha_over_root_pi * erf_derivative
                                : far_derivative;
      value = in_ball ? bare.value - erf_over_r : value;
      derivative = in_ball ? bare.derivative - erf_derivative : derivative;
    }
  };

  // Like Ewald at half the cost: the bare potential minus erf(alpha r)/r. The terms cancel. The
  // error of the difference is about 5e-7 of 1/cutoff, and on average over the cutoff 1e-7.
  struct EwaldInFloat {
    template <bool SOFT, class Real>
    static GPUCOORD_HD void eval(const MapConstants<Real> &c, const BarePotential<Real> &bare,
                                 Real &value, Real &derivative)
    {
      const Real argument = Real(2) * c.inv_cutoff_sq * bare.r_sq - Real(1);
      const Real u = argument < Real(1) ? argument : Real(1);    // finite far beyond the cutoff
      Real sum = c.erf_series[ErfSeries::TERMS - 1], sum_derivative = 0;
      for (int k = ErfSeries::TERMS - 2; k >= 0; --k) {
        sum_derivative = sum_derivative * u + sum;
        sum = sum * u + c.erf_series[k];
      }
      value = bare.value - sum;
      derivative = bare.derivative - Real(4) * c.inv_cutoff_sq * sum_derivative;
    }
  };

}    // namespace map_kernel

// Calls visitor(kernel) with the kernel of these options in the precision of Real.
template <class Real, class Visitor>
inline void visit_map_kernel(const MapOptions &options, Visitor &&visitor)
{
  if constexpr (sizeof(Real) == sizeof(float)) {
    if (uses_erf_series<Real>(options)) return visitor(map_kernel::EwaldInFloat());
  }
  switch (options.kernel) {
    case MapKernel::SMOOTH:
      visitor(map_kernel::Smooth());
      break;
    case MapKernel::TAYLOR:
      visitor(map_kernel::Taylor());
      break;
    case MapKernel::EWALD:
      visitor(map_kernel::Ewald());
      break;
    default:
      visitor(map_kernel::Cut());
  }
}

}    // namespace gpucoord

#endif
