// Part of GPUCOORD, GPL-2.0. A sum of hills on a grid.
//
// Each point stores the value and all derivatives of at most first order in each variable (1
// variable: V, V_x; 2: V, V_x, V_y, V_xy; 3: eight). Between the points, the bias is the tensor
// product of cubic Hermite polynomials. It is continuous with its gradient, and forces are its
// exact derivatives.
//
// A grid that grows holds the range of each hill and a point beyond it. V and its derivatives are
// then 0 at its ends and outside, so that new points need no earlier hill, and V does not depend on
// when the grid grows. Periodic axes do not grow.
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
  BiasGrid(std::vector<std::string> names, std::vector<GridAxis> axes, bool grows);

  // Throws std::runtime_error if the grid would grow beyond MAX_GRID_POINTS for these hills, and
  // std::bad_alloc if there is no memory for it.
  void check_room(const std::vector<Hill> &) const;
  // Grows at once as these hills, added one by one, would make it grow.
  void make_room(const std::vector<Hill> &);
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
  // Returns whether the point is between lo and hi of each axis.
  bool is_between_bounds(std::size_t point) const;
  const std::vector<GridAxis> &all_axes() const { return axes; }

  // checksum_of_hills: Metadynamics::hills_checksum()
  void write(const std::string &path, std::int64_t nhills,
             const std::string &checksum_of_hills) const;
  struct Written {
    std::int64_t nhills = -1;
    std::string checksum_of_hills;
  };
  // The grid is incomplete after an error. If it grows, it takes the range of the file, and
  // complete() must follow.
  Written read(const std::string &path);
  // Adds the points that the hills of a file need, with the parts of these hills at them.
  void complete(const std::vector<Hill> &);

  std::size_t bytes() const { return values.capacity() * sizeof(double); }

 private:
  // Returns the column name of a derivative. Bit k: derivative with respect to variable k; 0: V
  std::string column(int bits) const;
  std::vector<std::string> columns() const;    // columns that PLUMED reads
  std::vector<int> mixed_derivatives() const;
  std::string checksum() const;
  std::vector<int> points_near(const Hill &, int axis) const;
  // Returns these axes, or larger ones that have the range of the hill and a point beyond it.
  std::vector<GridAxis> axes_for(const Hill &, const std::vector<GridAxis> &) const;
  std::vector<GridAxis> axes_for(const std::vector<Hill> &) const;
  // Takes the axes of a larger grid, and its values at points that this grid does not have.
  void become(BiasGrid &larger);
  // Reads an end of an axis from a file: a word after min_ or max_. Returns "", or why it is wrong.
  std::string set_end(int axis, bool is_low, const std::string &word);
  // Copies the values at the first points of periodic axes to their images.
  void set_images();

  const std::vector<std::string> names;
  std::vector<GridAxis> axes;
  const bool grows;
  const int n;                   // number of variables
  const int nderivatives;        // 2^n; bit k of the index: derivative with respect to variable k
  std::vector<double> values;    // [points, first variable fastest][nderivatives]
};

}    // namespace gpucoord

#endif
