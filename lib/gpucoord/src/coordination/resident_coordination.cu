// Part of GPUCOORD, GPL-2.0. Coordination numbers and pair energies of atoms that are resident on
// the GPU.
//
// An evaluation has one launch that reads positions into points, and one launch over the rows for
// each formula, which also sums S. In the second evaluation of a function of coordination numbers,
// the first launch writes the weights of the points instead. Without partner lists, the cell
// processor runs for each pair of classes, and reductions follow.

#include "gpucoord/counters.h"
#include "gpucoord/resident_coordination.h"

#include "coordination_cuda.h"

#include "../gpu/early_launch.cuh"
#include "../gpu/splits.h"
#include "../gpu/staging.h"
#include "../pairs/add_to_peratom.h"
#include "../pairs/launchers_cuda.h"
#include "../pairs/pair_reduction.h"
#include "../pairs/resident_pairs.h"
#include "../pairs/row_outputs.cuh"
#include "../switching/forms.h"

#include "../pairs/passes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256;

  // Adds the sums of rows to the elements of their atoms.
  __global__ void add_to_atoms(const double *sums, const int *atom, int n, double *s)
  {
    const int r = blockIdx.x * THREADS + threadIdx.x;
    if (r < n) s[atom[r]] += sums[r];
  }

  __global__ void scale_total(WarpSums *total, double factor)
  {
    total->value *= factor;
    for (double &w : total->virial) w *= factor;
  }

  // Results, valid on the host after a wait.
  struct Report {
    WarpSums total;
    DeviceStatus status;
  };

  // One launch is faster than two copies. total: null: there are no rows. report: pinned host
  // memory
  __global__ void write_report(const WarpSums *total, const DeviceStatus *status, Report *report)
  {
    wait_for_previous_kernel();
    if (total) report->total = *total;
    report->status = *status;
  }

  // Implements both interfaces, because both run the same pass over pairs.
  template <class Real>
  class CudaResidentCoordination : public ResidentCoordination, public PairPass {
   public:
    CudaResidentCoordination(const SwitchTable &table, Precision precision,
                             std::shared_ptr<ResidentPairs> pairs_in, const CudaTuning &tuning) :
        pairs(std::move(pairs_in))
    {
      make_functions(table, precision, functions);
      shape.warps_per_block = tuning.warps_per_block;
      if (pairs->classes().size() > 1 && !functions.empty()) make_formulas(form_indices(table));
      shape.multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
      report.reserve(1);
      block_sums.reserve(7 * tuning::MAX_KERNEL_BLOCKS);
      // Kernels write only the requested sums, but write_report() copies all sums.
      send_table(std::vector<WarpSums>(1), total);
      send_table(std::vector<unsigned>{0}, ended);
    }

    // The GPU may still write the report.
    ~CudaResidentCoordination() override { cudaEventSynchronize(reported); }

    void rebuild(const DeviceAtoms &atoms, const DeviceSelection &selection, std::int64_t version,
                 DeviceStream stream) override
    {
      pairs->rebuild(atoms, selection, version, stream);
    }
    std::int64_t natoms_a() const override { return pairs->natoms(0); }
    std::int64_t natoms_b() const override { return pairs->natoms(1); }

    void evaluate(const DeviceAtoms &atoms, const Request &request, DeviceStream stream) override
    {
      begin(atoms, request.positions, stream);
      run({request.want, is_in_float(request)}, stream);
    }
    void evaluate_first(const DeviceAtoms &atoms, std::int64_t positions, double *s,
                        DeviceStream stream) override
    {
      clear_errors();
      // Clear before reading positions. A memset between the kernels would prevent the early launch
      // of the kernel over pairs.
      if (atoms.nlocal > 0)
        check(cudaMemsetAsync(s, 0, atoms.nlocal * sizeof(double), stream), "clearing sums");
      begin(atoms, positions, stream);
      Evaluation first = {VALUE};
      first.s = s;
      run(first, stream);
    }
    void evaluate_second(const Request &request, const DeviceWeights &atom_weights,
                         DeviceStream stream) override
    {
      Points &points = pairs->points();
      const PointWeights point_weights = {atom_weights, pairs->npoints_of_a()};
      const bool fits_float =
          std::fabs(std::log2(atom_weights.unit)) < 60.0;    // gradients then do, too
      Evaluation second = {request.want, is_in_float(request) && fits_float};
      second.is_weighted = true;
      second.unit = atom_weights.unit;
      if (points.are_integers() && pairs->classes().size() == 1)
        points.set_weights(point_weights, stream);
      else {
        weights.reserve(points.size());
        points.get_weights(point_weights, weights.data(), stream);
        second.weights = weights.data();
      }
      run(second, stream);
    }
    bool set_first_column(const double *s, DeviceStream stream) override
    {
      std::vector<int> parts;    // part_i of all rows in group a
      for (const ResidentPairs::Rows &rows : pairs->rows())
        if (rows.view.nvalue > 0) parts.push_back(rows.part_i);
      std::sort(parts.begin(), parts.end());
      if (std::adjacent_find(parts.begin(), parts.end()) != parts.end()) return false;
      const int columns = peratom_columns(wanted);
      const ResidentPairs::Rows *before = nullptr;
      std::size_t first = 0;
      const auto write = [&](const ResidentPairs::Rows &rows) {
        if (&rows != before)    // the passes of further formulas leave column 0 at 0
          write_first_column(s, rows.view, columns, sums.data() + first * columns, stream);
        before = &rows;
        first += rows.view.n;
      };
      if (pairs->in_bins())
        for (const ResidentPairs::Rows &rows : pairs->rows()) write(rows);
      else
        for_each_pass(true, [&](const ResidentPairs::Rows &rows, const auto &) {
          write(rows);
        });
      return true;
    }
    void add_forces_and_tally(const DeviceAtoms &atoms, unsigned want, const DeviceForces &forces,
                              DeviceStream stream) override
    {
      begin(atoms, 0, stream);
      Evaluation evaluation = {want};
      evaluation.forces = &forces;
      run(evaluation, stream);
    }

    void add_forces(const DeviceForces &forces, const ItemFactors &factors,
                    DeviceStream stream) override
    {
      std::size_t first = 0;
      const int columns = peratom_columns(wanted);
      for_each_pass(false, [&](const ResidentPairs::Rows &rows, const auto &) {
        RowGradients row_gradients = {rows.view};
        if (gradients_in_float)
          row_gradients.gradients = gradients.data() + 3 * first;
        else
          row_gradients.sums = sums.data() + first * columns;
        row_gradients.columns = columns;
        subtract_rows(row_gradients, pairs->groups_overlap(), forces, factors.factor(), stream);
        first += rows.view.n;
      });
    }

    void enqueue_result(DeviceStream stream) override
    {
      const WarpSums *const sum = pairs->rows().empty() ? nullptr : total.data();
      launch_kernel("launching write_report", write_report, true, {1, 1}, stream, sum,
                    pairs->points().status(), report.data());
      reported.record(stream);
      is_reported = true;
      copied += sizeof(Report);
    }
    Totals result(DeviceStream stream) override
    {
      if (!is_reported) enqueue_result(stream);
      reported.wait("computing coordination numbers");
      is_reported = false;    // the next call reads the status again
      Totals result;
      const Report &found = report[0];
      if (!pairs->rows().empty()) {
        result.value = found.total.value;
        if (wanted & VIRIAL) std::copy_n(found.total.virial, 6, result.virial);
        if (pairs->in_bins()) result.tested = found.total.tested;
      }
      pairs->points().report(found.status, result, stream);
      return result;
    }

    void discard_errors(DeviceStream stream) override { pairs->points().clear_status(stream); }

    void peratom(double *peratom, DeviceStream stream) override
    {
      enqueue_peratom(stream);
      add_peratom(peratom, nullptr, 1);
    }
    void enqueue_peratom(DeviceStream stream) override
    {
      list_atoms_of_rows(stream);
      const int columns = peratom_columns(wanted);
      const std::size_t size = atom_of_row.size() * columns;
      sums_host.reserve(size);
      arrivals.fetch(sums.data(), atom_of_row.size(), columns, sums_host.data(), stream);
      copied += static_cast<std::int64_t>(size * sizeof(double));
    }
    void add_peratom(double *peratom, const int *row, int nthreads) override
    {
      std::size_t part = 0;
      arrivals.for_each("computing coordination numbers", [&](std::size_t first, std::size_t end) {
        while (first < end) {
          while (part_ends[part] <= first) ++part;
          const std::size_t last = std::min(end, part_ends[part]);
          add_to_peratom(sums_host.data(), peratom_columns(wanted), first, last, atom_of_row.data(),
                         row, nthreads, peratom);
          first = last;
        }
      });
    }

    DeviceValue device_value() const override
    {
      const double *const sum = pairs->rows().empty() ? nullptr : &total.data()->value;
      return {sum, 1.0, pairs->points().status()};
    }
    std::int64_t bytes_copied() const override { return copied + pairs->bytes_copied(); }
    std::size_t bytes() const override
    {
      std::size_t formula_bytes = 0;
      for (const Formula &formula : formulas) formula_bytes += formula.functions->bytes();
      return formula_bytes + pairs->bytes() + sums.bytes() + gradients.bytes() +
          block_sums.bytes() + parts.bytes() + warp_sums.bytes() + queues.bytes() +
          workspace.bytes() + weights.bytes() + sums_host.bytes();
    }

   private:
    struct Evaluation {
      unsigned want;
      bool in_float = false;                        // store gradients in float
      const DeviceForces *forces = nullptr;         // null: forces are not changed
      double *s = nullptr;                          // first pass: destination of the sums of atoms
      bool is_weighted = false;                     // second pass: multiply by weights
      const Real *weights = nullptr;                // [points]; null: next to the positions
      double unit = 1.0;                            // unit of the weights
      bool counts_each_end() const { return s; }    // a pair counts for both of its atoms
    };

    // Functions with the same number (form_numbers()), for all pairs of classes.
    struct Formula {
      std::vector<char> has;    // [functions]
      Launchers<Real> launchers;
      std::unique_ptr<ClassFunctions<Real>> functions;
    };

    void make_formulas(const std::vector<int> &form)
    {
      const int n = 1 + *std::max_element(form.begin(), form.end());
      for (int k = 0; k < n; ++k) {
        Formula &formula = formulas.emplace_back();
        std::vector<const FormulaConstants<Real> *> constants;
        for (std::size_t m = 0; m < functions.size(); ++m) {
          const bool has = form[m] == k;
          if (has) formula.launchers = functions[m].launchers;
          formula.has.push_back(has);
          constants.push_back(has ? &functions[m].constants : nullptr);
        }
        formula.functions = std::make_unique<ClassFunctions<Real>>(pairs->classes(), constants);
      }
    }

    // Calls f(rows, launch) for each pass over rows. launch(arguments, unit of the weights, want,
    // stream) enqueues its kernel. is_weighted: the kernels read weights. The kernel of one
    // function expects the weight in place of the class, and therefore needs a single class.
    // is_weighted does not change the rows.
    template <class F> void for_each_pass(bool is_weighted, F f)
    {
      const bool has_classes = is_weighted && pairs->classes().size() > 1;
      for (const ResidentPairs::Rows &rows : pairs->rows()) {
        const auto &some = pairs->classes_of(rows.part_i), &others = pairs->classes_of(rows.part_j);
        if (some.size() == 1 && others.size() == 1 && !has_classes) {
          const auto &between = pairs->classes()(some.front(), others.front());
          f(rows, [&](RowArguments &arg, double unit, unsigned want, cudaStream_t stream) {
            const SwitchFunction<Real> &function = functions[between.function];
            arg.weight = between.weight * unit;
            function.launchers.partners(arg, function.constants, want, stream);
          });
          continue;
        }
        for (const Formula &formula : formulas) {
          const bool is_used = std::any_of(some.begin(), some.end(), [&](int ci) {
            return std::any_of(others.begin(), others.end(), [&](int cj) {
              const auto &between = pairs->classes()(ci, cj);
              return between.exists() && formula.has[between.function];
            });
          });
          if (is_used)
            f(rows, [&](RowArguments &arg, double unit, unsigned want, cudaStream_t stream) {
              arg.weight = unit;    // the constants include the weights of the pairs
              formula.launchers.partners_by_class(arg, *formula.functions, want, stream);
            });
        }
      }
    }

    // Copies the atoms of the rows from the device, one pass after the other. An atom has at most
    // one row in each part, but may have rows in several parts.
    void list_atoms_of_rows(cudaStream_t stream)
    {
      if (rebuild_of_rows == pairs->nrebuilds()) return;
      atom_of_row.clear();
      part_ends.clear();
      for_each_pass(false, [&](const ResidentPairs::Rows &rows, const auto &) {
        const std::size_t first = atom_of_row.size();
        atom_of_row.resize(first + rows.view.n);
        if (rows.view.atom)
          copy(atom_of_row.data() + first, rows.view.atom, rows.view.n, stream);
        else
          std::iota(atom_of_row.begin() + first, atom_of_row.end(), 0);
        part_ends.push_back(first + rows.view.nvalue);
        part_ends.push_back(first + rows.view.n);
      });
      check(cudaStreamSynchronize(stream), "copying data to the host");
      rebuild_of_rows = pairs->nrebuilds();
    }

    static bool is_in_float(const Request &request)
    {
      return request.for_forces_only && std::is_same<Real, float>::value;
    }

    void begin(const DeviceAtoms &atoms, std::int64_t positions, cudaStream_t stream)
    {
      GPUCOORD_COUNT(DEVICE_COORDINATION);
      clear_errors();
      pairs->update(atoms, positions, stream);
    }

    void run(const Evaluation &evaluation, cudaStream_t stream)
    {
      const unsigned want = wanted = evaluation.want;
      const DeviceForces *const forces = evaluation.forces;
      is_reported = false;
      if (pairs->in_bins()) {
        if (forces) wanted |= DERIVATIVES;
        gradients_in_float = false;
        run_cells(evaluation, stream);
        if (forces) add_forces(*forces, {}, stream);
        return;
      }
      const int columns = peratom_columns(want);
      gradients_in_float = evaluation.in_float && columns == peratom_columns(DERIVATIVES);
      const bool stores =
          columns > 0 && !gradients_in_float && (!forces || columns > peratom_columns(DERIVATIVES));
      std::size_t nrows = 0;
      for_each_pass(evaluation.is_weighted, [&](const ResidentPairs::Rows &rows, const auto &) {
        nrows += rows.view.n;
      });
      if (stores) sums.reserve(nrows * columns);
      if (gradients_in_float) gradients.reserve(3 * nrows);
      std::size_t first = 0;
      for_each_pass(
          evaluation.is_weighted, [&](const ResidentPairs::Rows &rows, const auto &launch) {
            RowArguments arg = {};
            arg.rows = rows.view;
            arg.points = pairs->points().data();
            arg.unit = pairs->points().unit();
            arg.is_weighted = evaluation.is_weighted;
            arg.weights = evaluation.weights;
            arg.value_scale = pairs->has_two_groups() || evaluation.counts_each_end() ? 1.0 : 0.5;
            if (stores) arg.sums = sums.data() + first * columns;
            if (evaluation.s) arg.sums = evaluation.s;
            if (gradients_in_float) arg.gradients = gradients.data() + 3 * first;
            if (forces) arg.forces = *forces;
            arg.block_sums = block_sums.data();
            arg.ended = ended.data();
            arg.total = total.data();
            arg.is_first = first == 0;
            // Kernels exist for VALUE, DERIVATIVES, both with the virial, and all with ATOM_VIRIAL.
            launch(arg, evaluation.unit, want & VIRIAL ? want | DERIVATIVES : want, stream);
            first += rows.view.n;
          });
    }

    // Runs the cell processor on sorted atoms.
    void run_cells(const Evaluation &evaluation, cudaStream_t stream)
    {
      const auto &all = pairs->rows();
      if (all.empty()) return;
      const int columns = evaluation.s ? 1 : peratom_columns(wanted);
      // In the sums of warps, rows that do not count in S come last.
      std::vector<int> nwarps(all.size()), splits(all.size());
      std::vector<std::size_t> first_warp(all.size());
      std::size_t nrows = 0, ntotal = 0, ncounted = 0, nparts = 0;
      for (std::size_t r = 0; r < all.size(); ++r) {
        nrows += all[r].view.n;
        nwarps[r] = (all[r].view.n + 31) / 32;
        splits[r] = splits_of(nwarps[r], tuning::MAX_SPLITS);
        if (splits[r] > 1)
          nparts = std::max(nparts, static_cast<std::size_t>(splits[r]) * all[r].view.n * columns);
      }
      for (const bool counts : {true, false}) {
        for (std::size_t r = 0; r < all.size(); ++r)
          if ((all[r].view.nvalue > 0) == counts) {
            first_warp[r] = ntotal;
            ntotal += static_cast<std::size_t>(nwarps[r]) * splits[r];
          }
        if (counts) ncounted = ntotal;
      }
      sums.reserve(nrows * columns);
      parts.reserve(nparts);
      warp_sums.reserve(ntotal);
      queues.reserve(all.size());
      check(cudaMemsetAsync(queues.data(), 0, all.size() * sizeof(int), stream),
            "clearing the queues");
      std::size_t first = 0;
      for (std::size_t r = 0; r < all.size(); ++r) {
        const auto &between = pairs->classes()(pairs->classes_of(all[r].part_i).front(),
                                               pairs->classes_of(all[r].part_j).front());
        const SwitchFunction<Real> &f = functions[between.function];
        CellsArguments arg = {};
        arg.i = pairs->sorted_atoms(all[r].i);
        arg.j = pairs->sorted_atoms(all[r].j);
        // Each atom may have moved by half the skin since the rebuild.
        set_range(arg, pairs->bins_grid(), f.dmax, 0.5 * pairs->allowed_approach());
        arg.queue = queues.data() + r;
        if (evaluation.is_weighted) {
          arg.weight_i = evaluation.weights + pairs->first_point_of(all[r].i);
          arg.weight_j = evaluation.weights + pairs->first_point_of(all[r].j);
        }
        double *const to = sums.data() + first * columns;
        arg.out = {columns == 0        ? nullptr
                       : splits[r] > 1 ? parts.data()
                                       : to,
                   warp_sums.data() + first_warp[r], splits[r], between.weight * evaluation.unit};
        f.launchers.cells(arg, f.constants, wanted & VIRIAL ? wanted | DERIVATIVES : wanted, shape,
                          stream);
        if (columns > 0 && splits[r] > 1)
          add_splits(parts.data(), splits[r], static_cast<std::size_t>(all[r].view.n) * columns, to,
                     false, stream);
        if (evaluation.s && all[r].view.nvalue > 0) {
          const int n = all[r].view.nvalue;
          add_to_atoms<<<(n + THREADS - 1) / THREADS, THREADS, 0, stream>>>(to, all[r].view.atom, n,
                                                                            evaluation.s);
          check(cudaGetLastError(), "launching add_to_atoms");
        }
        first += all[r].view.n;
      }
      if (ncounted == 0)
        check(cudaMemsetAsync(total.data(), 0, sizeof(WarpSums), stream), "clearing the sum");
      else
        reduce(warp_sums.data(), static_cast<int>(ncounted), total.data(), workspace, stream);
      if (pairs->has_two_groups() || evaluation.counts_each_end()) return;
      // Every pair was counted twice, once for each of its atoms.
      scale_total<<<1, 1, 0, stream>>>(total.data(), 0.5);
      check(cudaGetLastError(), "launching scale_total");
    }

    template <class T> void copy(T *to, const T *from, std::size_t n, cudaStream_t stream)
    {
      copied += static_cast<std::int64_t>(n * sizeof(T));
      check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToHost, stream),
            "copying data to the host");
    }

    std::shared_ptr<ResidentPairs> pairs;
    std::deque<SwitchFunction<Real>> functions;
    std::deque<Formula> formulas;    // used if there are several classes
    unsigned wanted = VALUE;
    std::int64_t copied = 0;
    DeviceBuffer<double> block_sums;
    // [rows][columns], one pass after the other.
    DeviceBuffer<double> sums;
    bool gradients_in_float = false;
    // [3][rows] dS/dx, one pass after the other.
    DeviceBuffer<float> gradients;
    DeviceBuffer<WarpSums> total;
    DeviceBuffer<unsigned> ended;
    DeviceBuffer<Real> weights;    // [points] weights of a second pass
    // Memory of the cell processor.
    CellsShape shape = {};
    DeviceBuffer<double> parts;
    DeviceBuffer<WarpSums> warp_sums;
    DeviceBuffer<int> queues;
    DeviceBuffer<char> workspace;
    // Copies of the sums on the host, and the atom of each row.
    PinnedBuffer<double> sums_host;
    Arrivals arrivals;
    std::vector<int> atom_of_row;
    std::vector<std::size_t> part_ends;
    std::int64_t rebuild_of_rows = 0;    // 0: unknown
    PinnedBuffer<Report> report;
    Event reported;
    bool is_reported = false;    // the copy of the report for result() has been enqueued
  };

}    // namespace

std::unique_ptr<ResidentCoordination>
make_resident_coordination(const SwitchTable &table, Precision precision,
                           std::shared_ptr<ResidentPairs> pairs, const CudaTuning &tuning)
{
  if (precision == Precision::DOUBLE)
    return std::make_unique<CudaResidentCoordination<double>>(table, precision, std::move(pairs),
                                                              tuning);
  return std::make_unique<CudaResidentCoordination<float>>(table, precision, std::move(pairs),
                                                           tuning);
}

std::unique_ptr<ResidentCoordination>
make_resident_coordination(const SwitchTable &table, Precision precision,
                           std::shared_ptr<ResidentPairs> pairs)
{
  return make_resident_coordination(table, precision, std::move(pairs), CudaTuning());
}

std::unique_ptr<PairPass> make_resident_pair_pass(const SwitchTable &table, Precision precision,
                                                  std::shared_ptr<ResidentPairs> pairs)
{
  if (precision == Precision::DOUBLE)
    return std::make_unique<CudaResidentCoordination<double>>(table, precision, std::move(pairs),
                                                              CudaTuning());
  return std::make_unique<CudaResidentCoordination<float>>(table, precision, std::move(pairs),
                                                           CudaTuning());
}

}    // namespace gpucoord
