// Part of GPUCOORD, GPL-2.0. The CUDA backend of coordination numbers for host arrays: copies and
// launches.
//
// All work of an evaluation is enqueued on one stream. The host waits for the results and for a
// rebuild of the pairs. Host arrays are copied through pinned memory in chunks, so that the host
// prepares one chunk while another one is being copied.
//
// Engine 'cells' is evaluated by the kernels for resident atoms (staged_cells.h). In the other
// engines, types with different functions are sorted into classes. One kernel runs for each ordered
// pair of classes, with the function of that pair, so that kernels do not depend on types.

#include "coordination_cuda.h"
#include "neighbor_lists_cuda.h"
#include "staged_cells.h"

#include "../core/clock.h"
#include "../gpu/device_guard.h"
#include "../gpu/splits.h"
#include "../gpu/staging.h"
#include "../pairs/add_to_peratom.h"
#include "../pairs/launch_cuda.h"
#include "../pairs/launchers_cuda.h"
#include "../pairs/pair_reduction.h"
#include "../pairs/passes.h"
#include "../pairs/weights_host.h"
#include "../switching/forms.h"
#include "../switching/type_classes.h"

#include "gpucoord/counters.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <stdexcept>
#include <vector>

namespace gpucoord {

namespace {

  template <class Real> class CudaCoordination : public Coordination {
   public:
    CudaCoordination(const SwitchTable &table_in, Precision precision, int nthreads_in,
                     const CudaTuning &tuning) :
        table(table_in),
        nthreads(std::max(1, nthreads_in)), staged_cells(table_in, precision, nthreads, tuning)
    {
      check_kernels();
      make_functions(table, precision, functions);
      totals.reserve(1);
      totals_host.reserve(1);
    }

    Contribution cells(const CellsInput &in, unsigned want, double *peratom) override
    {
      if (!(want & DERIVATIVES)) peratom = nullptr;
      return staged_cells.evaluate(in, want, peratom, stream);
    }

    Contribution list(const ListInput &in, unsigned want, double *peratom) override
    {
      need_end(table, "list");
      begin(want, peratom);
      const bool two = in.b.index != nullptr;
      const TypeClasses classes(table, in.types.weight);
      if (want & WINDOWED)
        for (Function &f : functions) set_window(in.window, f.constants);
      group_a.sort(in.a, in.types.type, classes);
      if (two && peratom) group_b.sort(in.b, in.types.type, classes);

      // The lists may contain any row up to the last row of an owned atom or neighbor.
      const int nall = neighbor_lists.update(in, classes, group_a,
                                             two && peratom ? &group_b : nullptr, nthreads, stream);
      stage(in.x, 3 * static_cast<std::size_t>(nall), nthreads, stream, positions);
      if (in.member) stage(in.member, nall, nthreads, stream, members);
      copied.record(stream);

      using Side = NeighborLists::Side;
      const auto pass = [&](const AtomsByClass &group, Side side, unsigned char bit,
                            unsigned wanted, const Weights &weights, Sums &sums) {
        std::vector<Pass> passes;
        int row = 0;
        for (int ci = 0; ci < classes.size(); row += group[ci++].nowned)
          for (int cj = 0; cj < classes.size(); ++cj)
            for (int special = 0; special < (in.special ? 4 : 1); ++special) {
              const FlatList &flat = neighbor_lists.list(side, classes, ci, cj, special);
              const double weight =
                  classes(ci, cj).weight * (in.special ? in.special[special] : 1.0);
              if (!classes(ci, cj).exists() || weight == 0.0 || flat.n == 0 ||
                  (special > 0 && flat.empty))
                continue;
              passes.push_back({ci, cj, row, flat.n, 1, flat.n, weight * weights.unit, &flat});
            }
        run(passes, row, sums, [&](const Pass &p, const SumsOut &out) {
          const Function &f = functions[classes(p.ci, p.cj).function];
          ListArguments arg = {};
          arg.x = positions.device.data();
          arg.member = in.member ? members.device.data() : nullptr;
          arg.bit = bit;
          arg.row = p.flat->row.device.data();
          arg.first = p.flat->first.device.data();
          arg.neighbor = p.flat->neighbor.device.data();
          arg.neighmask = in.neighmask;
          arg.weight_i = weights.i;
          arg.weight_j = weights.j;
          arg.n = p.flat->n;
          arg.out = out;
          f.launchers.list(arg, f.constants, wanted, stream);
        });
      };
      const auto pass_a = [&](unsigned wanted, const Weights &weights) {
        pass(group_a, Side::A, two ? 2 : 1, wanted, weights, sums_a);
      };
      const auto pass_b = [&](unsigned wanted, const Weights &weights) {
        pass(group_b, Side::B, 1, wanted, weights, sums_b);
      };
      const int *const rows_of_a = owned_rows(group_a, classes.size(), rows_a);
      return make_passes(in.second, nullptr, two, want, peratom, pass_a, pass_b, rows_of_a,
                         two && peratom ? owned_rows(group_b, classes.size(), rows_b) : nullptr);
    }

    Contribution allpairs(const AllPairsInput &in, unsigned want, double *peratom) override
    {
      begin(want, peratom);
      const bool two = in.b.x != nullptr;
      const TypeClasses classes(table, nullptr);
      const GatheredParts parts_a = stage_gathered(in.a, classes, atoms_a, rows_a);
      const GatheredParts parts_b = two ? stage_gathered(in.b, classes, atoms_b, rows_b) : parts_a;
      copied.record(stream);

      const auto pass_a = [&](unsigned wanted, const Weights &weights) {
        pass_all_pairs(in.box, classes, atoms_a, parts_a, two ? atoms_b : atoms_a, parts_b, wanted,
                       weights, sums_a);
      };
      const auto pass_b = [&](unsigned wanted, const Weights &weights) {
        pass_all_pairs(in.box, classes, atoms_b, parts_b, atoms_a, parts_a, wanted, weights,
                       sums_b);
      };
      const std::int64_t *const order = parts_a.order.empty() ? nullptr : parts_a.order.data();
      return make_passes(in.second, order, two, want, peratom, pass_a, pass_b, rows_a.data(),
                         rows_b.data());
    }

    Contribution pairs(const PairsInput &in, unsigned want, double *peratom) override
    {
      begin(want, peratom);
      if (in.n > std::numeric_limits<int>::max())
        throw DeviceError("more than 2147483647 pairs on one rank");
      // Sort the pairs by function.
      std::vector<int> first(functions.size() + 1, 0), order(in.n), next;
      const auto function_of = [&](std::int64_t k) {
        return table.ntypes() ? table.function_of(in.type_a[k], in.type_b[k]) : 0;
      };
      for (std::int64_t k = 0; k < in.n; ++k)
        if (function_of(k) != SwitchTable::NONE) ++first[function_of(k) + 1];
      for (std::size_t f = 0; f < functions.size(); ++f) first[f + 1] += first[f];
      next.assign(first.begin(), first.end());
      for (std::int64_t k = 0; k < in.n; ++k)
        if (function_of(k) != SwitchTable::NONE)
          order[next[function_of(k)]++] = static_cast<int>(k);

      const std::size_t n = first.back();
      const auto position = [](const double *x, int k) {
        return x + 3 * static_cast<std::size_t>(k);
      };
      for (const bool second : {false, true})
        send(second ? positions_b : positions, 3 * n, stream,
             [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
               for (std::size_t t = begin; t < end; ++t)
                 (second ? positions_b : positions).pinned[t] =
                     position(second ? in.xb : in.xa, order[t / 3])[t % 3];
             });
      send(members, n, stream, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t) members.pinned[t] = in.row_a[order[t]] >= 0;
      });
      copied.record(stream);

