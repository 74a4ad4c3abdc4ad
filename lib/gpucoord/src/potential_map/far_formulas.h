// Part of GPUCOORD, GPL-2.0. Formulas of Ewald's far field on a mesh, for host and device.

#ifndef GPUCOORD_FAR_FORMULAS_H
#define GPUCOORD_FAR_FORMULAS_H

#include "../core/config.h"
#include "gpucoord/map_far.h"

#include <math.h>

namespace gpucoord {

// Returns the coordinate of x along an axis with n points, in mesh spacings from the origin of the
// box. reciprocal_vector: reciprocal vector of the axis
GPUCOORD_HD double mesh_coordinate(const double (&origin)[3], const double (&reciprocal_vector)[3],
                                   int n, const double *x)
{
  double part = 0.0;
  for (int c = 0; c < 3; ++c) part += (x[c] - origin[c]) * reciprocal_vector[c];
  return part * n;
}

// Returns whether the splines at a coordinate may reach the points begin to end - 1.
GPUCOORD_HD bool is_near_points(double coordinate, int begin, int end)
{
  return coordinate > begin - FAR_ORDER / 2 - 1.0 && coordinate < end + FAR_ORDER / 2 + 1.0;
}

// Values of the spline at the points first to first + FAR_ORDER - 1.
struct Splines {
  int first;
  double at[FAR_ORDER];
};

GPUCOORD_HD Splines splines_of(double coordinate)
{
  const double whole = floor(coordinate), x = coordinate - whole;
  Splines s;
  s.first = static_cast<int>(whole) - FAR_ORDER / 2 + 1;
  s.at[0] = 1.0 - x;
  s.at[1] = x;
  for (int order = 3; order <= FAR_ORDER; ++order) {
    const double inverse = 1.0 / (order - 1);
    s.at[order - 1] = inverse * x * s.at[order - 2];
    for (int t = order - 2; t > 0; --t)
      s.at[t] = inverse * ((x + order - 1 - t) * s.at[t - 1] + (1 + t - x) * s.at[t]);
    s.at[0] *= inverse * (1.0 - x);
  }
  return s;
}

GPUCOORD_HD int wave_number(int index, int n)
{
  return 2 * index < n ? index : index - n;
}

GPUCOORD_HD void wave_vector(const double (&reciprocal)[3][3], const int (&m)[3], double (&wave)[3])
{
  constexpr double TWO_PI = 6.28318530717958647692;
  for (int c = 0; c < 3; ++c)
    wave[c] =
        TWO_PI * (m[0] * reciprocal[0][c] + m[1] * reciprocal[1][c] + m[2] * reciprocal[2][c]);
}

GPUCOORD_HD double square_of(const double (&v)[3])
{
  return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

// Returns the influence function of Ewald's far field for a unit charge, times the volume,
// distance^2; 0 for wave vector 0.
GPUCOORD_HD double influence(double wave_sq, double alpha)
{
  constexpr double FOUR_PI = 12.5663706143591729539;
  return wave_sq > 0.0 ? FOUR_PI / wave_sq * exp(-wave_sq / (4.0 * alpha * alpha)) : 0.0;
}

// Returns the influence function at an index of the transform, and sets the wave vector. At m =
// -n/2, half of the transform belongs to the opposite wave number, m = n/2. The result is therefore
// the mean over both, and the wave vector has no component along such an axis.
GPUCOORD_HD double influence_at(const double (&reciprocal)[3][3], const int (&n)[3], double alpha,
                                const int (&index)[3], double (&wave)[3])
{
  int m[3], opposite[3], within[3];
  bool is_half = false;
  for (int a = 0; a < 3; ++a) {
    opposite[a] = within[a] = m[a] = wave_number(index[a], n[a]);
    if (2 * m[a] != -n[a]) continue;
    is_half = true;
    opposite[a] = -m[a];
    within[a] = 0;
  }
  wave_vector(reciprocal, m, wave);
  double factor = influence(square_of(wave), alpha);
  if (!is_half) return factor;
  wave_vector(reciprocal, opposite, wave);
  factor = 0.5 * (factor + influence(square_of(wave), alpha));
  wave_vector(reciprocal, within, wave);
  return factor;
}

}    // namespace gpucoord

#endif
