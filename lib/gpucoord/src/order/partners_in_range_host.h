// Part of GPUCOORD, GPL-2.0. The partners of atoms within range, with or without s(r) and ds/dr.
// They are found once and read by several passes on the host.

#ifndef GPUCOORD_PARTNERS_IN_RANGE_HOST_H
#define GPUCOORD_PARTNERS_IN_RANGE_HOST_H

#include "partner_vectors_host.h"

#include "../expression/custom_function_host.h"
#include "../pairs/cell_bins_host.h"
#include "../pairs/cell_tasks_host.h"
#include "../switching/formula.h"

#include "gpucoord/pairs.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace gpucoord {

// Atoms with their partners. The blocks do not depend on the number of threads.
template <class Real> struct PartnerBlock {
  std::vector<int> atom;             // [atoms] row of the atom
  std::vector<std::size_t> first;    // [atoms + 1] index of the first partner
  // With functions: unit vectors, r, s(r) and ds/dr. Without: vectors to the partners.
  std::vector<Real> x, y, z, r, s, ds;
  std::vector<int> row;
  std::vector<int> function;    // index in the table; empty: at most one function

  Partners<Real> partners(std::size_t k) const
  {
    const std::size_t begin = first[k];
    return {static_cast<int>(first[k + 1] - begin),
            x.data() + begin,
            y.data() + begin,
            z.data() + begin,
            r.data() + begin,
            s.data() + begin,
            ds.data() + begin,
            row.data() + begin};
  }
  PartnerVectors<Real> vectors_of(std::size_t k) const
  {
    const std::size_t begin = first[k];
    return {static_cast<int>(first[k + 1] - begin), x.data() + begin, y.data() + begin,
            z.data() + begin, row.data() + begin};
  }
};

template <class Real> class PartnersInRangeHost {
 public:
  // Finds partners within dmax of the function of their types.
  PartnersInRangeHost(const SwitchTable &, int nthreads);
  // Finds partners within range (distance), without functions.
  PartnersInRangeHost(double range, int nthreads);

  // Finds the partners of the owned atoms of i among the atoms of j.
  void find(const CellGrid &, const CellBins &i, const CellBins &j, const PairTypes &);

  // The blocks of the last find().
  std::size_t nblocks() const { return used; }
  std::size_t bytes() const;
  const PartnerBlock<Real> &block(std::size_t b) const { return found[b]; }

 private:
  struct Scratch : CandidateMemory<Real> {
    std::vector<std::unique_ptr<CustomFunction>> custom;    // [functions] null: not custom
  };
  void find_in_task(const CellGrid &, const CellBins &i, const CellBins &j, const PairTypes &,
                    const CellTask &, Scratch &, PartnerBlock<Real> &) const;
  void evaluate(Scratch &, PartnerBlock<Real> &) const;

  const SwitchTable table;    // empty without functions
  const double range;         // largest range, distance
  const int nthreads;
  std::vector<SwitchConstants<Real>> constants;    // [functions]
  std::vector<Real> range_sq;                      // [functions]; without: [1]
  KeepNearBoxFunction<Real> keep_near_box;
  std::vector<Scratch> scratch;
  CellTasks tasks;
  std::vector<PartnerBlock<Real>> found;
  std::size_t used = 0;
};

}    // namespace gpucoord

#endif
