// Part of GPUCOORD, GPL-2.0. Order parameters v_i of atoms, and their function.

#include "order_values.h"

#include "gpucoord/bytes_of.h"

#include <cmath>

namespace gpucoord {

void set_bad(const AtomList &a, const double *v, const double *f, const double *dSdv,
             OrderResult &result)
{
  for (int k = 0; k < a.nowned; ++k) {
    if (std::isfinite(f[k]) && std::isfinite(dSdv[k])) continue;
    const int row = a.index[k];
    if (result.bad >= 0 && result.bad < row) continue;
    result.bad = row;
    result.order_of_bad = v[k];
  }
}

void OrderValues::evaluate(AtomFunction &function, const OrderInput &in, int nthreads,
                           OrderResult &result)
{
  const AtomList &a = in.cells.a;
  std::vector<double> v(a.nowned), f_of_a(a.nowned), dSdv_of_a(a.nowned);
  f.assign(value.size(), 0.0);
  dSdv.assign(value.size(), 0.0);
  for (int k = 0; k < a.nowned; ++k) v[k] = value[a.index[k]];
  const auto found = function.evaluate(a.nowned, v.data(), f_of_a.data(), dSdv_of_a.data(),
                                       in.exchange.reduce, nthreads, in.weights);
  result.value = found.value;
  for (int k = 0; k < a.nowned; ++k) {
    const int row = a.index[k];
    f[row] = f_of_a[k];
    dSdv[row] = dSdv_of_a[k];
  }
  if (found.bad >= 0) set_bad(a, v.data(), f_of_a.data(), dSdv_of_a.data(), result);
}

void OrderValues::write(const AtomList &a, const OrderNumbers &numbers, unsigned want,
                        double *peratom, int nthreads) const
{
#pragma omp parallel for schedule(static) num_threads(nthreads) if (a.nowned > 1024)
  for (int k = 0; k < a.nowned; ++k) {
    const int row = a.index[k];
    if (peratom) peratom[peratom_columns(want) * static_cast<std::size_t>(row)] += value[row];
    if (numbers.order) numbers.order[row] = value[row];
    if (numbers.f) numbers.f[row] = f.empty() ? value[row] : f[row];
  }
}

std::size_t OrderValues::bytes() const
{
  return bytes_of(value, f, dSdv);
}

}    // namespace gpucoord
