// Part of GPUCOORD, GPL-2.0. The partners of an atom, as kernels of order parameters on the host
// read them.

#ifndef GPUCOORD_PARTNER_VECTORS_HOST_H
#define GPUCOORD_PARTNER_VECTORS_HOST_H

namespace gpucoord {

// Partners with a switching function.
template <class Real> struct Partners {
  int n;
  const Real *x, *y, *z;    // [n] unit vector from the atom to the partner; 0 if r is 0
  const Real *r;            // [n] distance
  const Real *s, *ds;       // [n] s(r) and ds/dr
  const int *row;           // [n] row of the partner
};

// Partners without one.
template <class Real> struct PartnerVectors {
  int n;
  const Real *x, *y, *z;    // [n] vectors from the atom to the partners, distance
  const int *row;           // [n] row of the partner
};

}    // namespace gpucoord

#endif