      const auto pass = [&](unsigned wanted, const Weights &weights) {
        std::vector<Pass> passes;
        for (int f = 0; f < static_cast<int>(functions.size()); ++f)
          if (const int size = first[f + 1] - first[f])
            passes.push_back({f, f, first[f], size, 1, (size + 31) / 32, weights.unit});
        run(passes, static_cast<int>(n), sums_a, [&](const Pass &p, const SumsOut &out) {
          PairsArguments arg = {};
          arg.box = in.box;
          arg.xa = positions.device.data() + 3 * static_cast<std::size_t>(p.first_row);
          arg.xb = positions_b.device.data() + 3 * static_cast<std::size_t>(p.first_row);
          arg.counts = members.device.data() + p.first_row;
          if (weights.i) arg.weights = weights.i + p.first_row;
          arg.n = p.n;
          arg.out = out;
          functions[p.ci].launchers.pairs(arg, functions[p.ci].constants, wanted, stream);
        });
      };
      Contribution result;
      // An atom may occur in many pairs. Add the pairs in order, so that results are bitwise
      // reproducible.
      const auto add_sums = [&] {
        for (std::size_t t = 0; t < n && peratom; ++t) {
          double *const sums = sums_a.host.data() + columns * t;
          if (in.second) sums[0] = 0.0;    // s has already been added
          add_pair(in, order[t], sums, columns, peratom);
        }
      };
      if (!in.second) {
        pass(kernel_want(want), {});
        finish(want, false, result, peratom, nullptr, nullptr);
        add_sums();
        return result;
      }
      columns = 1;
      pass(VALUE, {});
      finish(VALUE, false, result, in.second->s, nullptr, nullptr);
      const std::size_t all_columns = peratom ? peratom_columns(want) : 0;
      for (std::size_t t = 0; t < n; ++t) {
        const int row = in.row_a[order[t]];    // s counts only for the first atom
        if (row < 0) continue;
        in.second->s[row] += sums_a.host[t];
        if (peratom) peratom[all_columns * row] += sums_a.host[t];
      }
      const Weights weights = compute_weights(*in.second, n, want, [&](std::size_t t) {
        return order[t];
      });
      if (!weights.i) return result;
      columns = static_cast<int>(all_columns);
      pass(kernel_want(want), weights);
      const double value = result.value;
      finish(want, false, result, peratom, nullptr, nullptr);
      result.value = value;
      add_sums();
      return result;
    }

