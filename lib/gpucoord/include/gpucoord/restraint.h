// Part of GPUCOORD, GPL-2.0. Bias potentials with a closed form: restraints and walls.

#ifndef GPUCOORD_RESTRAINT_H
#define GPUCOORD_RESTRAINT_H

#include "gpucoord/period.h"

#include <cmath>

namespace gpucoord {

// The term of one variable in V(S). k: energy over the unit of the expression that it multiplies
struct Restraint {
  enum class Kind {
    HARMONIC,      // k/2 (S - s0)^2; the difference is the shortest one if S is periodic
    LINEAR,        // k (S - s0)
    UPPER_WALL,    // k (S - s0 + offset)^exponent if S > s0 - offset, otherwise 0
    LOWER_WALL     // k (s0 + offset - S)^exponent if S < s0 + offset, otherwise 0
  };
  Kind kind = Kind::HARMONIC;
  double k = 0.0;
  double s0 = 0.0;          // units of S
  double exponent = 2.0;    // > 1, so that the force is continuous
  double offset = 0.0;      // units of S
  double period = 0.0;      // length of the period of S, only if HARMONIC; 0: not periodic

  // Returns V, and sets dVdS to dV/dS.
  GPUCOORD_ALSO_ON_DEVICE double evaluate(double s, double &dVdS) const
  {
    switch (kind) {
      case Kind::HARMONIC: {
        const double d = Period{0.0, period}.difference(s, s0);
        dVdS = k * d;
        return 0.5 * k * d * d;
      }
      case Kind::LINEAR:
        dVdS = k;
        return k * (s - s0);
      default: {
        const double sign = kind == Kind::UPPER_WALL ? 1.0 : -1.0;
        const double depth = sign * (s - s0) + offset;
        dVdS = 0.0;
        if (!(depth > 0.0)) return 0.0;
        dVdS = sign * k * exponent * std::pow(depth, exponent - 1.0);
        return k * std::pow(depth, exponent);
      }
    }
  }
};

}    // namespace gpucoord

#endif
