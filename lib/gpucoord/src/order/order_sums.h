// Part of GPUCOORD, GPL-2.0. Order parameters v_i that are functions of a few sums k_i over the
// partners of an atom within one range, on the host: their sequence, and its two forms.
//
// Pass 1 computes the sums of each atom. Pass 2 computes forces from dS/dk of the atom and of its
// partners; dS/dk of ghost atoms is exchanged before it. Every owned atom sums over all its
// partners in a fixed order, and blocks of atoms are added in order. Not for nvcc.

#ifndef GPUCOORD_ORDER_SUMS_H
#define GPUCOORD_ORDER_SUMS_H

#include "host_order.h"
#include "order_host.h"
#include "order_values.h"

#include "gpucoord/order_parameter.h"

#include <limits>
#include <vector>

namespace gpucoord {

class OrderOfSums : public HostOrder {
 public:
  int exchange_columns() const final { return nsums; }
  std::size_t bytes() const override { return bytes_of(sums, weights, values); }

 protected:
  OrderOfSums(int nsums, const AtomFunctionOptions &, int nthreads);

  // Returns v of the sums of an atom; and dS/dk of its sum n, which is k.
  virtual double value(const double *sums_of_atom) const { return sums_of_atom[0]; }
  virtual double weight(int /*n*/, double /*k*/, double /*v*/, double dSdv) const { return dSdv; }

  // Sets the sums of the owned atoms of a, which are 0, and the number of atoms with partners.
  virtual void add_sums(const OrderInput &, OrderResult &) = 0;
  virtual void add_forces(const OrderInput &, unsigned want, double *peratom, OrderResult &) = 0;

  const int nsums, nthreads;
  RowNumbers sums, weights;    // k; dS/dk

 private:
  OrderResult compute(const OrderInput &, unsigned want, double *peratom,
                      const OrderNumbers &) final;

  AtomFunction function;
  OrderValues values;
};

// Pair terms in Real: OpenMP over blocks of atoms.
template <class Real> class HostSums : public OrderOfSums {
 public:
  std::size_t bytes() const override { return OrderOfSums::bytes() + bytes_of(pairs); }

 protected:
  HostSums(int nsums_in, double range, const AtomFunctionOptions &function_in, int nthreads_in) :
      OrderOfSums(nsums_in, function_in, nthreads_in), pairs(range, range, nthreads)
  {
  }

  // Adds the terms of partners to k, [nsums]. types: [nall] of the input
  virtual void sum(const PartnerVectors<Real> &, const int *types, double *k) const = 0;
  // Adds the vector H, the sum over partners of the gradient of the terms of the pair, each times
  // its weight, with respect to the vector to the partner; then H_a d_b in the order xx yy zz xy xz
  // yz. own: [nsums] weights of the atom; others: [nall][nsums]; null: 0. own_type: 0 without types
  virtual void sum_forces(const PartnerVectors<Real> &, const int *types, int own_type,
                          const Real *own, const Real *others, double *forces) const = 0;

 private:
  using Block = PartnerBlock<Real>;

  void add_sums(const OrderInput &in, OrderResult &result) override
  {
    const double start = seconds();
    pairs.find(in.cells);
    result.timings.bins = seconds() - start;
    result.natoms_with_partners = pairs.natoms_with_partners();
    for_each_block(pairs.partners_a, nthreads, [&](const Block &block, std::size_t) {
      for (std::size_t k = 0; k < block.atom.size(); ++k)
        sum(block.vectors_of(k), in.cells.types.type, sums[block.atom[k]]);
    });
  }

  // Weights far below rounding would give denormal numbers, which are many times slower.
  void add_forces(const OrderInput &in, unsigned want, double *peratom,
                  OrderResult &result) override
  {
    const double smallest = std::sqrt(static_cast<double>(std::numeric_limits<Real>::min()));
    const int *const types = in.cells.types.type;
    pairs.add_forces(weights, smallest, want, peratom, result,
                     [&](const Block &block, std::size_t k, const Real *own, const Real *others,
                         double *forces) {
                       sum_forces(block.vectors_of(k), types, types ? types[block.atom[k]] : 0, own,
                                  others, forces);
                     });
  }

  OrderPartners<Real> pairs;
};

// The definition as plain loops over all pairs, a reference for testing the others.
class ReferenceSums : public OrderOfSums {
 protected:
  ReferenceSums(int nsums_in, double range_in, const AtomFunctionOptions &function_in) :
      OrderOfSums(nsums_in, function_in, 1), range(range_in)
  {
  }

  // Returns the term of a pair in sum n, and sets its gradient with respect to d, the vector to the
  // partner in row j.
  virtual double term(const OrderInput &, int n, int j, const double *d,
                      double *gradient) const = 0;

 private:
  void add_sums(const OrderInput &, OrderResult &) override;
  void add_forces(const OrderInput &, unsigned want, double *peratom, OrderResult &) override;

  const double range;
};

}    // namespace gpucoord

#endif
