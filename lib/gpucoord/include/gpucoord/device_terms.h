// Part of GPUCOORD, GPL-2.0. A bias in a form that a GPU evaluates without the host
// (resident_bias.h): one term of V for each variable, or values on a grid.

#ifndef GPUCOORD_DEVICE_TERMS_H
#define GPUCOORD_DEVICE_TERMS_H

#include "gpucoord/grid_axis.h"
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

  bool has_grid() const { return grid.values != nullptr; }
};

}    // namespace gpucoord

#endif
