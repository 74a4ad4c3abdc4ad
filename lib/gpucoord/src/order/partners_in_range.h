// Part of GPUCOORD, GPL-2.0. Rows of atoms and their partners in range, as kernels of order
// parameters read them. DeviceRows also has partners out of range.

#ifndef GPUCOORD_PARTNERS_IN_RANGE_H
#define GPUCOORD_PARTNERS_IN_RANGE_H

#include "../gpu/four.cuh"
#include "../pairs/device_rows.h"

#include <cuda_runtime.h>

namespace gpucoord {

// Partners in range, in the tiles of the rows (device_rows.h). Each thread of a tile has its own
// partners, four per element.
template <class Real> struct PartnersInRange {
  int *count;            // [32 * number of tiles] number of partners per thread
  int4 *point;           // [elements] indices of their points
  Four<Real> *s, *ds;    // [elements] s(r) and ds/dr
  // [elements] product: u(i).u(j) for DOT and CONNECTIONS; CONNECTIONS replaces it by 1 - sigma of
  // it. derivative: derivative of 1 - sigma; null: 1.
  Four<Real> *product, *derivative;
};

struct PointRows {
  DeviceRows rows;          // in tiles
  const void *points;       // int4 in units, or DeviceAtom
  double unit, per_unit;    // distance, 1/distance
};

template <class Real> struct PartnerRows : PointRows {
  PartnersInRange<Real> partners;
};

// One range for all pairs.
template <class Real> struct PartnersWithin : PartnerRows<Real> {
  Real range_sq;    // distance^2
};

// Enqueues the kernel that lists the points of partners in range, without s and ds. Throws
// DeviceError.
void list_partners_within(const PartnersWithin<float> &, cudaStream_t);
void list_partners_within(const PartnersWithin<double> &, cudaStream_t);

}    // namespace gpucoord

#endif
