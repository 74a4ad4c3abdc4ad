// Part of GPUCOORD, GPL-2.0. A sum of hills on a grid.
//
// Each point holds the value and all mixed derivatives of first order in each variable (1: V, V_x;
// 2: V, V_x, V_y, V_xy; 3: eight). In between, the bias is the tensor product of cubic Hermite
// polynomials: continuous with its slope, and forces are its exact derivatives.

#ifndef GPUCOORD_BIAS_GRID_H
#define GPUCOORD_BIAS_GRID_H

#include "gpucoord/metadynamics.h"

#include <string>
#include <vector>

namespace gpucoord {

class BiasGrid {
 public:
  BiasGrid(std::vector<std::string> names, std::vector<GridAxis> axes);

  void add(const Hill &);
  double evaluate(const double *s, double *slope) const;

  const std::vector<double> &all() const { return values; }    // [points, first variable fastest][2^n]
  std::size_t npoints() const { return values.size() / nderivatives; }
  double value(std::size_t point) const { return values[point * nderivatives]; }
  void position(std::size_t point, double *s) const;
  std::size_t nearest(const double *s) const;    // point

  void write(const std::string &path, std::int64_t nhills) const;
  std::int64_t read(const std::string &path);    // returns the number of hills

  std::size_t bytes() const { return values.capacity() * sizeof(double); }

 private:
  std::vector<std::string> columns() const;

  const std::vector<std::string> names;
  const std::vector<GridAxis> axes;
  const int n;               // variables
  const int nderivatives;    // 2^n; bit k: derivative by variable k
  std::vector<double> values;    // [points, first variable fastest][nderivatives]
};

}    // namespace gpucoord

#endif
