// Part of GPUCOORD, GPL-2.0. The switching functions sigma and 1 - sigma of a per-atom value, for
// the host and the GPU.

#ifndef GPUCOORD_THRESHOLD_H
#define GPUCOORD_THRESHOLD_H

#include "../core/config.h"

namespace gpucoord {

// Sets sigma, or 1 - sigma if is_more, and the derivative. sigma(s, value, derivative) sets sigma
// and its derivative. It is only called above d0.
template <class Sigma>
GPUCOORD_HD void threshold(bool is_more, double d0, double s, double &value, double &derivative,
                           const Sigma &sigma)
{
  value = 1.0;
  derivative = 0.0;
  if (s > d0) sigma(s, value, derivative);
  if (is_more) {
    value = 1.0 - value;
    derivative = -derivative;
  }
}

// A formula (definition.h). One type serves more_than and less_than, so that each sigma needs one
// kernel.
template <class Sigma> struct Threshold {
  Sigma sigma;
  double d0;
  bool is_more;
  GPUCOORD_HD void operator()(double s, double &value, double &derivative) const
  {
    threshold(is_more, d0, s, value, derivative, sigma);
  }
};

}    // namespace gpucoord

#endif
