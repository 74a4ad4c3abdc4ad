// Part of GPUCOORD, GPL-2.0. Order parameters v_i of atoms, and their function.

#ifndef GPUCOORD_ORDER_VALUES_H
#define GPUCOORD_ORDER_VALUES_H

#include "gpucoord/order_parameter.h"

#include <cstddef>
#include <vector>

namespace gpucoord {

// Sets result.bad to the smallest row among the owned atoms of a whose f or dS/dv is not finite. v,
// f, dSdv: [a.nowned]
void set_bad(const AtomList &a, const double *v, const double *f, const double *dSdv,
             OrderResult &);

struct OrderValues {
  std::vector<double> value, f, dSdv;    // by row: v; f(v), dS/dv, empty without a function

  // Sets S, and f and dS/dv of the owned atoms of a.
  void evaluate(AtomFunction &, const OrderInput &, int nthreads, OrderResult &);
  // Writes v and f of the owned atoms of a, but not w_hat. peratom may be null.
  void write(const AtomList &a, const OrderNumbers &, unsigned want, double *peratom,
             int nthreads) const;
  std::size_t bytes() const;
};

}    // namespace gpucoord

#endif