    std::size_t bytes() const override
    {
      return bytes_of(staged_cells, group_a, group_b, rows_a, rows_b, atoms_a, atoms_b, positions,
                      positions_b, weights, members, neighbor_lists, sums_a, sums_b, totals,
                      totals_host, workspace);
    }

   private:
    using Function = SwitchFunction<Real>;

    // One kernel launch: the sums of some atoms over their partners of one class.
    struct Pass {
      int ci, cj;           // classes of the atoms and of the partners
      int first_row, n;     // the atoms of class ci among the rows of the sums
      int splits, warps;    // number of shares of the partners, and of warps of atoms
      double weight;
      const FlatList *flat = nullptr;
    };

    // Weights of the atoms i and j, or of the pairs (only i), divided by unit, in device memory.
    // null: see ListArguments.
    struct Weights {
      const double *i = nullptr, *j = nullptr;
      double unit = 1.0;
    };

    // Results of the passes over the atoms of one group.
    struct Sums {
      DeviceBuffer<double> parts, device;    // [splits][n][columns], [n][columns]
      PinnedBuffer<double> host;             // [n][columns]
      DeviceBuffer<WarpSums> warp;
      int first = 0, n = 0;    // rows of the group's sums in device and host
      std::size_t nwarps = 0;
      std::size_t bytes() const { return bytes_of(parts, device, host, warp); }
    };

    // Enqueues the passes. launch(pass, out) enqueues the kernel of a pass. out: destination of its
    // sums
    template <class Launch>
    void run(const std::vector<Pass> &passes, int nrows, Sums &sums, Launch launch)
    {
      sums.first = sums.n = 0;
      sums.nwarps = 0;
      if (passes.empty()) return;
      const bool alone = passes.size() == 1;    // with a single pass, there are no sums to add to
      sums.first = alone ? passes[0].first_row : 0;
      sums.n = alone ? passes[0].n : nrows;
      std::size_t nparts = 0, nwarps = 0;
      for (const Pass &p : passes) {
        nwarps += static_cast<std::size_t>(p.splits) * p.warps;
        if (!alone || p.splits > 1)
          nparts = std::max(nparts, static_cast<std::size_t>(p.splits) * p.n * columns);
      }
      sums.warp.reserve(nwarps);
      const std::size_t size = static_cast<std::size_t>(sums.n) * columns;
      if (columns > 0) {
        sums.device.reserve(size);
        sums.host.reserve(size);
        sums.parts.reserve(nparts);
        if (!alone)
          check(cudaMemsetAsync(sums.device.data(), 0, size * sizeof(double), stream),
                "clearing sums");
      }
      for (const Pass &p : passes) {
        const bool direct = alone && p.splits == 1;
        launch(p,
               SumsOut{columns == 0 ? nullptr
                           : direct ? sums.device.data()
                                    : sums.parts.data(),
                       sums.warp.data() + sums.nwarps, p.splits, p.weight});
        sums.nwarps += static_cast<std::size_t>(p.splits) * p.warps;
        if (columns > 0 && !direct)
          add_splits(sums.parts.data(), p.splits, static_cast<std::size_t>(p.n) * columns,
                     sums.device.data() +
                         static_cast<std::size_t>(p.first_row - sums.first) * columns,
                     !alone, stream);
      }
    }

