// Part of GPUCOORD, GPL-2.0. The sums over charges of a few points in a row, on the host.

#ifndef GPUCOORD_MAP_KERNELS_HOST_H
#define GPUCOORD_MAP_KERNELS_HOST_H

#include "map_formulas.h"

namespace gpucoord {

// Points along x that have their sums together, and share the y and z of their distances.
constexpr int POINTS_OF_A_ROW = 8;

// Numbers a point has: potential, and field.
constexpr int MAP_VALUES = 4;

// Points in a row, relative to the origin of the charges. Where there are fewer than POINTS_OF_A_ROW the last x is repeated.
template <class Real> struct RowOfPoints {
  Real x[POINTS_OF_A_ROW];
  Real y, z;
  int n;    // 1, or POINTS_OF_A_ROW
};

// Charges near a row, relative to the same origin.
template <class Real> struct NearCharges {
  int n;
  const Real *x, *y, *z, *q;
};

// Adds to sums, [row.n][MAP_VALUES], the potentials, and fields where the kernel is one of these. Returns the number of
// distances computed.
template <class Real>
using MapRowFunction = double (*)(const MapConstants<Real> &, const NearCharges<Real> &,
                                  const RowOfPoints<Real> &, double *sums);

// Sets to 1 those of near, [row.n], of points that a charge is nearer to than a squared radius.
template <class Real>
using FindNearFunction = void (*)(Real radius_sq, const NearCharges<Real> &,
                                  const RowOfPoints<Real> &, char *near);

template <class Real> struct MapKernels {
  MapRowFunction<Real> row[2][2];    // [one point alone][with field]
  FindNearFunction<Real> find_near;
};

// Real float for SINGLE and MIXED, double for DOUBLE.
template <class Real> MapKernels<Real> select_map_kernels(const MapOptions &, Precision);

}    // namespace gpucoord

#endif
