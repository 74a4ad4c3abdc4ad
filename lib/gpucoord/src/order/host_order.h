// Part of GPUCOORD, GPL-2.0. The base class of order parameters on the host: backends and
// references. It counts the exchanges of an evaluation, so that the remaining ones can be made
// after an exception.

#ifndef GPUCOORD_HOST_ORDER_H
#define GPUCOORD_HOST_ORDER_H

#include "../core/clock.h"

#include "gpucoord/order_parameter.h"

namespace gpucoord {

class HostOrder : public OrderParameter {
 public:
  OrderResult evaluate(const OrderInput &in, unsigned want, double *peratom,
                       const OrderNumbers &numbers) final
  {
    nskipped = nexchanged = 0;
    check_input(in);
    const double start = seconds();
    OrderResult result = count(in, want, want & DERIVATIVES ? peratom : nullptr, numbers);
    result.timings.pairs = seconds() - start - result.timings.bins;
    return result;
  }

  // Evaluates without atoms, and leaves out the exchanges that have been made.
  void complete_exchanges(const OrderInput &in, unsigned want) final
  {
    OrderInput without_atoms = in;
    for (AtomList *const list : {&without_atoms.cells.a, &without_atoms.cells.b})
      list->n = list->nowned = 0;
    nskipped = nexchanged;
    count(without_atoms, want, nullptr, {});
  }

 protected:
  // Throws std::invalid_argument if the order parameter does not support the input.
  virtual void check_input(const OrderInput &) const {}
  // Evaluates an input that is supported, possibly without atoms. The number and the kinds of its
  // exchanges depend only on 'want'. peratom is null if want lacks DERIVATIVES. Sets the time to
  // find bins.
  virtual OrderResult compute(const OrderInput &, unsigned want, double *peratom,
                              const OrderNumbers &) = 0;

 private:
  // Evaluates, and counts the exchanges.
  OrderResult count(const OrderInput &in, unsigned want, double *peratom,
                    const OrderNumbers &numbers)
  {
    nexchanged = 0;
    OrderInput counted = in;
    counted.exchange.forward = [this, &in](double *rows, int columns) {
      if (nexchanged >= nskipped) in.exchange.forward(rows, columns);
      ++nexchanged;    // not after an exception
    };
    counted.exchange.reduce = [this, &in](double *sums, int n, AtomFunction::Reduction by) {
      if (nexchanged >= nskipped) in.exchange.reduce(sums, n, by);
      ++nexchanged;
    };
    const OrderResult result = compute(counted, want, peratom, numbers);
    nexchanged = 0;
    return result;
  }

  int nexchanged = 0;    // exchanges and reductions so far in this evaluation
  int nskipped = 0;      // first ones that complete_exchanges() leaves out
};

}    // namespace gpucoord

#endif
