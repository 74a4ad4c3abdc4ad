// Part of GPUCOORD, GPL-2.0. The host backend of the pair entropy: OpenMP over parts of the atoms,
// SIMD over partners.
//
// 1. Each part of the atoms sums moments of its distances (distance_moments.h); parts are added in
//    order.
// 2. The moments give sums of Gaussians at the nodes, which are added over ranks, and S.
// 3. Each owned atom sums the forces of its pairs.
// Parts do not depend on the number of threads. Pairs are found in both passes, because lists of
// them would take more memory than time.

#include "gpucoord/pair_entropy.h"

#include "../host_order.h"
#include "../order_values.h"
#include "pair_entropy_integral.h"
#include "pair_entropy_kernels_host.h"

#include "../../core/instruction_set.h"
#include "../../core/make_in_precision.h"
#include "../../core/run_in_parallel.h"
#include "../../pairs/cell_bins_host.h"
#include "../../pairs/cell_tasks_host.h"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpucoord {

GPUCOORD_SELECT_KERNELS(PairEntropyKernels, get_pair_entropy_kernels, select_pair_entropy_kernels)

namespace {

  template <class Real> class HostPairEntropy : public HostOrder {
   public:
    HostPairEntropy(const PairEntropyOptions &options_in, int nthreads_in) :
        options(options_in), nthreads(std::max(1, nthreads_in)), range(reach(options)),
        integral(options), kernels(select_pair_entropy_kernels<Real>()),
        keep_near_box(select_keep_near_box<Real>()), scratch(nthreads), g(options.bins),
        dSdsum(options.bins)
    {
      constants.reach_sq = static_cast<Real>(range * range);
      constants.cutoff_sq = static_cast<Real>(options.cutoff * options.cutoff);
      constants.cells_per_distance = static_cast<Real>(integral.cells_per_distance());
    }

    int exchange_columns() const override { return 1; }
    std::vector<double> global_vector() const override { return g; }
    std::size_t bytes() const override
    {
      return bytes_of(integral, bins_a, bins_b, tasks, scratch, values, moments_of_part, moments, g,
                      dSdsum, coefficients);
    }

   private:
    void check_input(const OrderInput &in) const override { check_volume(in.volume); }

    OrderResult compute(const OrderInput &in, unsigned want, double *peratom,
                        const OrderNumbers &numbers) override
    {
      OrderResult result;
      const double start = seconds();
      const CellsInput &cells = in.cells;
      const bool two = cells.b.index != nullptr;
      const CellGrid grid = make_cell_grid(cells.x, cells.a, cells.b, range, nthreads);
      bins_a.build(grid, cells.x, cells.a, nthreads);
      if (two) bins_b.build(grid, cells.x, cells.b, nthreads);
      result.timings.bins = seconds() - start;

      values.value.assign(in.nall, 0.0);
      sum_moments(grid, two ? bins_b : bins_a);
      for (int k = 0; k < cells.a.nowned; ++k)
        if (values.value[cells.a.index[k]] > 0.0) ++result.natoms_with_partners;
      values.write(cells.a, numbers, want, peratom, nthreads);
      std::vector<double> sums(options.bins + 2);
      integral.sum_gaussians(moments.data(), sums.data(), nthreads);
      sums[options.bins] = cells.a.nowned;
      sums[options.bins + 1] = two ? cells.b.nowned : cells.a.nowned;
      in.exchange.reduce(sums.data(), options.bins + 2, AtomFunction::Reduction::SUM);
      const Density density = {sums[options.bins], sums[options.bins + 1], in.volume};
      const PairEntropyValue s = integral.evaluate(sums.data(), density, g.data(), dSdsum.data());
      result.value = s.value;
      if (want & (DERIVATIVES | VIRIAL) && density.has_pairs()) {
        set_coefficients();
        add_forces(grid, bins_a, two ? bins_b : bins_a, two ? 1.0 : 2.0, want, peratom,
                   result.virial);
        if (two && peratom) add_forces(grid, bins_b, bins_a, 1.0, want, peratom, nullptr);
        add_density_term(in, s.by_log_volume, density, want, peratom, result.virial);
      }
      return result;
    }

    // Runs work(row, candidates) for the owned atoms of one task.
    template <class Work>
    void for_each_atom(const CellGrid &grid, const CellBins &bi, const CellBins &bj,
                       const CellTask &task, const Work &work)
    {
      CandidateMemory<Real> &s = scratch[omp_get_thread_num()];
      const CellCandidates found = collect_candidates(keep_near_box, range, grid, bi, bj, task, s);
      for (int p = task.begin; p < task.end; ++p) {
        if (!bi.owned[p]) continue;
        int self = found.own_first;
        while (self < found.own_last && bj.row[s.index[self]] != bi.row[p]) ++self;
        work(bi.row[p],
             PairEntropyCandidates<Real>{found.count, s.x.data(), s.y.data(), s.z.data(),
                                         static_cast<Real>(bi.x[p] - found.origin[0]),
                                         static_cast<Real>(bi.y[p] - found.origin[1]),
                                         static_cast<Real>(bi.z[p] - found.origin[2]),
                                         self < found.own_last ? self : -1});
      }
    }

    // Number of parts of the atoms with moments of their own: enough for load balance, but less
    // for large tables.
    std::int64_t number_of_parts() const
    {
      constexpr std::int64_t MAX_PARTS = 128, MIN_PARTS = 16, TASKS_PER_PART = 16, BYTES = 1 << 27;
      const std::int64_t bytes = sizeof(PowerRow<double>) * integral.ncells();
      const auto ntasks = static_cast<std::int64_t>(tasks.all().size());
      return std::min({MAX_PARTS, (ntasks + TASKS_PER_PART - 1) / TASKS_PER_PART,
                       std::max(MIN_PARTS, BYTES / bytes)});
    }

    // Runs work(number of the part, task) in parallel over parts, in order within a part.
    template <class Work>
    void for_each_part(std::int64_t nparts, const CellGrid &grid, const Work &work)
    {
      const auto ntasks = static_cast<std::int64_t>(tasks.all().size());
      run_in_parallel(nparts, nthreads, [&](std::int64_t part) {
        scratch[omp_get_thread_num()].invalidate(grid);
        const std::int64_t end = ntasks * (part + 1) / nparts;
        for (std::int64_t t = ntasks * part / nparts; t < end; ++t) work(part, tasks.all()[t]);
      });
    }

    void sum_moments(const CellGrid &grid, const CellBins &partners)
    {
      tasks.make(grid, bins_a, nthreads);
      const std::int64_t nparts = number_of_parts();
      const int ncells = integral.ncells();
      if (static_cast<std::int64_t>(moments_of_part.size()) < nparts)
        moments_of_part.resize(nparts);
      run_in_parallel(nparts, nthreads, [&](std::int64_t part) {
        moments_of_part[part].assign(ncells, PowerRow<double>{});
      });
      for_each_part(nparts, grid, [&](std::int64_t part, const CellTask &task) {
        for_each_atom(grid, bins_a, partners, task,
                      [&](int row, const PairEntropyCandidates<Real> &candidates) {
                        values.value[row] = kernels.sum_moments(constants, candidates,
                                                                moments_of_part[part].data());
                      });
      });
      moments.resize(ncells);
#pragma omp parallel for schedule(static) num_threads(nthreads)
      for (int c = 0; c < ncells; ++c) {
        PowerRow<double> sum = {};
        for (std::int64_t part = 0; part < nparts; ++part)
          for (int n = 0; n < NMOMENTS; ++n) sum.v[n] += moments_of_part[part][c].v[n];
        moments[c] = sum;
      }
    }

    void set_coefficients()
    {
      std::vector<PowerRow<double>> exact(integral.ncells());
      integral.set_coefficients(dSdsum.data(), exact.data(), nthreads);
      coefficients.resize(exact.size());
      for (std::size_t c = 0; c < exact.size(); ++c)
        for (int n = 0; n < NMOMENTS; ++n) coefficients[c].v[n] = static_cast<Real>(exact[c].v[n]);
    }

    // Adds the forces of pairs on the owned atoms of bi. factor: terms of S of a pair. virial: of
    // the rank; null: not added.
    void add_forces(const CellGrid &grid, const CellBins &bi, const CellBins &bj, double factor,
                    unsigned want, double *peratom, double *virial)
    {
      struct Virial {
        double w[6] = {};
      };
      tasks.make(grid, bi, nthreads);
      const std::int64_t nparts = number_of_parts();
      std::vector<Virial> virials(nparts);
      for_each_part(nparts, grid, [&](std::int64_t part, const CellTask &task) {
        for_each_atom(grid, bi, bj, task,
                      [&](int row, const PairEntropyCandidates<Real> &candidates) {
                        double sums[NDISTANCE_SUMS] = {};
                        kernels.sum_forces(constants, candidates, coefficients.data(), sums);
                        for (int k = 0; k < 6; ++k) virials[part].w[k] -= sums[3 + k];
                        if (!peratom) return;
                        const int columns = peratom_columns(want);
                        double *const out = peratom + columns * static_cast<std::size_t>(row);
                        for (int k = 1; k < columns; ++k) out[k] -= factor * sums[k - 1];
                      });
      });
      if (virial && want & VIRIAL)
        for (const Virial &part : virials)
          for (int k = 0; k < 6; ++k) virial[k] += part.w[k];
    }

    void add_density_term(const OrderInput &in, double by_log_volume, const Density &density,
                          unsigned want, double *peratom, double *virial) const
    {
      const AtomList &a = in.cells.a, &b = in.cells.b;
      if (want & VIRIAL)
        for (int k = 0; k < 3; ++k) virial[k] -= by_log_volume * a.nowned / density.natoms_a;
      if (!(want & ATOM_VIRIAL) || !peratom) return;
      const auto add_volume_term = [&](const AtomList &atoms, double term) {
        for (int n = 0; n < atoms.nowned; ++n)
          for (int k = 0; k < 3; ++k)
            peratom[peratom_columns(want) * static_cast<std::size_t>(atoms.index[n]) + 4 + k] -=
                term;
      };
      add_volume_term(a, (b.index ? 1.0 : 2.0) * by_log_volume / density.natoms_a);
      if (b.index) add_volume_term(b, by_log_volume / density.natoms_b);
    }

    const PairEntropyOptions options;
    const int nthreads;
    const double range;    // largest distance of pairs
    const PairEntropyIntegral integral;
    const PairEntropyKernels<Real> kernels;
    const KeepNearBoxFunction<Real> keep_near_box;
    PairEntropyConstants<Real> constants;

    CellBins bins_a, bins_b;
    CellTasks tasks;
    std::vector<CandidateMemory<Real>> scratch;                    // [threads]
    OrderValues values;                                            // v: partners within the cutoff
    std::vector<std::vector<PowerRow<double>>> moments_of_part;    // [parts][cells]
    std::vector<PowerRow<double>> moments;                         // [cells] of the rank
    std::vector<double> g, dSdsum;                                 // [bins] g and dS/dsums
    std::vector<PowerRow<Real>> coefficients;                      // [cells] of t^n in dS/dr
  };

}    // namespace

std::unique_ptr<OrderParameter> make_host_order(const PairEntropyOptions &options,
                                                Precision precision, int nthreads)
{
  check_options(options);
  return make_in_precision<OrderParameter, HostPairEntropy>(precision, options, nthreads);
}

}    // namespace gpucoord
