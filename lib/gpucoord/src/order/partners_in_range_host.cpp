// Part of GPUCOORD, GPL-2.0. The partners of atoms within range on the host.

#include "partners_in_range_host.h"

#include "../core/run_in_parallel.h"
#include "../switching/forms.h"
#include "../switching/switch_dispatch.h"

#include "gpucoord/bytes_of.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpucoord {

namespace {

  constexpr std::int64_t TASKS_PER_BLOCK = 16;

}    // namespace

template <class Real>
PartnersInRangeHost<Real>::PartnersInRangeHost(const SwitchTable &table_in, int nthreads_in) :
    table(table_in), range(table.dmax()), nthreads(nthreads_in),
    keep_near_box(select_keep_near_box<Real>()), scratch(nthreads)
{
  for (const Switch &function : table.functions()) {
    constants.push_back(make_constants<Real>(function));
    range_sq.push_back(constants.back().dmax_sq);
    for (Scratch &s : scratch) s.custom.push_back(function.make_custom());
  }
}

template <class Real>
PartnersInRangeHost<Real>::PartnersInRangeHost(double range_in, int nthreads_in) :
    table(0), range(range_in), nthreads(nthreads_in),
    range_sq(1, static_cast<Real>(std::fmin(range * range, std::numeric_limits<Real>::max()))),
    keep_near_box(select_keep_near_box<Real>()), scratch(nthreads)
{
}

template <class Real>
void PartnersInRangeHost<Real>::find(const CellGrid &grid, const CellBins &i, const CellBins &j,
                                     const PairTypes &types)
{
  tasks.make(grid, i, nthreads);
  const auto n = static_cast<std::int64_t>(tasks.all().size());
  used = static_cast<std::size_t>((n + TASKS_PER_BLOCK - 1) / TASKS_PER_BLOCK);
  if (found.size() < used) found.resize(used);
  run_in_parallel(static_cast<std::int64_t>(used), nthreads, [&](std::int64_t b) {
    PartnerBlock<Real> &block = found[b];
    Scratch &s = scratch[omp_get_thread_num()];
    s.invalidate(grid);
    block.atom.clear();
    block.first.assign(1, 0);
    for (auto *numbers : {&block.x, &block.y, &block.z, &block.r}) numbers->clear();
    block.row.clear();
    block.function.clear();
    const std::int64_t end = std::min(n, (b + 1) * TASKS_PER_BLOCK);
    for (std::int64_t t = b * TASKS_PER_BLOCK; t < end; ++t)
      find_in_task(grid, i, j, types, tasks.all()[t], s, block);
    if (!constants.empty()) evaluate(s, block);
  });
}

template <class Real>
void PartnersInRangeHost<Real>::find_in_task(const CellGrid &grid, const CellBins &bi,
                                             const CellBins &bj, const PairTypes &types,
                                             const CellTask &task, Scratch &s,
                                             PartnerBlock<Real> &block) const
{
  const CellCandidates candidates = collect_candidates(keep_near_box, range, grid, bi, bj, task, s);
  const bool has_types = table.ntypes() > 0, has_functions = !constants.empty();
  for (int p = task.begin; p < task.end; ++p) {
    if (!bi.owned[p]) continue;
    const int row = bi.row[p];
    const Real xi = static_cast<Real>(bi.x[p] - candidates.origin[0]),
               yi = static_cast<Real>(bi.y[p] - candidates.origin[1]),
               zi = static_cast<Real>(bi.z[p] - candidates.origin[2]);
    for (int k = 0; k < candidates.count; ++k) {
      const Real dx = s.x[k] - xi, dy = s.y[k] - yi, dz = s.z[k] - zi;
      const Real r_sq = dx * dx + dy * dy + dz * dz;
      const int other = bj.row[s.index[k]];
      int function = 0;
      if (has_types) {
        function = table.function_of(types.type[row], types.type[other]);
        if (function == SwitchTable::NONE) continue;
      }
      if (!(r_sq <= range_sq[function]) || other == row) continue;
      block.x.push_back(dx);
      block.y.push_back(dy);
      block.z.push_back(dz);
      if (has_functions) block.r.push_back(r_sq);    // evaluate() takes the square root
      block.row.push_back(other);
      if (has_types) block.function.push_back(function);
    }
    block.atom.push_back(row);
    block.first.push_back(block.row.size());
  }
}

// Sets s and ds/dr, and turns displacements into unit vectors.
template <class Real>
void PartnersInRangeHost<Real>::evaluate(Scratch &scratch_of_thread,
                                         PartnerBlock<Real> &block) const
{
  const std::size_t n = block.row.size();
  block.s.assign(n, Real(0));
  block.ds.assign(n, Real(0));    // first set to (ds/dr)/r
  const auto for_each = [&](int index, const auto &work) {
    for (std::size_t k = 0; k < n; ++k)
      if (block.function.empty() || block.function[k] == index) work(k);
  };
  for (int index = 0; index < static_cast<int>(constants.size()); ++index) {
    const SwitchConstants<Real> &c = constants[index];
    if (CustomFunction *const custom = scratch_of_thread.custom[index].get()) {
      for_each(index, [&](std::size_t k) {
        const double r = std::sqrt(static_cast<double>(block.r[k]));
        block.s[k] = c.top;
        if (!(r > c.d0)) return;
        double value, derivative;
        custom->evaluate((r - c.d0) * c.inv_r0, value, derivative);
        block.s[k] = static_cast<Real>(value * c.stretch + c.shift);
        block.ds[k] = static_cast<Real>(derivative * c.stretch * c.inv_r0 / r);
      });
    } else
      visit_formula(table.functions()[index], [&](auto formula) {
        for_each(index, [&](std::size_t k) {
          formula.eval(c, block.r[k], block.s[k], block.ds[k]);
        });
      });
  }
  for (std::size_t k = 0; k < n; ++k) {
    const Real r = std::sqrt(block.r[k]), inverse = r > 0 ? 1 / r : Real(0);
    block.r[k] = r;
    block.ds[k] *= r;
    block.x[k] *= inverse;
    block.y[k] *= inverse;
    block.z[k] *= inverse;
  }
}

template <class Real> std::size_t PartnersInRangeHost<Real>::bytes() const
{
  std::size_t total = bytes_of(scratch, tasks);
  for (const auto &block : found)
    total += bytes_of(block.x, block.y, block.z, block.r, block.s, block.ds, block.atom, block.row,
                      block.function, block.first);
  return total;
}

template class PartnersInRangeHost<float>;
template class PartnersInRangeHost<double>;

}    // namespace gpucoord
