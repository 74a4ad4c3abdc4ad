// Part of GPUCOORD, GPL-2.0. The inner loop of the host backend.
//
// pair_kernels_host.cpp is compiled once for each instruction set; the set is chosen
// when the program runs, so one build serves every machine of a cluster.

#ifndef GPUCOORD_PAIR_KERNELS_HOST_H
#define GPUCOORD_PAIR_KERNELS_HOST_H

#include "../switching/formula.h"

#include "gpucoord/box.h"
#include "gpucoord/switching.h"

namespace gpucoord {

// Sums over the partners of one atom, in this order: s; dS/dx, dS/dy, dS/dz of
// the atom; -(ds/dr)/r d (x) d in the order xx yy zz xy xz yz.
constexpr int NSUMS = 10;

// Adds the terms of n partners at (x,y,z) of the atom at (xi,yi,zi) to sums.
// Partners out of range are skipped, and the partner numbered self (-1: none).
template <class Real>
using GatherFunction = void (*)(const SwitchConstants<Real> &, CustomFunction *, int n,
                                const Real *x, const Real *y, const Real *z, Real xi, Real yi,
                                Real zi, int self, double *sums);

// Nearest images of the n points xj ([n][3]) as seen from xi, rounded to Real.
template <class Real>
using DisplacementFunction = void (*)(const Box &, const double *xi, int n, const double *xj,
                                      Real *dx, Real *dy, Real *dz);

// Points from begin to end of arrays, and where the first of those that are kept goes.
struct PointRange {
  int begin, end, kept;
};

// Writes to x_out, y_out, z_out those points of n ranges that are within a squared range
// of a box with half edges half around origin, relative to origin, and their index to
// index_out. Returns how many; KEEP_MARGIN elements beyond them may be overwritten.
template <class Real>
using KeepNearBoxFunction = int (*)(int n, PointRange *ranges, const double *x, const double *y,
                                    const double *z, const double *origin, const double *half,
                                    double range_sq, Real *x_out, Real *y_out, Real *z_out,
                                    int *index_out);
constexpr int KEEP_MARGIN = 8;

// Displacements from xi of n neighbors, rows of x after neighmask, rounded to Real; KEEP_MARGIN elements
// beyond them may be overwritten.
template <class Real>
using NeighborsFunction = void (*)(const double *x, const double *xi, int n, const int *neighbors,
                                   int neighmask, Real *dx, Real *dy, Real *dz);

template <class Real> struct PairKernels {
  GatherFunction<Real> gather[4];    // by Want: value, + derivatives, + virial, + both
  GatherFunction<Real>
      gather_windowed;    // dS/dx of each pair times the window of the constants, no value
  NeighborsFunction<Real> neighbors;
  DisplacementFunction<Real> displacements;
  KeepNearBoxFunction<Real> keep_near_box;
};

template <class Real> KeepNearBoxFunction<Real> select_keep_near_box();

// Kernels of a precision: Real float for SINGLE and MIXED, double for DOUBLE.
template <class Real>
GPUCOORD_TEST_API PairKernels<Real> select_pair_kernels(const Switch &, Precision);

}    // namespace gpucoord

#endif
