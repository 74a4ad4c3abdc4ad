// Part of GPUCOORD, GPL-2.0. Rows of atoms and their partners in range, as kernels of order
// parameters read them. Rows themselves also have partners out of range.

#ifndef GPUCOORD_PARTNER_ROWS_CUDA_H
#define GPUCOORD_PARTNER_ROWS_CUDA_H

#include "../gpu/four.cuh"
#include "../pairs/rows_cuda.h"

#include <cuda_runtime.h>

namespace gpucoord {

// Partners in range, in the tiles of the rows (rows_cuda.h): a thread of a tile has its own, in
// elements of four.
template <class Real> struct PartnersInRange {
  int *count;            // [32 tiles] of each thread
  int4 *point;           // [elements] numbers of their points
  Four<Real> *s, *ds;    // [elements] s(r) and ds/dr
  // [elements] DOT and CONNECTIONS: u(i).u(j); CONNECTIONS: then 1 - sigma of it, and the slope of
  // that. slope null: 1.
  Four<Real> *product, *slope;
};

struct PointRows {
  DeviceRows rows;          // in tiles
  const void *points;       // int4 in units, or DeviceAtom
  double unit, per_unit;    // distance, 1/distance
};

template <class Real> struct PartnerRows : PointRows {
  PartnersInRange<Real> partners;
};

// The same range for all pairs.
template <class Real> struct PartnersWithin : PartnerRows<Real> {
  Real range_sq;    // distance^2
};

// Enqueue the kernel that lists the points of partners in range, without s and ds. Throw
// DeviceError.
void list_partners_within(const PartnersWithin<float> &, cudaStream_t);
void list_partners_within(const PartnersWithin<double> &, cudaStream_t);

}    // namespace gpucoord

#endif
