// Part of GPUCOORD, GPL-2.0. A function on a grid, given by values and mixed derivatives at its
// points. Between the points, it is the tensor product of cubic Hermite polynomials, which is
// continuous with its gradient.

#ifndef GPUCOORD_HERMITE_GRID_H
#define GPUCOORD_HERMITE_GRID_H

#include "../core/config.h"

#include "gpucoord/grid_axis.h"

#include <cmath>
#include <cstddef>

namespace gpucoord {

struct HermiteAxis {
  double lo, hi;             // the first and the last point
  double origin, spacing;    // of indices of points
  int first, last;           // indices of points
  bool is_periodic;
};

inline HermiteAxis hermite_axis(const GridAxis &axis)
{
  const int first = axis.first(), last = axis.last();
  return {axis.point(first), axis.point(last), axis.lo, axis.spacing(), first, last,
          axis.is_periodic};
}

// Returns s, or its image within a periodic axis.
GPUCOORD_HD double image_within(const HermiteAxis &axis, double s)
{
  if (!axis.is_periodic) return s;
  const double length = axis.hi - axis.lo, image = s - length * floor((s - axis.lo) / length);
  return image > axis.hi ? axis.hi : image < axis.lo ? axis.lo : image;
}

// values: [points, first variable fastest][2^n]; bit k of the last index: derivative with respect
// to variable k. s must be within the axes. Sets dVdS to the exact derivatives.
GPUCOORD_HD double evaluate_hermite(int n, const HermiteAxis *axes, const double *values,
                                    const double *s, double *dVdS)
{
  const int nderivatives = 1 << n;
  // Cubic Hermite polynomials of the two ends of a bin: [variable][end][factor of the value, of the
  // derivative].
  double basis[MAX_SAMPLED_VARIABLES][2][2], derivative[MAX_SAMPLED_VARIABLES][2][2];
  std::size_t stride[MAX_SAMPLED_VARIABLES], corner = 0, points = 1;
  for (int k = 0; k < n; ++k) {
    const double h = axes[k].spacing;
    const int first = axes[k].first, end = axes[k].last;
    int bin = static_cast<int>(floor((s[k] - axes[k].origin) / h));
    bin = bin < first ? first : bin < end ? bin : end - 1;
    const double t = (s[k] - (axes[k].origin + bin * h)) / h;
    const double t2 = t * t, t3 = t2 * t;
    basis[k][0][0] = 1.0 - 3.0 * t2 + 2.0 * t3;
    basis[k][0][1] = h * (t - 2.0 * t2 + t3);
    basis[k][1][0] = 3.0 * t2 - 2.0 * t3;
    basis[k][1][1] = h * (t3 - t2);
    derivative[k][0][0] = 6.0 * (t2 - t) / h;
    derivative[k][0][1] = 1.0 - 4.0 * t + 3.0 * t2;
    derivative[k][1][0] = -derivative[k][0][0];
    derivative[k][1][1] = 3.0 * t2 - 2.0 * t;
    stride[k] = points;
    corner += (bin - first) * points;
    points *= static_cast<std::size_t>(end - first) + 1;
  }

  double v = 0.0;
  for (int k = 0; k < n; ++k) dVdS[k] = 0.0;
  for (int ends = 0; ends < nderivatives; ++ends) {
    std::size_t point = corner;
    for (int k = 0; k < n; ++k) point += (ends >> k & 1) * stride[k];
    for (int bits = 0; bits < nderivatives; ++bits) {
      const double value = values[point * nderivatives + bits];
      double product = value;
      for (int k = 0; k < n; ++k) product *= basis[k][ends >> k & 1][bits >> k & 1];
      v += product;
      for (int by = 0; by < n; ++by) {
        double term = value;
        for (int k = 0; k < n; ++k) {
          // (k == by ? derivative : basis)[k][...] has wrong indices with the sanitizers of GCC 12.
          const double(*const end_basis)[2] = k == by ? derivative[k] : basis[k];
          term *= end_basis[ends >> k & 1][bits >> k & 1];
        }
        dVdS[by] += term;
      }
    }
  }
  return v;
}

}    // namespace gpucoord

#endif
