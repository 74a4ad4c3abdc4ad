// Part of GPUCOORD, GPL-2.0. The inner loops of the host backend.
//
// pair_kernels_host.cpp is compiled once per instruction set, and gather_kernels_host.cpp once per
// instruction set and form of a switching function. The set is selected at run time, so
// that one build runs on every machine of a cluster.

#ifndef GPUCOORD_PAIR_KERNELS_HOST_H
#define GPUCOORD_PAIR_KERNELS_HOST_H

#include "../switching/formula.h"

#include "gpucoord/box.h"
#include "gpucoord/switching.h"

namespace gpucoord {

// Sums over the partners of one atom, in this order: s; dS/dx, dS/dy, dS/dz of the atom; -(ds/dr)/r
// d (x) d as xx yy zz xy xz yz, where d is the vector to the partner.
constexpr int NSUMS = 10;

// Arguments of the kernels, in the same frame of coordinates (distance).
template <class Real> struct PartnerPoints {
  int n;
  const Real *x, *y, *z;    // [n]
};
template <class Real> struct OwnPoint {
  Real x, y, z;
  int self;    // index of the point among the partners; -1: it is none of them
};
template <class Real> struct Vectors {    // an output: distance, relative to the own point
  Real *x, *y, *z;
};
template <class Real> struct Segment {    // along x
  Real middle, half, y, z;                // half: half of the length
};

// Adds the terms of the partners of an atom to sums, [NSUMS]. Skips partners out of range, and the
// atom itself.
template <class Real>
using GatherFunction = void (*)(const SwitchConstants<Real> &, CustomFunction *,
                                const PartnerPoints<Real> &, const OwnPoint<Real> &, double *sums);

// Partners are processed in chunks that stay in cache. MIXED sums a chunk in float and adds the
// chunks in double.
constexpr int PARTNER_CHUNK = 256;

// Tables by class have a multiple of this many elements.
constexpr int CLASS_TABLE_WIDTH = 16;

// Functions between one class of atoms and the classes of partners. They have the same formula and
// the same integer exponents. Plain arrays, because the kernels use no function of the standard
// library.
template <class Real> struct ClassConstants {
  SwitchConstants<Real> common;    // integer exponents and window, from one of the functions
  int width;               // number of classes, rounded up to a multiple of CLASS_TABLE_WIDTH
  const Real *range_sq;    // [width] dmax^2; -1: the class has no such function
  Real equal_range_sq;     // dmax^2 of all classes; -1: they differ
  // Factors of the terms, and the constants that differ between functions.
  const Real *values;    // [1 + nvarying][width]
  int nvarying;
  const int *varying;    // indices in CONSTANTS_PER_FUNCTION
  // Constants that are the same for all functions: [PARTNER_CHUNK + 16] equal elements.
  const Real *equal[NCONSTANTS];
  // Only for custom functions: constants of each class, and index in the table.
  const SwitchConstants<Real> *const *each;
  const int *function;
};

// Like GatherFunction, for partners of several classes. class_index: class of each partner. custom:
// by index in the table. weights: factor of the terms of each partner; null: 1
template <class Real>
using GatherClassesFunction = void (*)(const ClassConstants<Real> &, CustomFunction *const *custom,
                                       const PartnerPoints<Real> &, const int *class_index,
                                       const Real *weights, const OwnPoint<Real> &, double *sums);

// Computes the nearest-image displacements from xi to the n points xj, [n][3], rounded to Real.
template <class Real>
using DisplacementFunction = void (*)(const Box &, const double *xi, int n, const double *xj,
                                      Real *dx, Real *dy, Real *dz);

// The points from begin up to, not including, end of an array. kept: index of the first kept point
// in the output
struct PointRange {
  int begin, end, kept;
};

// Coordinates of the points, which PointRange::begin and end index.
struct Coordinates {
  const double *x, *y, *z;    // distance
};
// The points within sqrt(range_sq) of a box with half edges 'half', centered at origin.
struct NearBox {
  const double *origin, *half;    // [3]
  double range_sq;
};
template <class Real> struct KeptPoints {
  Real *x, *y, *z;    // relative to the origin
  int *index;
};

// Keeps the points of n ranges that are near a box. Sets 'kept' of each range. Returns the number
// of kept points. May overwrite up to KEEP_MARGIN elements beyond them.
template <class Real>
using KeepNearBoxFunction = int (*)(int n, PointRange *ranges, const Coordinates &, const NearBox &,
                                    const KeptPoints<Real> &);
constexpr int KEEP_MARGIN = 8;

struct NeighborRow {
  const double *x;         // [rows][stride] distance
  int stride;              // 3, or 4 if the position is followed by a class
  int n;                   // number of neighbors
  const int *neighbors;    // [n] rows of x after neighmask is applied
  int neighmask;
};

// Computes the displacements from xi to the neighbors, rounded to Real, and their classes if rows
// have them. May overwrite up to KEEP_MARGIN elements beyond the output.
template <class Real>
using NeighborsFunction = void (*)(const NeighborRow &, const double *xi, const Vectors<Real> &,
                                   int *classes);

template <class Real> struct PairKernels {
  // Index: 0 value; 1 value and derivatives; 2 value and virial; 3 all of them.
  GatherFunction<Real> gather[4];
  // dS/dx of each pair times the window of the constants, without the value.
  GatherFunction<Real> gather_windowed;
  // For partners of several classes: value and derivatives; also with the virial; windowed
  // derivatives. The value alone would take about as long as with derivatives.
  GatherClassesFunction<Real> gather_classes, gather_classes_virial, gather_classes_windowed;
  NeighborsFunction<Real> neighbors;
  DisplacementFunction<Real> displacements;
  KeepNearBoxFunction<Real> keep_near_box;
};

template <class Real> KeepNearBoxFunction<Real> select_keep_near_box();

// Returns the kernels of a precision. Real is float for SINGLE and MIXED, and double for DOUBLE.
template <class Real>
GPUCOORD_TEST_API PairKernels<Real> select_pair_kernels(const Switch &, Precision);

}    // namespace gpucoord

#endif
