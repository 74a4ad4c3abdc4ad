// Part of GPUCOORD, GPL-2.0. The inner loops of the host backend.
//
// pair_kernels_host.cpp is compiled once for each instruction set. The set is chosen at run time,
// so that one build serves every machine of a cluster.

#ifndef GPUCOORD_PAIR_KERNELS_HOST_H
#define GPUCOORD_PAIR_KERNELS_HOST_H

#include "../switching/formula.h"

#include "gpucoord/box.h"
#include "gpucoord/switching.h"

#include <array>
#include <memory>
#include <vector>

namespace gpucoord {

// Sums over the partners of one atom, in this order: s; dS/dx, dS/dy, dS/dz of the atom; -(ds/dr)/r
// d (x) d as xx yy zz xy xz yz.
constexpr int NSUMS = 10;

// Adds the terms of n partners at (x, y, z) of the atom at (xi, yi, zi) to sums, [NSUMS]. Skips
// partners out of range, and the partner numbered self (-1: none).
template <class Real>
using GatherFunction = void (*)(const SwitchConstants<Real> &, CustomFunction *, int n,
                                const Real *x, const Real *y, const Real *z, Real xi, Real yi,
                                Real zi, int self, double *sums);

// Partners are processed in chunks that stay in the L1 cache. MIXED sums a chunk in float and adds
// the chunks in double.
constexpr int PARTNER_CHUNK = 256;

// The functions of one formula and the same integer exponents, between one class of atoms and all
// classes of partners.
template <class Real> struct ClassConstants {
  SwitchConstants<Real> common;    // of one of them: integer exponents and window
  Real dmax_sq;                    // the largest
  // [classes]; 0: no such function
  std::vector<Real> weight;
  // [classes] null: no such function
  std::vector<const SwitchConstants<Real> *> each;
  std::vector<int> function;    // [classes] number in the table
  int any = -1;                 // a class that has such a function; -1: none has
  // The constants in which they differ, as indices of CONSTANTS_OF_A_FUNCTION, and their values.
  std::vector<int> varying;
  std::vector<Real> values;    // [varying][classes]
  // [PARTNER_CHUNK + 16] of the others, all elements alike
  std::array<const Real *, NCONSTANTS> equal;
};

// As GatherFunction, for partners of several classes, of_class. Each term has the weight of its
// class. custom: by number of the function.
template <class Real>
using GatherClassesFunction = void (*)(const ClassConstants<Real> &,
                                       const std::unique_ptr<CustomFunction> *custom, int n,
                                       const Real *x, const Real *y, const Real *z,
                                       const int *of_class, Real xi, Real yi, Real zi, int self,
                                       double *sums);

// Computes the nearest-image displacements from xi to the n points xj, [n][3], rounded to Real.
template <class Real>
using DisplacementFunction = void (*)(const Box &, const double *xi, int n, const double *xj,
                                      Real *dx, Real *dy, Real *dz);

// The points from begin to end of an array. kept: index of the first kept point in the output.
struct PointRange {
  int begin, end, kept;
};

// Keeps the points of n ranges that are within sqrt(range_sq) of a box. The box has the half edges
// 'half' and is centered at origin. Writes positions relative to origin to x_out, y_out, z_out, and
// indices to index_out. Sets 'kept' of each range. Returns the number of kept points. Up to
// KEEP_MARGIN elements beyond them may be overwritten.
template <class Real>
using KeepNearBoxFunction = int (*)(int n, PointRange *ranges, const double *x, const double *y,
                                    const double *z, const double *origin, const double *half,
                                    double range_sq, Real *x_out, Real *y_out, Real *z_out,
                                    int *index_out);
constexpr int KEEP_MARGIN = 8;

// Computes the displacements from xi to n neighbors, rounded to Real. neighbors: rows of x after
// neighmask is applied. Up to KEEP_MARGIN elements beyond them may be overwritten.
template <class Real>
using NeighborsFunction = void (*)(const double *x, const double *xi, int n, const int *neighbors,
                                   int neighmask, Real *dx, Real *dy, Real *dz);

template <class Real> struct PairKernels {
  // Indexed by Want: value, + derivatives, + virial, + both.
  GatherFunction<Real> gather[4];
  // dS/dx of each pair times the window of the constants, without the value.
  GatherFunction<Real> gather_windowed;
  // The same three for partners of several classes. The first two compute value and derivatives,
  // too.
  GatherClassesFunction<Real> gather_classes, gather_classes_virial, gather_classes_windowed;
  NeighborsFunction<Real> neighbors;
  DisplacementFunction<Real> displacements;
  KeepNearBoxFunction<Real> keep_near_box;
};

template <class Real> KeepNearBoxFunction<Real> select_keep_near_box();

// Kernels for a precision. Real is float for SINGLE and MIXED, and double for DOUBLE.
template <class Real>
GPUCOORD_TEST_API PairKernels<Real> select_pair_kernels(const Switch &, Precision);

}    // namespace gpucoord

#endif
