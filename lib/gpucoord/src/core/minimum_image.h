// Part of GPUCOORD, GPL-2.0. The nearest periodic image in any cell.

#ifndef GPUCOORD_MINIMUM_IMAGE_H
#define GPUCOORD_MINIMUM_IMAGE_H

#include "config.h"
#include "gpucoord/box.h"

#include <math.h>

namespace gpucoord {

// Replaces d by its shortest periodic image. Rounding the coordinates along the reduced lattice
// leaves d inside a parallelepiped around the origin. Then only the lattice vectors in
// Box::candidate can bring it closer. d and -d give opposite results, even if two images are
// equally far: d is first turned so that its first nonzero component is positive.
GPUCOORD_HD void minimum_image(const Box &box, double &dx, double &dy, double &dz)
{
  for (int k = 0; k < box.nperiodic; ++k) {
    const double shift = rint(dx * box.dual[k][0] + dy * box.dual[k][1] + dz * box.dual[k][2]);
    dx -= shift * box.lattice[k][0];
    dy -= shift * box.lattice[k][1];
    dz -= shift * box.lattice[k][2];
  }
  if (box.ncandidates == 0) return;

  const bool turn = dx < 0.0 || (dx == 0.0 && (dy < 0.0 || (dy == 0.0 && dz < 0.0)));
  const double sign = turn ? -1.0 : 1.0;
  const double x = sign * dx, y = sign * dy, z = sign * dz;
  double bx = x, by = y, bz = z, best = x * x + y * y + z * z;
  for (int k = 0; k < box.ncandidates; ++k) {
    const double cx = x - box.candidate[k][0];
    const double cy = y - box.candidate[k][1];
    const double cz = z - box.candidate[k][2];
    const double distance_sq = cx * cx + cy * cy + cz * cz;
    if (distance_sq < best) {
      best = distance_sq;
      bx = cx;
      by = cy;
      bz = cz;
    }
  }
  dx = sign * bx;
  dy = sign * by;
  dz = sign * bz;
}

}    // namespace gpucoord

#endif
