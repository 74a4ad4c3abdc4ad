// Part of GPUCOORD, GPL-2.0. Axes of a bias on a grid.

#ifndef GPUCOORD_GRID_AXIS_H
#define GPUCOORD_GRID_AXIS_H

namespace gpucoord {

// Largest number of variables of a bias that is a sum of deposits or on a grid.
constexpr int MAX_SAMPLED_VARIABLES = 3;

// An axis with the points lo, lo + (hi - lo)/bins, ..., hi, in units of S.
struct GridAxis {
  double lo = 0.0, hi = 0.0;
  int bins = 0;
  bool is_periodic = false;    // hi is an image of lo
  double spacing() const { return (hi - lo) / bins; }
};

struct Interval {
  double lo, hi;
};

}    // namespace gpucoord

#endif
