// Part of GPUCOORD, GPL-2.0. Smooth regions of space, on the host.

#include "region_formula.h"

#include "../core/checks.h"

#include <cmath>
#include <limits>

namespace gpucoord {

namespace {

  // Images and the far side of the box must not be within this many smears of an edge: w is then
  // below 1e-15 there, and its derivatives are continuous.
  constexpr double REACH = 8.0;

  constexpr int axis_of(RegionOptions::Kind kind)
  {
    return static_cast<int>(kind);    // 0 to 2
  }

}    // namespace

void check_options(const RegionOptions &o)
{
  const bool is_shell = o.kind == RegionOptions::Kind::R;
  for (const double bound : {o.lo, o.hi})
    if (!std::isfinite(bound))
      throw OptionError(std::isfinite(o.lo) ? "hi" : "lo",
                        "a bound is " + short_text(bound) + " but must be a finite number");
  if (!(o.lo < o.hi))
    throw OptionError("hi",
                      "the upper bound is " + short_text(o.hi) +
                          " but must be above the lower bound " + short_text(o.lo));
  if (is_shell && o.lo < 0.0)
    throw OptionError("lo",
                      "the smallest distance is " + short_text(o.lo) +
                          " but must be >= 0 - use 0 for a ball");
  check_positive<OptionError>("smear", "smear", o.smear);
}

SmoothRegion make_region(const RegionOptions &o, const RegionBox &in, const double center[3])
{
  SmoothRegion region;
  region.options = o;
  if (o.kind == RegionOptions::Kind::R) {
    region.box = make_box(in.edges, in.periodic);
    const double limit = first_ambiguous_range(region.box);
    if (!(o.hi + REACH * o.smear <= limit))
      throw OptionError("hi",
                        "the largest distance " + short_text(o.hi) + " plus 8 times smear " +
                            short_text(o.smear) + " exceeds " + short_text(limit) +
                            ", half the shortest period of the box - use smaller numbers");
    for (int c = 0; c < 3; ++c) region.center[c] = center[c];
    return region;
  }
  const int axis = axis_of(o.kind), j = (axis + 1) % 3, k = (axis + 2) % 3;
  const double length = in.edges[axis][axis];
  if (in.periodic[axis]) {
    region.period = length;
    if (o.hi - o.lo > length)
      throw OptionError("hi",
                        "the region from " + short_text(o.lo) + " to " + short_text(o.hi) +
                            " is wider than " + short_text(length) +
                            ", the period of the box - use a narrower one");
    if (REACH * o.smear > length)
      throw OptionError("smear",
                        "smear " + short_text(o.smear) + " exceeds an eighth of " +
                            short_text(length) + ", the period of the box - use a smaller one");
  }
  // The dual vector of the edge, times its length along the axis.
  const double *const b = in.edges[j], *const c = in.edges[k];
  const double cross[3] = {b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2],
                           b[0] * c[1] - b[1] * c[0]};
  for (int d = 0; d < 3; ++d) region.normal[d] = cross[d] / cross[axis];
  region.offset = in.lower[axis];
  for (int d = 0; d < 3; ++d) region.offset -= region.normal[d] * in.lower[d];
  region.fixed_point = in.lower[axis] + 0.5 * length;
  return region;
}

void evaluate_region(const SmoothRegion &region, std::int64_t n, const int *row, const double *x,
                     const RegionWeights &out, int nthreads)
{
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 4096)
  for (std::int64_t k = 0; k < n; ++k)
    region_weight(region, x + 3 * static_cast<std::int64_t>(row[k]), out.w[k], out.gradient + 3 * k,
                  out.strain + 6 * k);
}

}    // namespace gpucoord
