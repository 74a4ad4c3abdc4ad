// Part of GPUCOORD, GPL-2.0. A sum of hills on a grid.
//
// Each point stores the value and all derivatives of at most first order in each variable (1
// variable: V, V_x; 2: V, V_x, V_y, V_xy; 3: eight). Between the points, the bias is the tensor
// product of cubic Hermite polynomials. It is continuous with its gradient, and forces are its
// exact derivatives.
//
// A grid file has PLUMED's columns: variables, V and its first derivatives. Mixed derivatives
// follow on the same line after a #, so that PLUMED and plotting programs treat them as a comment.
// It omits the last point of a periodic axis, as PLUMED's files do.

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
  double evaluate(const double *s, double *dVdS) const;

  const std::vector<double> &all() const
  {
    return values;
  }    // [points, first variable fastest][2^n]
  std::size_t npoints() const { return values.size() / nderivatives; }
  double value(std::size_t point) const { return values[point * nderivatives]; }
  void position(std::size_t point, double *s) const;
  // Returns whether the point is the last one of a periodic axis, an image of the first one.
  bool is_image(std::size_t point) const;

  // checksum_of_hills: Metadynamics::hills_checksum()
  void write(const std::string &path, std::int64_t nhills,
             const std::string &checksum_of_hills) const;
  struct Written {
    std::int64_t nhills = -1;
    std::string checksum_of_hills;
  };
  Written read(const std::string &path);    // the grid is incomplete after an error

  std::size_t bytes() const { return values.capacity() * sizeof(double); }

 private:
  // Returns the column name of a derivative. Bit k: derivative with respect to variable k; 0: V
  std::string column(int bits) const;
  std::vector<std::string> columns() const;    // columns that PLUMED reads
  std::vector<int> mixed_derivatives() const;
  std::string checksum() const;
  std::vector<int> points_near(const Hill &, int axis) const;
  // Copies the values at the first points of periodic axes to their images.
  void set_images();

  const std::vector<std::string> names;
  const std::vector<GridAxis> axes;
  const int n;                   // number of variables
  const int nderivatives;        // 2^n; bit k of the index: derivative with respect to variable k
  std::vector<double> values;    // [points, first variable fastest][nderivatives]
};

}    // namespace gpucoord

#endif
