// Part of GPUCOORD, GPL-2.0. Sums over charges for a row of a few points, on the host.

#ifndef GPUCOORD_MAP_KERNELS_HOST_H
#define GPUCOORD_MAP_KERNELS_HOST_H

#include "map_formulas.h"

namespace gpucoord {

// Number of points along x that are summed together and share the y and z of their distances.
constexpr int POINTS_PER_ROW = 8;

// Values per point: the potential, and the field.
constexpr int MAP_VALUES = 4;

// Points in a row, relative to the origin of the charges. If there are fewer than POINTS_PER_ROW
// points, the last x is repeated.
template <class Real> struct RowOfPoints {
  Real x[POINTS_PER_ROW];
  Real y, z;
  int n;    // 1 or POINTS_PER_ROW
};

// Charges near a row, relative to the same origin.
template <class Real> struct NearCharges {
  int n;
  const Real *x, *y, *z, *q;
};

// Adds the potentials and, if the kernel computes them, the fields to sums, [row.n][MAP_VALUES].
// Returns the number of computed distances.
template <class Real>
using MapRowFunction = double (*)(const MapConstants<Real> &, const NearCharges<Real> &,
                                  const RowOfPoints<Real> &, double *sums);

// Sets near[p], [row.n], to 1 for points p that are nearer to a charge than sqrt(radius_sq).
template <class Real>
using FindNearFunction = void (*)(Real radius_sq, const NearCharges<Real> &,
                                  const RowOfPoints<Real> &, char *near);

template <class Real> struct MapKernels {
  MapRowFunction<Real> row[2][2];    // [single point][with field]
  FindNearFunction<Real> find_near;
};

// Returns the kernels of a precision. Real is float for SINGLE and MIXED, and double for DOUBLE.
template <class Real> MapKernels<Real> select_map_kernels(const MapOptions &, Precision);

}    // namespace gpucoord

#endif
