// Part of GPUCOORD, GPL-2.0. The weight of an atom in a smooth region (smooth_region.h), for the
// host and the GPU.

#ifndef GPUCOORD_REGION_FORMULA_H
#define GPUCOORD_REGION_FORMULA_H

#include "smeared_interval.h"

#include "../core/config.h"
#include "../core/minimum_image.h"

#include "gpucoord/smooth_region.h"

#include <math.h>

namespace gpucoord {

// Without an inner edge, the interval begins at -infinity.
GPUCOORD_HD SmearedInterval interval_of(const RegionOptions &o)
{
  const bool is_ball = o.kind == RegionOptions::Kind::R && o.lo == 0.0;
  return {is_ball ? -HUGE_VAL : o.lo, o.hi, o.smear};
}

// Sets the weight of an atom at x, its gradient, [3], and its derivatives by strains, [6].
GPUCOORD_HD void region_weight(const SmoothRegion &region, const double *x, double &w,
                               double *gradient, double *strain)
{
  const RegionOptions &o = region.options;
  const SmearedInterval interval = interval_of(o);
  double slope;
  for (int c = 0; c < 6; ++c) strain[c] = 0.0;
  if (o.kind == RegionOptions::Kind::R) {
    const double *const center = region.center_on_device ? region.center_on_device : region.center;
    double d[3];
    for (int c = 0; c < 3; ++c) d[c] = x[c] - center[c];
    minimum_image(region.box, d[0], d[1], d[2]);
    const double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    interval(r, w, slope);
    const double by_r = r > 0.0 ? slope / r : 0.0;
    for (int c = 0; c < 3; ++c) {
      gradient[c] = by_r * d[c];
      strain[c] = gradient[c] * d[c];
    }
    strain[3] = gradient[0] * d[1];
    strain[4] = gradient[0] * d[2];
    strain[5] = gradient[1] * d[2];
    return;
  }
  double u = region.offset;
  for (int c = 0; c < 3; ++c) u += region.normal[c] * x[c];
  const int images = region.period > 0.0 ? 1 : 0;
  if (images) u -= region.period * rint((u - 0.5 * (o.lo + o.hi)) / region.period);
  w = 0.0;
  double sum = 0.0;
  for (int n = -images; n <= images; ++n) {
    const double image = u + n * region.period;
    double value;
    interval(image, value, slope);
    w += value;
    sum += slope;
    strain[static_cast<int>(o.kind)] += slope * (image - region.fixed_point);
  }
  for (int c = 0; c < 3; ++c) gradient[c] = sum * region.normal[c];
}

}    // namespace gpucoord

#endif
