// Part of GPUCOORD, GPL-2.0. Real spherical harmonics of one degree l.
//
// R_0 = P_l(z), and for m = 1 to l
//   R_(2m-1) = p_m Re (x + iy)^m,  R_(2m) = p_m Im (x + iy)^m,
//   p_m = sqrt(2 (l-m)!/(l+m)!) d^m P_l/dz^m,
// for a unit vector (x, y, z). They are orthogonal, and the sum of their squares is 1. R_k is the
// real or imaginary part of sqrt(4 pi/(2l+1)) Y_lm, times sqrt(2) for m > 0. Norms and scalar
// products over all m therefore equal those of vectors of 2l+1 numbers. R_k(-d) = (-1)^l R_k(d).
//
// From Legendre's equation, with n_m = sqrt((l-m)(l+m+1)),
//   p_m = (2(m+1) z p_(m+1) - n_(m+1) (1-z^2) p_(m+2))/n_m,  p_(l+1) = 0,
//   dp_m/dz = n_m p_(m+1),
// where p_0 has an additional factor sqrt(1/2). The recursion runs downward in m, which loses no
// digits.

#ifndef GPUCOORD_HARMONICS_H
#define GPUCOORD_HARMONICS_H

#include "gpucoord/orient_order.h"

#include <cmath>

namespace gpucoord {

template <class Real> struct HarmonicTable {
  int l;
  Real last;    // p_l
  // p_m = next_factor[m] z p_(m+1) - second_factor[m] (1-z^2) p_(m+2), dp_m/dz =
  // derivative_factor[m] p_(m+1)
  Real next_factor[MAX_L + 1], second_factor[MAX_L + 1], derivative_factor[MAX_L + 1];
};

template <class Real> HarmonicTable<Real> make_harmonic_table(int l)
{
  HarmonicTable<Real> table = {};
  table.l = l;
  double last = std::sqrt(2.0);    // sqrt(2/(2l)!) (2l-1)!!
  for (int k = 1; k <= l; ++k) last *= std::sqrt((2.0 * k - 1.0) / (2.0 * k));
  table.last = static_cast<Real>(last);
  const auto n = [l](int m) {
    return std::sqrt(static_cast<double>((l - m) * (l + m + 1)));
  };
  for (int m = 0; m < l; ++m) {
    const double factor = m == 0 ? std::sqrt(0.5) : 1.0;
    table.next_factor[m] = static_cast<Real>(factor * 2.0 * (m + 1) / n(m));
    table.second_factor[m] = static_cast<Real>(factor * n(m + 1) / n(m));
    table.derivative_factor[m] = static_cast<Real>(factor * n(m));
  }
  return table;
}

}    // namespace gpucoord

#endif
