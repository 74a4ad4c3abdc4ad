// Part of GPUCOORD, GPL-2.0. The period of a variable, such as that of a dihedral angle.

#ifndef GPUCOORD_PERIOD_H
#define GPUCOORD_PERIOD_H

#include "gpucoord/export.h"

#include <cmath>
#include <string>

#if defined(__CUDACC__)
#define GPUCOORD_ALSO_ON_DEVICE __host__ __device__
#else
#define GPUCOORD_ALSO_ON_DEVICE
#endif

namespace gpucoord {

// S and S + length are the same state. S is between lo and lo + length.
struct Period {
  double lo = 0.0;
  double length = 0.0;    // 0: not periodic

  GPUCOORD_ALSO_ON_DEVICE bool exists() const { return length > 0.0; }
  double hi() const { return lo + length; }

  // Returns a - b, or the shortest difference between their images.
  GPUCOORD_ALSO_ON_DEVICE double difference(double a, double b) const
  {
    const double d = a - b;
    return exists() ? d - length * std::rint(d / length) : d;
  }
  // Returns the image of s between lo and hi().
  GPUCOORD_ALSO_ON_DEVICE double wrapped(double s) const
  {
    return exists() ? s - length * std::floor((s - lo) / length) : s;
  }
};

// Returns the end of a period or of an axis as PLUMED writes it: -pi, pi, or a number with 17
// digits.
GPUCOORD_API std::string text_of_bound(double);
// Reads such an end. Returns false unless the word is -pi, pi or a finite number.
GPUCOORD_API bool to_bound(const std::string &word, double &);

}    // namespace gpucoord

#endif
