// Part of GPUCOORD, GPL-2.0. The periodic lattice of a simulation box.

#ifndef GPUCOORD_BOX_H
#define GPUCOORD_BOX_H

#include "gpucoord/export.h"

namespace gpucoord {

// Periodic lattice, prepared for minimum images. Plain data: it is passed to
// kernels by value.
struct Box {
  int nperiodic = 0;           // number of periodic directions, 0 to 3
  double lattice[3][3];        // [nperiodic][3] Minkowski-reduced lattice vectors, distance
  double dual[3][3];           // [nperiodic][3] dual vectors in the span of the lattice, 1/distance
  int ncandidates = 0;         // lattice vectors that rounding can miss, none in an orthogonal box
  double candidate[124][3];    // [ncandidates][3], distance
  double shortest = 0.0;       // length of the shortest lattice vector; 0 where none is periodic
};

// Prepares a box from its three edge vectors (rows, distance) and the flags that
// say along which of them it is periodic. Throws std::invalid_argument where
// periodic edges are linearly dependent or not finite.
GPUCOORD_API Box make_box(const double edges[3][3], const bool periodic[3]);

// Half the shortest lattice vector, infinite where none is periodic. From this range
// on (r = dmax is inside) two images of one atom can both be in range, so that sums
// over all images and over nearest images differ; below it they agree.
GPUCOORD_API double first_ambiguous_range(const Box &box);

}    // namespace gpucoord

#endif
