// Part of GPUCOORD, GPL-2.0. The bias of OPES as a function of the sum of its kernels: Invernizzi
// and Parrinello, J. Phys. Chem. Lett. 11, 2731 (2020).
//
// A kernel is h G(d), d = sum over the variables of ((S - center)/sigma)^2, and 0 from d = cutoff^2
// on. S - center is the shortest difference if S is periodic.

#ifndef GPUCOORD_KERNEL_SUM_H
#define GPUCOORD_KERNEL_SUM_H

#include "gpucoord/grid_axis.h"
#include "gpucoord/period.h"

#include <cmath>

namespace gpucoord {

enum class KernelForm {
  SMOOTH,         // G = exp(-d/2) - end (1 + (cutoff^2 - d)/2): value and slope end at 0
  PLUMED,         // G = exp(-d/2) - end: the slope jumps at the end
  PLUMED_FORCE    // that G, with the derivative of SMOOTH in its place
};

// V = akt ln(inverse P + epsilon), where P is the sum over kernels of h G, with all parameters but
// the kernels.
struct KernelSum {
  int nvariables = 0;
  Period period[MAX_SAMPLED_VARIABLES];
  KernelForm form = KernelForm::SMOOTH;
  double cutoff2 = 0.0;    // cutoff^2
  double end = 0.0;        // exp(-cutoff^2/2)
  double akt = 0.0;        // energy
  double epsilon = 0.0;
  double inverse = 0.0;    // 1/(norm Z), changes at each deposit

  // Returns h G of a kernel with d < cutoff^2. e: exp(-d/2)
  GPUCOORD_ALSO_ON_DEVICE double value(double h, double d, double e) const
  {
    return h * (e - (form == KernelForm::SMOOTH ? end * (1.0 + 0.5 * (cutoff2 - d)) : end));
  }

  // The same, and adds its derivatives. z: (S - center)/sigma^2 of
  // each variable
  GPUCOORD_ALSO_ON_DEVICE double add_kernel(double h, double d, const double *z,
                                            double *derivative) const
  {
    const double e = std::exp(-0.5 * d);
    const double slope = h * (form == KernelForm::PLUMED ? e : e - end);
    for (int v = 0; v < nvariables; ++v) derivative[v] -= slope * z[v];
    return value(h, d, e);
  }

  // Returns V. Turns the derivatives of P into those of V.
  GPUCOORD_ALSO_ON_DEVICE double potential(double p, double *derivative) const
  {
    const double density = inverse * p + epsilon;
    for (int v = 0; v < nvariables; ++v) derivative[v] *= akt * inverse / density;
    return akt * std::log(density);
  }
};

}    // namespace gpucoord

#endif
