// Part of GPUCOORD, GPL-2.0. A sum of hills on a grid.
//
// Each point holds the value and all mixed derivatives of first order in each variable (1: V, V_x;
// 2: V, V_x, V_y, V_xy; 3: eight). In between, the bias is the tensor product of cubic Hermite
// polynomials: continuous with its dVdS, and forces are its exact derivatives.
//
// A grid file has PLUMED's columns: variables, V and its first derivatives. Mixed derivatives
// follow on the same line after a #, where PLUMED and plotting programs take them for a comment.

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
  // name of the column of a derivative, bit k: by variable k; 0: of V
  std::string column(int bits) const;

  // checksum_of_hills: Metadynamics::hills_checksum()
  void write(const std::string &path, std::int64_t nhills,
             const std::string &checksum_of_hills) const;
  struct Written {
    std::int64_t nhills = -1;
    std::string checksum_of_hills;    // "": of an earlier version, which wrote no checksums
  };
  Written read(const std::string &path);    // after an error the grid is incomplete

  std::size_t bytes() const { return values.capacity() * sizeof(double); }

 private:
  std::vector<std::string> columns() const;    // PLUMED's
  std::vector<int> mixed_derivatives() const;
  std::string checksum() const;

  const std::vector<std::string> names;
  const std::vector<GridAxis> axes;
  const int n;                   // variables
  const int nderivatives;        // 2^n; bit k: derivative by variable k
  std::vector<double> values;    // [points, first variable fastest][nderivatives]
};

}    // namespace gpucoord

#endif