    // Runs the passes pass_a(want, weights) over the atoms of a and pass_b(want, weights) over the
    // atoms of b, if they are needed. order: order of the weights; null: the caller's order.
    // rows_a, rows_b: rows in the per-atom output
    template <class PassA, class PassB>
    Contribution make_passes(const SecondPass *function, const std::int64_t *order, bool two,
                             unsigned want, double *peratom, const PassA &pass_a,
                             const PassB &pass_b, const int *rows_a, const int *rows_b)
    {
      Contribution result;
      if (!function) {
        pass_a(kernel_want(want), {});
        if (two && peratom) pass_b(want_of_second(want), {});
        finish(want, !two, result, peratom, rows_a, rows_b);
        return result;
      }
      columns = 1;
      pass_a(VALUE, {});
      finish(VALUE, false, result, function->s, rows_a, nullptr);
      const std::size_t all_columns = peratom ? peratom_columns(want) : 0;
      for (int t = 0; t < sums_a.n && peratom; ++t)
        peratom[all_columns * rows_a[sums_a.first + t]] += sums_a.host[t];
      const Weights weights =
          compute_weights(*function, function->nweights, want, [&](std::size_t t) {
            return order ? order[t] : t;
          });
      if (!weights.i) return result;
      columns = static_cast<int>(all_columns);
      pass_a(kernel_want(want), {weights.i, two ? nullptr : weights.i, weights.unit});
      if (two && peratom) pass_b(want_of_second(want), {nullptr, weights.i, weights.unit});
      const double value = result.value;
      finish(want, !two, result, peratom, rows_a, rows_b);
      result.value = value;
      return result;
    }

