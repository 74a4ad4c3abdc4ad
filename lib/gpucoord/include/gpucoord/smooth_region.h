// Part of GPUCOORD, GPL-2.0. Smooth regions of space: slabs, balls and shells. They give the
// weights of atoms (AtomWeights in atom_function.h).

#ifndef GPUCOORD_SMOOTH_REGION_H
#define GPUCOORD_SMOOTH_REGION_H

#include "gpucoord/box.h"
#include "gpucoord/export.h"
#include "gpucoord/option_error.h"

#include <cstdint>

namespace gpucoord {

// The weight of an atom at coordinate u is the fraction of a Gaussian around u that lies between lo
// and hi, as in PLUMED's AROUND:
//   w = [erf((hi - u)/(sqrt(2) smear)) - erf((lo - u)/(sqrt(2) smear))]/2
//   X, Y, Z  u is the coordinate along this axis, in a tilted box along the edge of the box, so
//            that planes of constant u are parallel to its faces. w is summed over periodic images.
//   R        u is the distance of the nearest image from a center. lo = 0: there is no inner edge.
struct RegionOptions {
  enum class Kind { X, Y, Z, R };
  Kind kind = Kind::Z;
  double lo = 0.0, hi = 0.0;    // lo < hi, distance
  double smear = 0.0;           // standard deviation of the Gaussian, > 0, distance
};

// Throws OptionError.
GPUCOORD_API void check_options(const RegionOptions &);

// The box of an evaluation: lower corner, edge vectors as rows, a along x and b in the xy plane,
// and whether it is periodic along each edge.
struct RegionBox {
  double lower[3], edges[3][3];
  bool periodic[3];
};

// A region in a box. Plain data, so that kernels take it by value.
struct SmoothRegion {
  RegionOptions options;
  double center[3] = {};                       // R
  const double *center_on_device = nullptr;    // [3] instead, in device memory, only in kernels
  Box box;                                     // R
  // X, Y, Z: u = normal . x + offset
  double normal[3] = {}, offset = 0.0;
  double period = 0.0;         // of u; 0: there is none
  double fixed_point = 0.0;    // u of the center of the box, which strains leave in place
};

// center: not read by slabs. Throws OptionError with the field 'hi' or 'smear' if the region does
// not fit into the period of the box.
GPUCOORD_API SmoothRegion make_region(const RegionOptions &, const RegionBox &,
                                      const double center[3]);

// Weights and their derivatives.
struct RegionWeights {
  double *w;           // [n]
  double *gradient;    // [n][3] grad w, 1/distance
  // [n][6] derivatives by the strain e in x_a' = x_a + e_ab x_b of box and atoms: xx yy zz xy xz
  // yz. A slab and the center of the box stay in place, and so a slab has only that of its axis.
  double *strain;
};

// Sums over atoms, of the weights, of their derivatives, and of f(s_i) times these.
struct RegionSums {
  double w = 0.0;
  double gradient[3] = {}, f_gradient[3] = {};
  double strain[6] = {}, f_strain[6] = {};
};

// Evaluates the atoms row[k]. x: [..][3] positions, distance
GPUCOORD_API void evaluate_region(const SmoothRegion &, std::int64_t n, const int *row,
                                  const double *x, const RegionWeights &, int nthreads);

}    // namespace gpucoord

#endif
