// Part of GPUCOORD, GPL-2.0. A bias in a form that a GPU evaluates without the host
// (resident_bias.h): one term of V for each variable, values on a grid, or a sum of kernels.

#ifndef GPUCOORD_DEVICE_TERMS_H
#define GPUCOORD_DEVICE_TERMS_H

#include "gpucoord/grid_axis.h"
#include "gpucoord/kernel_sum.h"
#include "gpucoord/restraint.h"

#include <cstdint>
#include <vector>

namespace gpucoord {

// Pointers are valid until the bias is evaluated or destroyed.
struct DeviceTerms {
  std::vector<Restraint> now;     // with the parameters of this evaluation
  std::vector<Restraint> last;    // with the parameters of the previous evaluation
  bool moves = false;             // these parameters differ; the difference of V counts as work

  struct Grid {
    std::vector<GridAxis> axes;
    std::vector<Interval> interval;    // one per axis, or empty; V is constant beyond
    // V and its mixed derivatives: evaluate_hermite() of src/bias/hermite_grid.h
    const std::vector<double> *values = nullptr;
    std::int64_t version = 0;     // changes when the axes or the values change
    bool zero_outside = false;    // V outside the axes is 0; otherwise it is an error
  };
  Grid grid;

  struct Kernels {
    KernelSum sum;    // of this evaluation
    // [kernels][1 + 2 nvariables]: height, then the center and then the sigma of each variable
    const std::vector<double> *rows = nullptr;
    std::int64_t version = 0;    // changes when the rows change
  };
  Kernels kernels;

  // Exponential averages of S and its variance, only of a sum of kernels. BiasState::own has 1 + 2
  // nvariables numbers of them, from 'first' on: the number of samples t, the average m of each
  // variable, and its sum of squares M2.
  struct Averages {
    int first = -1;          // -1: none
    bool advance = false;    // this evaluation adds a sample
    double longest = 0.0;    // number of samples over which m is averaged
  };
  Averages averages;

  bool has_grid() const { return grid.values != nullptr; }
  bool has_kernels() const { return kernels.rows != nullptr; }
  bool has_averages() const { return averages.first >= 0; }
};

}    // namespace gpucoord

#endif