    // Requests the weights from the caller and enqueues their copy. Returns empty Weights if there
    // is no second pass, or if all weights are 0.
    template <class IndexOf>
    Weights compute_weights(const SecondPass &function, std::size_t n, unsigned want,
                            const IndexOf &index_of)
    {
      const double *const given = function.weights();
      if (!given || !(want & (DERIVATIVES | VIRIAL))) return {};
      const double unit = unit_of(given, function.nweights, nthreads);
      if (unit == 0.0) return {};
      start = seconds();
      send(weights, n, stream, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
        for (std::size_t t = begin; t < end; ++t) weights.pinned[t] = given[index_of(t)] / unit;
      });
      copied.record(stream);
      return {weights.device.data(), nullptr, unit};
    }

    // Returns the smallest kernel output that includes want. Kernels exist for VALUE, DERIVATIVES,
    // both with the virial, and all with ATOM_VIRIAL.
    static unsigned kernel_want(unsigned want)
    {
      return want & VIRIAL ? want | DERIVATIVES : want;
    }

    // Atoms of one group on the device, by class. Class c has n[c] atoms, starting at first[c].
    // nowned[c] of them, starting at first_owned[c], are owned.
    struct GatheredParts {
      std::vector<std::int64_t> first, n, first_owned;
      std::vector<int> nowned;
      std::vector<std::int64_t> order;    // indices in the group; empty: same order as the group
    };

    // Enqueues the pass over owned atoms of i with all atoms of j.
    void pass_all_pairs(const Box &box, const TypeClasses &classes, const Staged<DeviceAtom> &i,
                        const GatheredParts &parts_i, const Staged<DeviceAtom> &j,
                        const GatheredParts &parts_j, unsigned want, const Weights &weights,
                        Sums &sums)
    {
      std::vector<Pass> passes;
      int row = 0;
      for (int ci = 0; ci < classes.size(); row += parts_i.nowned[ci++])
        for (int cj = 0; cj < classes.size(); ++cj) {
          const int n = parts_i.nowned[ci];
          if (!classes(ci, cj).exists() || n == 0 || parts_j.n[cj] == 0) continue;
          const int warps = (n + GATHER_THREADS - 1) / GATHER_THREADS * (GATHER_THREADS / 32);
          const auto tiles = std::min<std::int64_t>((parts_j.n[cj] + tuning::ALL_PAIRS_TILE - 1) /
                                                        tuning::ALL_PAIRS_TILE,
                                                    tuning::MAX_SPLITS_ALL_PAIRS);
          passes.push_back({ci, cj, row, n, splits_of(warps, static_cast<int>(tiles)), warps,
                            classes(ci, cj).weight * weights.unit});
        }
      run(passes, row, sums, [&](const Pass &p, const SumsOut &out) {
        const Function &f = functions[classes(p.ci, p.cj).function];
        AllPairsArguments arg = {};
        arg.box = box;
        arg.i = i.device.data() + parts_i.first_owned[p.ci];
        arg.j = j.device.data() + parts_j.first[p.cj];
        if (weights.i) arg.weight_i = weights.i + parts_i.first_owned[p.ci];
        if (weights.j) arg.weight_j = weights.j + parts_j.first[p.cj];
        arg.n = p.n;
        arg.nj = parts_j.n[p.cj];
        arg.out = out;
        f.launchers.allpairs(arg, f.constants, want, stream);
      });
    }

    // Sets 'rows' to the rows of the per-atom output for the rows of the sums: owned atoms, ordered
    // by class. Returns them.
    static const int *owned_rows(const AtomsByClass &group, int nclasses, std::vector<int> &rows)
    {
      if (nclasses == 1) return group.all().index;
      rows.clear();
      for (int c = 0; c < nclasses; ++c)
        rows.insert(rows.end(), group[c].index, group[c].index + group[c].nowned);
      return rows.data();
    }

    void begin(unsigned want, double *&peratom)
    {
      GPUCOORD_COUNT(COORDINATION_CUDA);
      if (!(want & DERIVATIVES)) peratom = nullptr;
      columns = peratom ? peratom_columns(want) : 0;
      start = seconds();
      sums_a.n = sums_b.n = 0;
      sums_a.nwarps = 0;
    }

    // Stages gathered atoms by class, in the order of the group within a class. Sets 'rows' to the
    // rows of the owned atoms in the per-atom output.
    GatheredParts stage_gathered(const AllPairsInput::Group &group, const TypeClasses &classes,
                                 Staged<DeviceAtom> &to, std::vector<int> &rows)
    {
      const auto is_owned = [&](std::int64_t k) {
        return k >= group.first_owned && k < group.first_owned + group.nowned;
      };
      GatheredParts parts;
      std::vector<std::int64_t> &order = parts.order;
      rows.clear();
      if (classes.size() == 1) {
        parts = {{0}, {group.n}, {group.first_owned}, {static_cast<int>(group.nowned)}, {}};
        rows.assign(group.row, group.row + group.nowned);
      }
      for (int c = 0; c < classes.size() && classes.size() > 1; ++c) {
        parts.first.push_back(static_cast<std::int64_t>(order.size()));
        parts.first_owned.push_back(-1);
        parts.nowned.push_back(0);
        for (std::int64_t k = 0; k < group.n; ++k) {
          if (classes.index(group.type[k]) != c) continue;
          if (is_owned(k)) {
            if (parts.nowned[c]++ == 0)
              parts.first_owned[c] = static_cast<std::int64_t>(order.size());
            rows.push_back(group.row[k - group.first_owned]);
          }
          order.push_back(k);
        }
        parts.n.push_back(static_cast<std::int64_t>(order.size()) - parts.first[c]);
      }
      send(to, static_cast<std::size_t>(group.n), stream, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
        for (std::size_t t = begin; t < end; ++t) {
          const std::int64_t k = order.empty() ? static_cast<std::int64_t>(t) : order[t];
          to.pinned[t] = {group.x[3 * k], group.x[3 * k + 1], group.x[3 * k + 2], group.id[k]};
        }
      });
      return parts;
    }

    // Sums over atoms, copies the results to the host, waits, and adds the per-atom sums to these
    // rows of peratom. If rows_a is null, leaves the sums of group a in sums_a.host.
    void finish(unsigned want, bool halve, Contribution &result, double *peratom, const int *rows_a,
                const int *rows_b)
    {
      paired.record(stream);
      const bool any = sums_a.nwarps > 0;
      if (any) {
        if (sums_a.nwarps > static_cast<std::size_t>(std::numeric_limits<int>::max()))
          throw DeviceError("more than 2147483647 warps of atoms on one GPU");
        reduce(sums_a.warp.data(), static_cast<int>(sums_a.nwarps), totals.data(), workspace,
               stream);
      }
      reduced.record(stream);
      if (any)
        check(cudaMemcpyAsync(totals_host.data(), totals.data(), sizeof(WarpSums),
                              cudaMemcpyDeviceToHost, stream),
              "copying data to the host");
      if (peratom) {
        fetch(sums_a, rows_a, peratom);
        fetch(sums_b, rows_b, peratom);
      }
      check(cudaStreamSynchronize(stream), "computing coordination numbers");
      if (any) {
        const double scale = halve ? 0.5 : 1.0;    // each atom of a pair has counted it
        result.value = scale * totals_host[0].value;
        if (want & VIRIAL)
          for (int c = 0; c < 6; ++c) result.virial[c] = scale * totals_host[0].virial[c];
      }
      result.timings.pairs += seconds_between(copied, paired);
      result.timings.reduction += seconds_between(paired, reduced);
      result.timings.copies += seconds() - start - seconds_between(copied, reduced);
    }

    void fetch(Sums &sums, const int *rows, double *peratom)
    {
      arrivals.fetch(sums.device.data(), sums.n, columns, sums.host.data(), stream);
      if (!rows) return;
      rows += sums.first;
      arrivals.for_each("computing coordination numbers", [&](std::size_t first, std::size_t end) {
        add_to_peratom(sums.host.data(), columns, first, end, rows, nullptr, nthreads, peratom);
      });
    }

    const SwitchTable table;
    const int nthreads;

    Stream stream;
    StagedCells staged_cells;
    TimedEvent copied, paired, reduced;
    Arrivals arrivals;
    double start = 0.0;
    // Columns of the per-atom sums of this evaluation; 0: not requested.
    int columns = 0;

    std::deque<Function> functions;
    AtomsByClass group_a, group_b;
    std::vector<int> rows_a, rows_b;
    Staged<DeviceAtom> atoms_a, atoms_b;
    Staged<double> positions, positions_b, weights;
    Staged<unsigned char> members;
    NeighborLists neighbor_lists;
    Sums sums_a, sums_b;
    DeviceBuffer<WarpSums> totals;
    PinnedBuffer<WarpSums> totals_host;
    DeviceBuffer<char> workspace;
  };

  class GuardedCoordination : public Coordination {
   public:
    GuardedCoordination(const SwitchTable &table, Precision precision, int device, int nthreads,
                        const CudaTuning &tuning) :
        backend(device, [&]() -> std::unique_ptr<Coordination> {
          if (precision == Precision::DOUBLE)
            return std::make_unique<CudaCoordination<double>>(table, precision, nthreads, tuning);
          return std::make_unique<CudaCoordination<float>>(table, precision, nthreads, tuning);
        })
    {
    }
    Contribution cells(const CellsInput &in, unsigned want, double *peratom) override
    {
      return backend.enter().cells(in, want, peratom);
    }
    Contribution list(const ListInput &in, unsigned want, double *peratom) override
    {
      return backend.enter().list(in, want, peratom);
    }
    Contribution allpairs(const AllPairsInput &in, unsigned want, double *peratom) override
    {
      return backend.enter().allpairs(in, want, peratom);
    }
    Contribution pairs(const PairsInput &in, unsigned want, double *peratom) override
    {
      return backend.enter().pairs(in, want, peratom);
    }

    std::size_t bytes() const override { return backend->bytes(); }

   private:
    DeviceGuard<Coordination> backend;
  };

}    // namespace

std::unique_ptr<Coordination> make_cuda_coordination(const SwitchTable &table, Precision precision,
                                                     int device, int nthreads,
                                                     const CudaTuning &tuning)
{
  return std::make_unique<GuardedCoordination>(table, precision, device, nthreads, tuning);
}

std::unique_ptr<Coordination> make_cuda_coordination(const SwitchTable &table, Precision precision,
                                                     int device, int nthreads)
{
  return make_cuda_coordination(table, precision, device, nthreads, CudaTuning());
}

}    // namespace gpucoord
