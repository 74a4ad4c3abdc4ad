// Part of GPUCOORD, GPL-2.0. Shared pieces of the host backends of order parameters: per-row
// numbers, the partners of both groups, and sums of forces. Not for nvcc, whose host code has no
// OpenMP.

#ifndef GPUCOORD_ORDER_HOST_H
#define GPUCOORD_ORDER_HOST_H

#include "order_values.h"
#include "partners_in_range_host.h"

#include "../core/run_in_parallel.h"
#include "../pairs/cell_bins_host.h"
#include "../pairs/cell_tasks_host.h"
#include "../pairs/weights_host.h"

#include "gpucoord/bytes_of.h"
#include "gpucoord/order_parameter.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpucoord {

// Per-row numbers, [nall][columns].
struct RowNumbers {
  int columns = 0;
  std::vector<double> all;
  void clear(int nall, int columns_in)
  {
    columns = columns_in;
    all.assign(static_cast<std::size_t>(nall) * columns, 0.0);
  }
  double *operator[](int row) { return all.data() + static_cast<std::size_t>(row) * columns; }
  const double *operator[](int row) const
  {
    return all.data() + static_cast<std::size_t>(row) * columns;
  }
  std::size_t bytes() const { return bytes_of(all); }
};

// Runs work(block, index of the block) in parallel.
template <class Real, class Work>
void for_each_block(const PartnersInRangeHost<Real> &partners, int nthreads, const Work &work)
{
  run_in_parallel(static_cast<std::int64_t>(partners.nblocks()), nthreads, [&](std::int64_t b) {
    work(partners.block(b), static_cast<std::size_t>(b));
  });
}

// Calls sum(block, k, sums) for each atom k of each block. It sets the sums: H, then H_a d_b in the
// order xx yy zz xy xz yz. Subtracts unit times the sums from the forces and virials of the atoms,
// and unit times virial_scale times the sums from the total virial. virial_scale is 1/2 if W counts
// each pair from both ends. Blocks are added in order.
template <class Real, class Sum>
void add_forces_of_blocks(const PartnersInRangeHost<Real> &partners, int nthreads, double unit,
                          double virial_scale, unsigned want, double *peratom, OrderResult &result,
                          const Sum &sum)
{
  struct Virial {
    double w[6] = {};
  };
  std::vector<Virial> virials(partners.nblocks());
  for_each_block(partners, nthreads, [&](const PartnerBlock<Real> &block, std::size_t b) {
    for (std::size_t k = 0; k < block.atom.size(); ++k) {
      double sums[9] = {};
      sum(block, k, sums);
      if (want & VIRIAL)
        for (int c = 0; c < 6; ++c) virials[b].w[c] -= unit * sums[3 + c];
      if (!peratom) continue;
      double *const out = peratom + peratom_columns(want) * static_cast<std::size_t>(block.atom[k]);
      for (int c = 1; c < peratom_columns(want); ++c) out[c] -= unit * sums[c - 1];
    }
  });
  for (const Virial &block : virials)
    for (int c = 0; c < 6; ++c) result.virial[c] += virial_scale * block.w[c];
}

// The partners of the atoms of a and, with two groups, of those of b.
template <class Real> class OrderPartners {
 public:
  // range: see the constructors of PartnersInRangeHost
  template <class Range>
  OrderPartners(const Range &range, double longest_in, int nthreads_in) :
      partners_a(range, nthreads_in), partners_b(range, nthreads_in), longest(longest_in),
      nthreads(nthreads_in)
  {
  }

  void find(const CellsInput &in)
  {
    const bool two = in.b.index != nullptr;
    const CellGrid grid = make_cell_grid(in.x, in.a, in.b, longest, nthreads);
    bins_a.build(grid, in.x, in.a, nthreads);
    if (two) bins_b.build(grid, in.x, in.b, nthreads);
    partners_a.find(grid, bins_a, two ? bins_b : bins_a, in.types);
    if (two) partners_b.find(grid, bins_b, bins_a, in.types);
    has_two_groups = two;
  }

  // Returns the number of atoms of a with partners.
  std::int64_t natoms_with_partners() const
  {
    std::int64_t n = 0;
    for (std::size_t b = 0; b < partners_a.nblocks(); ++b) {
      const PartnerBlock<Real> &block = partners_a.block(b);
      for (std::size_t k = 0; k < block.atom.size(); ++k)
        if (block.first[k + 1] > block.first[k]) ++n;
    }
    return n;
  }

  // Adds the forces and the virial of terms with weights of both atoms of a pair.
  // sum(block, k, own, others, sums): see add_forces_of_blocks(); own: weights of the atom,
  // [columns]; others: those of all rows; null: 0. They are divided by a power of two and rounded;
  // those below 'smallest' are 0.
  template <class Sum>
  void add_forces(const RowNumbers &weights, double smallest, unsigned want, double *peratom,
                  OrderResult &result, const Sum &sum)
  {
    const std::size_t n = weights.all.size();
    const double unit = unit_of(weights.all.data(), static_cast<std::int64_t>(n), nthreads);
    if (unit == 0.0) return;
    rounded.resize(n);
#pragma omp parallel for schedule(static) num_threads(nthreads)
    for (std::size_t k = 0; k < n; ++k) {
      const double w = weights.all[k] / unit;
      rounded[k] = std::fabs(w) < smallest ? Real(0) : static_cast<Real>(w);
    }
    const std::vector<Real> nothing(weights.columns, Real(0));
    const auto pass = [&](const PartnersInRangeHost<Real> &partners, bool with_own,
                          bool with_others, double virial_scale) {
      add_forces_of_blocks(partners, nthreads, unit, virial_scale, want, peratom, result,
                           [&](const PartnerBlock<Real> &block, std::size_t k, double *sums) {
                             const Real *const own = rounded.data() +
                                 static_cast<std::size_t>(block.atom[k]) * weights.columns;
                             sum(block, k, with_own ? own : nothing.data(),
                                 with_others ? rounded.data() : nullptr, sums);
                           });
    };
    pass(partners_a, true, !has_two_groups, has_two_groups ? 1.0 : 0.5);
    if (has_two_groups && peratom) pass(partners_b, false, true, 0.0);
  }

  std::size_t bytes() const
  {
    return bytes_of(partners_a, partners_b, bins_a, bins_b, rounded);
  }

  PartnersInRangeHost<Real> partners_a, partners_b;

 private:
  const double longest;    // longest range of all functions, distance
  const int nthreads;
  CellBins bins_a, bins_b;
  bool has_two_groups = false;
  std::vector<Real> rounded;    // weights of the last forces
};

}    // namespace gpucoord

#endif
