// Part of GPUCOORD, GPL-2.0. Loops of the references of order parameters over pairs.
//
// S depends on the vectors d_ij = x_j - x_i of ordered pairs of an atom i of a and a partner j. The
// gradient g_ij = dS/dd_ij acts on atom j, and -g_ij on atom i. W is the sum of -g_ij (x) d_ij.

#ifndef GPUCOORD_REFERENCE_PAIRS_H
#define GPUCOORD_REFERENCE_PAIRS_H

#include "gpucoord/order_parameter.h"

#include <cmath>
#include <cstddef>

namespace gpucoord {

inline const AtomList &partners_of(const OrderInput &in)
{
  return in.cells.b.index ? in.cells.b : in.cells.a;
}

// Sets d_ij of two rows, and returns its length.
inline double set_vector(const OrderInput &in, int i, int j, double *d)
{
  for (int c = 0; c < 3; ++c)
    d[c] = in.cells.x[3 * static_cast<std::size_t>(j) + c] -
        in.cells.x[3 * static_cast<std::size_t>(i) + c];
  return std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

// Adds the derivatives of S, and the virial. peratom: may be null. gradient(i, j, d, g): sets d_ij
// and g_ij of two rows, or returns false if the atoms are not partners. is_symmetric: of each pair,
// add the symmetric part of the virial alone.
template <class Gradient>
void add_gradients(const OrderInput &in, unsigned want, bool is_symmetric, double *peratom,
                   OrderResult &result, const Gradient &gradient)
{
  const AtomList &a = in.cells.a, &b = partners_of(in);
  double d[3], g[3];
  // sign: of d_ij in the position of the atom in this row
  const auto add_pair = [&](int row, double sign, bool in_total) {
    const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
    double *const out = peratom ? peratom + peratom_columns(want) * static_cast<std::size_t>(row)
                                : nullptr;
    for (int c = 0; c < 3 && out; ++c) out[1 + c] += sign * g[c];
    for (int c = 0; c < 6; ++c) {
      double w = -g[first[c]] * d[second[c]];
      if (is_symmetric) w = 0.5 * (w - g[second[c]] * d[first[c]]);
      if (in_total && want & VIRIAL) result.virial[c] += w;
      if (out && want & ATOM_VIRIAL) out[4 + c] += w;
    }
  };
  for (int k = 0; k < a.nowned; ++k)
    for (int n = 0; n < b.n; ++n)
      if (gradient(a.index[k], b.index[n], d, g)) add_pair(a.index[k], -1.0, true);
  if (!peratom) return;
  for (int k = 0; k < a.n; ++k)
    for (int n = 0; n < b.nowned; ++n)
      if (gradient(a.index[k], b.index[n], d, g)) add_pair(b.index[n], 1.0, false);
}

}    // namespace gpucoord

#endif
