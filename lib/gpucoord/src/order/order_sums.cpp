// Part of GPUCOORD, GPL-2.0. The sequence of an order parameter of sums over partners, and its
// reference.

#include "order_sums.h"

#include "reference_pairs.h"

#include <algorithm>

namespace gpucoord {

OrderOfSums::OrderOfSums(int nsums_in, const AtomFunctionOptions &function_in, int nthreads_in) :
    nsums(nsums_in), nthreads(std::max(1, nthreads_in)), function(function_in)
{
}

OrderResult OrderOfSums::compute(const OrderInput &in, unsigned want, double *peratom,
                                 const OrderNumbers &numbers)
{
  OrderResult result;
  const AtomList &a = in.cells.a;
  sums.clear(in.nall, nsums);
  add_sums(in, result);
  values.value.assign(in.nall, 0.0);
#pragma omp parallel for schedule(static) num_threads(nthreads) if (a.nowned > 1024)
  for (int k = 0; k < a.nowned; ++k) values.value[a.index[k]] = value(sums[a.index[k]]);
  values.evaluate(function, in, nthreads, result);
  values.write(a, numbers, want, peratom, nthreads);
  if (!(want & (DERIVATIVES | VIRIAL))) return result;
  weights.clear(in.nall, nsums);
#pragma omp parallel for schedule(static) num_threads(nthreads) if (a.nowned > 1024)
  for (int k = 0; k < a.nowned; ++k) {
    const int row = a.index[k];
    for (int n = 0; n < nsums; ++n)
      weights[row][n] = weight(n, sums[row][n], values.value[row], values.dSdv[row]);
  }
  in.exchange.forward(weights.all.data(), nsums);
  add_forces(in, want, peratom, result);
  return result;
}

void ReferenceSums::add_sums(const OrderInput &in, OrderResult &result)
{
  const AtomList &a = in.cells.a, &partners = partners_of(in);
  double d[3], gradient[3];
  for (int k = 0; k < a.nowned; ++k) {
    bool any = false;
    for (int p = 0; p < partners.n; ++p) {
      const int i = a.index[k], j = partners.index[p];
      if (i == j || set_vector(in, i, j, d) > range) continue;
      any = true;
      for (int n = 0; n < nsums; ++n) sums[i][n] += term(in, n, j, d, gradient);
    }
    if (any) ++result.natoms_with_partners;
  }
}

void ReferenceSums::add_forces(const OrderInput &in, unsigned want, double *peratom,
                               OrderResult &result)
{
  add_gradients(in, want, false, peratom, result, [&](int i, int j, double *d, double *g) {
    if (i == j || set_vector(in, i, j, d) > range) return false;
    double gradient[3];
    std::fill_n(g, 3, 0.0);
    for (int n = 0; n < nsums; ++n) {
      term(in, n, j, d, gradient);
      for (int c = 0; c < 3; ++c) g[c] += weights[i][n] * gradient[c];
    }
    return true;
  });
}

}    // namespace gpucoord
