// Part of GPUCOORD, GPL-2.0. Axes of a bias on a grid.

#ifndef GPUCOORD_GRID_AXIS_H
#define GPUCOORD_GRID_AXIS_H

#include <cstddef>

namespace gpucoord {

// Largest number of variables of a bias that is a sum of deposits or on a grid.
constexpr int MAX_SAMPLED_VARIABLES = 3;

constexpr double MAX_GRID_POINTS = 1e8;

// An axis with the points lo, lo + (hi - lo)/bins, ..., hi, in units of S, and more points of this
// spacing below lo and above hi. The index of a point counts from lo.
struct GridAxis {
  double lo = 0.0, hi = 0.0;
  int bins = 0;
  bool is_periodic = false;    // hi is an image of lo
  int below = 0, above = 0;    // numbers of points below lo and above hi
  double spacing() const { return (hi - lo) / bins; }
  int first() const { return -below; }
  int last() const { return bins + above; }
  std::size_t size() const { return static_cast<std::size_t>(last() - first()) + 1; }
  double point(int index) const { return index == bins ? hi : lo + index * spacing(); }
};

struct Interval {
  double lo, hi;
};

}    // namespace gpucoord

#endif
