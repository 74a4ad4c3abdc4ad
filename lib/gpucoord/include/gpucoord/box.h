// Part of GPUCOORD, GPL-2.0. The periodic lattice of a simulation box.

#ifndef GPUCOORD_BOX_H
#define GPUCOORD_BOX_H

#include "gpucoord/export.h"

namespace gpucoord {

// Periodic lattice, prepared for minimum images. Plain data, so that kernels take it by value.
struct Box {
  int nperiodic = 0;           // number of periodic directions, 0 to 3
  double lattice[3][3];        // [nperiodic][3] Minkowski-reduced lattice vectors, distance
  double dual[3][3];           // [nperiodic][3] dual vectors in the span of the lattice, 1/distance
  int ncandidates = 0;         // number of candidates; 0 for orthogonal boxes
  double candidate[124][3];    // [ncandidates][3] lattice vectors that rounding can miss, distance
  double shortest = 0.0;       // length of the shortest lattice vector, distance; 0: not periodic
};

// Prepares a box. edges: [3][3] edge vectors as rows, distance. periodic: [3] whether the box is
// periodic along the edge. Throws std::invalid_argument if periodic edges are linearly dependent or
// not finite.
GPUCOORD_API Box make_box(const double edges[3][3], const bool periodic[3]);

// Returns half the length of the shortest lattice vector (distance), or infinity if there is no
// periodic direction. From this range on, including r = dmax, two images of an atom can both be in
// range, and the sums over all images and over nearest images can differ. Below it, they agree.
GPUCOORD_API double first_ambiguous_range(const Box &box);

// Returns the length of the shortest periodic image of d, distance. Not for loops over many pairs.
GPUCOORD_API double nearest_image_distance(const Box &box, const double d[3]);

}    // namespace gpucoord

#endif
