// Part of GPUCOORD, GPL-2.0. The host backend of coordination numbers: OpenMP over atoms, SIMD over
// pairs.
//
// The work is divided into blocks of fixed size. The sums of a block run in a fixed order, and the
// blocks are added in order. Results are therefore bitwise independent of the number of threads.

#include "gpucoord/coordination.h"
#include "gpucoord/counters.h"

#include "../core/clock.h"
#include "../core/run_in_parallel.h"
#include "../expression/custom_function_host.h"
#include "../pairs/cell_bins_host.h"
#include "../pairs/cell_tasks_host.h"
#include "../pairs/class_constants_host.h"
#include "../pairs/pair_kernels_host.h"
#include "../pairs/passes.h"
#include "../pairs/sorted_neighbors_host.h"
#include "../pairs/weights_host.h"
#include "../switching/forms.h"
#include "../switching/type_classes.h"

#include <omp.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace gpucoord {

namespace {

  // Value and virial of one block of atoms.
  struct BlockSums {
    double value = 0.0;
    double virial[6] = {};
  };

  template <class Real> class HostCoordination : public Coordination {
   public:
    HostCoordination(const SwitchTable &table_in, Precision precision, int nthreads_in) :
        table(table_in), nthreads(std::max(1, nthreads_in)), scratch(nthreads)
    {
      for (const Switch &function : table.functions()) {
        functions.push_back({function.dmax(), make_constants<Real>(function),
                             select_pair_kernels<Real>(function, precision)});
        for (auto &s : scratch) {
          s.custom.push_back(function.make_custom());
          s.custom_functions.push_back(s.custom.back().get());
        }
      }
      class_functions = std::make_unique<ClassFunctions<Real>>(functions);
    }

    Contribution cells(const CellsInput &in, unsigned want, double *peratom) override
    {
      GPUCOORD_COUNT(COORDINATION_HOST);
      if (!(want & DERIVATIVES)) peratom = nullptr;
      need_end(table, "cells");
      Contribution result;
      double start = seconds();
      const bool two = in.b.index != nullptr;
      const CellGrid grid = make_cell_grid(in.x, in.a, in.b, table.dmax(), nthreads);
      const TypeClasses classes(table, in.types.weight);
      const ClassGroups groups(classes);
      build_bins(grid, in.x, in.a, in.types.type, classes, groups, bins_a);
      if (two) build_bins(grid, in.x, in.b, in.types.type, classes, groups, bins_b);
      result.timings.bins = seconds() - start;

      const auto pass = [&](const std::vector<ClassBins> &bi, const std::vector<ClassBins> &bj,
                            const Pass &request) {
        for (int gi = 0; gi < groups.size(); ++gi)
          for (int gj = 0; gj < groups.size(); ++gj)
            gather_cells(grid, bi[gi], bj[gj],
                         class_functions->between(classes, groups, gi, gj, request.is_weighted()),
                         request, result);
      };
      const auto first = [&](const Pass &request) {
        pass(bins_a, two ? bins_b : bins_a, request);
      };
      const auto second = [&](const Pass &request) {
        pass(two ? bins_b : bins_a, bins_a, request);
      };
      make_passes(in.second, owned_of(in.a), two, want, peratom, first, second, result);
      return result;
    }

    Contribution list(const ListInput &in, unsigned want, double *peratom) override
    {
      GPUCOORD_COUNT(COORDINATION_HOST);
      if (!(want & DERIVATIVES)) peratom = nullptr;
      need_end(table, "list");
      Contribution result;
      const bool two = in.b.index != nullptr;
      const TypeClasses classes(table, in.types.weight);
      const double start = seconds();
      const NeighborRows rows = neighbor_rows(in, classes);
      result.timings.pairs = seconds() - start;
      const auto first = [&](const Pass &request) {
        gather_list(in, rows, in.a, two ? 2 : 1, classes, lists_a, request, result);
      };
      const auto second = [&](const Pass &request) {
        gather_list(in, rows, two ? in.b : in.a, 1, classes, lists_b, request, result);
      };
      make_passes(in.second, owned_of(in.a), two, want, peratom, first, second, result);
      return result;
    }

    Contribution allpairs(const AllPairsInput &in, unsigned want, double *peratom) override
    {
      GPUCOORD_COUNT(COORDINATION_HOST);
      if (!(want & DERIVATIVES)) peratom = nullptr;
      Contribution result;
      const bool two = in.b.x != nullptr;
      const AllPairsInput::Group &b = two ? in.b : in.a;
      const auto first = [&](const Pass &request) {
        gather_allpairs(in.box, in.a, b, request, result);
      };
      const auto second = [&](const Pass &request) {
        gather_allpairs(in.box, b, in.a, request, result);
      };
      const OwnedAtoms owned = {in.a.nowned, in.a.row, nullptr, in.a.first_owned};
      make_passes(in.second, owned, two, want, peratom, first, second, result);
      return result;
    }

    Contribution pairs(const PairsInput &in, unsigned want, double *peratom) override
    {
      GPUCOORD_COUNT(COORDINATION_HOST);
      if (!(want & DERIVATIVES)) peratom = nullptr;
      Contribution result;
      const double start = seconds();
      if (in.second) {
        const OutputsOfS outputs = {in.second->s, peratom, peratom_columns(want)};
        evaluate_pairs(in, VALUE, nullptr, &outputs, nullptr, result);
        const double value = result.value;
        const double *const weights = in.second->weights();
        if (weights && want & (DERIVATIVES | VIRIAL))
          evaluate_pairs(in, want, peratom, nullptr, weights, result);
        result.value = value;
      } else
        evaluate_pairs(in, want, peratom, nullptr, nullptr, result);
      result.timings.pairs = seconds() - start;
      return result;
    }

    std::size_t bytes() const override
    {
      return bytes_of(scratch, tasks, blocks, by_class, bins_a, bins_b, lists_a, lists_b,
                      rows_with_classes);
    }

   private:
    struct Scratch : CandidateMemory<Real> {
      // [functions] null: not a custom function
      std::vector<std::unique_ptr<CustomFunction>> custom;
      std::vector<CustomFunction *> custom_functions;
      // [candidates] classes and weights of the candidates for partners
      std::vector<int> classes;
      std::vector<Real> weights;

      std::size_t bytes() const
      {
        return CandidateMemory<Real>::bytes() + bytes_of(classes, weights);
      }

      PartnerPoints<Real> points(int n) const
      {
        return {n, this->x.data(), this->y.data(), this->z.data()};
      }
    };
    static constexpr OwnPoint<Real> ORIGIN = {0, 0, 0, -1};    // displacements are from the atom

    // Bins of a group of classes.
    struct ClassBins {
      CellBins bins;
      std::vector<int> classes;    // [atoms]; empty: each group has one class
      int first_class;             // the first class of the group
      int class_of(int k) const { return classes.empty() ? first_class : classes[k]; }
      std::size_t bytes() const { return bytes_of(bins, classes); }
    };

    // A pass over the partners of some atoms.
    struct Pass {
      unsigned want;
      double *peratom;        // null: not requested
      bool counts;            // the sums contribute to S and W, not only to the per-atom output
      double *s = nullptr;    // [nlocal] additional destination of column 0; null: no destination
      // Weights of the partners; null: all are 1, and column 0 is also added to peratom.
      const double *weights = nullptr;
      double unit = 1.0;    // weights are divided by it before they are rounded to Real
      bool is_weighted() const { return weights != nullptr; }
      Real weight(std::int64_t k) const { return static_cast<Real>(weights[k] / unit); }
    };

    // The owned atoms of a: row in the per-atom output, and index of the weight.
    struct OwnedAtoms {
      std::int64_t n;
      const int *row;      // [n]
      const int *index;    // [n]; null: first_index + k
      std::int64_t first_index;
    };
    static OwnedAtoms owned_of(const AtomList &a) { return {a.nowned, a.index, a.index, 0}; }

    // Runs the pass over the atoms of a, first(), and the pass over the atoms of b, second(), if
    // they are needed. function: null if S is the sum of s(r_ij) over pairs
    template <class First, class Second>
    void make_passes(const SecondPass *function, const OwnedAtoms &owned, bool two, unsigned want,
                     double *peratom, const First &first, const Second &second,
                     Contribution &result)
    {
      if (function) {
        make_passes_of_function(*function, owned, want, peratom, first, second, result);
        return;
      }
      first({want, peratom, true});
      if (!two)
        halve(result);
      else if (peratom)
        second({want_of_second(want), peratom, false});
    }

    // dS/dx and the virial of an atom are the sum of two terms: w_i times its own sums, which the
    // first pass has computed, and the sums of its partners times their weights.
    template <class First, class Second>
    void make_passes_of_function(const SecondPass &function, const OwnedAtoms &owned, unsigned want,
                                 double *peratom, const First &first, const Second &second,
                                 Contribution &result)
    {
      first({want & ATOM_VIRIAL ? want : want & DERIVATIVES, peratom, true, function.s});
      std::fill(result.virial, result.virial + 6, 0.0);
      const double *const weights = function.weights();
      if (!weights || !(want & (DERIVATIVES | VIRIAL))) return;
      if (peratom) scale_rows(owned, weights, peratom_columns(want), peratom);
      const double value = result.value, unit = unit_of(weights, function.nweights, nthreads);
      if (unit > 0.0) second({want, peratom, true, nullptr, weights, unit});
      result.value = value;
    }

    void scale_rows(const OwnedAtoms &owned, const double *weights, int columns, double *peratom)
    {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (owned.n > 4096)
      for (std::int64_t k = 0; k < owned.n; ++k) {
        const double w = weights[owned.index ? owned.index[k] : owned.first_index + k];
        double *const out = peratom + columns * static_cast<std::size_t>(owned.row[k]);
        for (int c = 1; c < columns; ++c) out[c] *= w;
      }
    }

    // Every pair was counted twice, once for each of its atoms.
    static void halve(Contribution &result)
    {
      result.value *= 0.5;
      for (double &w : result.virial) w *= 0.5;
    }

    static void add_to_block(const double *sums, unsigned want, BlockSums &block)
    {
      block.value += sums[0];
      if (want & VIRIAL)
        for (int c = 0; c < 6; ++c) block.virial[c] += sums[4 + c];
    }

    // Adds the sums of an owned atom to the outputs of the pass.
    static void store(double *sums, const Pass &request, int row, BlockSums &block)
    {
      for (int k = 0; request.is_weighted() && k < NSUMS; ++k) sums[k] *= request.unit;
      add_to_block(sums, request.want, block);
      if (request.s) request.s[row] += sums[0];
      if (!request.peratom) return;
      const int columns = peratom_columns(request.want);
      double *const out = request.peratom + columns * static_cast<std::size_t>(row);
      for (int c = request.is_weighted() ? 1 : 0; c < columns; ++c) out[c] += sums[c];
    }

    // Adds the terms of one function; see GatherFunction. ATOM_VIRIAL needs no separate kernel,
    // because W is summed per atom anyway.
    void gather(int index, unsigned want, Scratch &s, const PartnerPoints<Real> &points,
                const OwnPoint<Real> &own, double *sums)
    {
      const HostFunction<Real> &f = functions[index];
      const auto kernel = want & WINDOWED ? f.kernels.gather_windowed
                                          : f.kernels.gather[want & (DERIVATIVES | VIRIAL)];
      kernel(f.constants, s.custom[index].get(), points, own, sums);
    }

    // Adds the sums, multiplied by a weight, to total.
    static void add_weighted(double weight, const double *sums, double *total)
    {
      for (int k = 0; k < NSUMS; ++k) total[k] += weight * sums[k];
    }

    // Adds the terms of partners that have weights or belong to several classes.
    static void gather_tables(const std::vector<ClassTable<Real>> &tables, const Pass &request,
                              Scratch &s, int n, const OwnPoint<Real> &own, double *sums)
    {
      for (const auto &table : tables) {
        const auto kernel = request.want & WINDOWED ? table.kernels->gather_classes_windowed
            : request.want & VIRIAL                 ? table.kernels->gather_classes_virial
                                                    : table.kernels->gather_classes;
        kernel(table.constants, s.custom_functions.data(), s.points(n), s.classes.data(),
               request.is_weighted() ? s.weights.data() : nullptr, own, sums);
      }
    }

    void build_bins(const CellGrid &grid, const double *x, const AtomList &atoms, const int *type,
                    const TypeClasses &classes, const ClassGroups &groups,
                    std::vector<ClassBins> &some)
    {
      by_class.sort(atoms, type, groups);
      some.resize(groups.size());
      for (int g = 0; g < groups.size(); ++g) {
        auto &[bins, atom_classes, first_class] = some[g];
        bins.build(grid, x, by_class[g], nthreads);
        first_class = groups.classes_of(g).front();
        atom_classes.clear();
        if (classes.size() == groups.size()) continue;
        for (const int row : bins.row) atom_classes.push_back(classes.index(type[row]));
      }
    }

    // Runs work(begin, end, scratch, block sums) over blocks of a fixed size. Adds the sums of the
    // blocks in order.
    template <class Work>
    void run_blocks(std::int64_t n, std::int64_t size, Contribution &result, Work work, int threads)
    {
      const std::int64_t nblocks = (n + size - 1) / size;
      blocks.assign(static_cast<std::size_t>(nblocks), BlockSums());
      run_in_parallel(nblocks, threads, [&](std::int64_t b) {
        work(b * size, std::min(n, (b + 1) * size), scratch[omp_get_thread_num()], blocks[b]);
      });
      const double start = seconds();
      for (const BlockSums &block : blocks) {
        result.value += block.value;
        for (int c = 0; c < 6; ++c) result.virial[c] += block.virial[c];
      }
      result.timings.reduction += seconds() - start;
    }

    // Sums over the atoms j of one set of bins for the owned atoms i of another.
    void gather_cells(const CellGrid &grid, const ClassBins &classes_i, const ClassBins &classes_j,
                      const GroupInteraction<Real> &between, const Pass &request,
                      Contribution &result)
    {
      if (between.dmax == 0.0) return;
      const double start = seconds();
      const CellBins &bi = classes_i.bins, &bj = classes_j.bins;
      const auto keep_near_box = functions.front().kernels.keep_near_box;    // same for all
      tasks.make(grid, bi, nthreads);

      Contribution sums_of_pass;
      run_blocks(
          static_cast<std::int64_t>(tasks.all().size()), 16, sums_of_pass,
          [&](std::int64_t begin, std::int64_t end, Scratch &s, BlockSums &block) {
            s.invalidate(grid);
            for (std::int64_t t = begin; t < end; ++t) {
              const CellTask &task = tasks.all()[t];
              const CellCandidates found =
                  collect_candidates(keep_near_box, between.dmax, grid, bi, bj, task, s);
              if (!between.is_one) {
                s.classes.resize(s.index.size());
                for (int k = 0; k < found.count; ++k) s.classes[k] = classes_j.class_of(s.index[k]);
              }
              if (request.is_weighted()) {
                s.weights.resize(s.index.size());
                for (int k = 0; k < found.count; ++k)
                  s.weights[k] = request.weight(bj.row[s.index[k]]);
              }
              for (int p = task.begin; p < task.end; ++p) {
                if (!bi.owned[p]) continue;
                // Find the index of the atom itself, which may be in both groups.
                int self = found.own_first;
                while (self < found.own_last && bj.row[s.index[self]] != bi.row[p]) ++self;
                if (self == found.own_last) self = -1;
                const OwnPoint<Real> own = {static_cast<Real>(bi.x[p] - found.origin[0]),
                                            static_cast<Real>(bi.y[p] - found.origin[1]),
                                            static_cast<Real>(bi.z[p] - found.origin[2]), self};
                double sums[NSUMS] = {}, weighted[NSUMS] = {};
                if (between.is_one) {
                  gather(between.one.function, request.want, s, s.points(found.count), own, sums);
                  add_weighted(between.one.weight, sums, weighted);
                } else
                  gather_tables(between.tables[classes_i.class_of(p)], request, s, found.count, own,
                                weighted);
                store(weighted, request, bi.row[p], block);
              }
            }
          },
          nthreads);
      add_pass(sums_of_pass, seconds() - start, request.counts, result);
    }

    struct RowWithClass {
      double x[3], class_index;
    };

    // Rows that neighbors are read from.
    struct NeighborRows {
      const double *x;
      int stride;    // 3, or 4 with the class of each atom
      bool has_classes() const { return stride == 4; }
    };

    // Copies positions and classes if most rows are read several times.
    NeighborRows neighbor_rows(const ListInput &in, const TypeClasses &classes)
    {
      const NeighborRows positions = {in.x, 3};
      if (classes.size() == 1 || in.nall == 0) return positions;
      std::int64_t nneighbors = 0;
      for (const AtomList *const atoms : {&in.a, &in.b})
        if (atoms->index) {
#pragma omp parallel for schedule(static) num_threads(nthreads) reduction(+ : nneighbors)
          for (std::int64_t t = 0; t < atoms->nowned; ++t)
            nneighbors += in.numneigh[atoms->index[t]];
        }
      if (nneighbors < 8 * std::int64_t{in.nall}) return positions;
      rows_with_classes.resize(in.nall);
#pragma omp parallel for schedule(static) num_threads(nthreads)
      for (int k = 0; k < in.nall; ++k) {
        RowWithClass &row = rows_with_classes[k];
        std::copy_n(in.x + 3 * static_cast<std::size_t>(k), 3, row.x);
        row.class_index = classes.index(in.types.type[k]);
      }
      return {rows_with_classes.data()->x, 4};
    }

    // Writes the displacements of some neighbors of atom i, and their classes if the rows have
    // them, to the thread's memory.
    void displace_neighbors(const NeighborRows &rows, const double *xi, int n, const int *neighbors,
                            int neighmask, Scratch &s)
    {
      s.reserve(static_cast<std::size_t>(n) + KEEP_MARGIN);
      s.classes.resize(s.x.size());
      functions.front().kernels.neighbors({rows.x, rows.stride, n, neighbors, neighmask}, xi,
                                          {s.x.data(), s.y.data(), s.z.data()}, s.classes.data());
    }

    void gather_list(const ListInput &in, const NeighborRows &rows, const AtomList &i_atoms,
                     unsigned char j_bit, const TypeClasses &classes, SortedNeighbors &lists,
                     const Pass &request, Contribution &result)
    {
      const double start = seconds();
      if (request.want & WINDOWED)
        for (HostFunction<Real> &f : functions) set_window(in.window, f.constants);
      const ClassGroups groups(classes);
      std::vector<GroupInteraction<Real>> acting;    // [groups][groups]
      for (int gi = 0; gi < groups.size(); ++gi)
        for (int gj = 0; gj < groups.size(); ++gj)
          acting.push_back(
              class_functions->between(classes, groups, gi, gj, request.is_weighted()));
      // A single bucket is the whole neighbor list.
      const bool as_it_is = groups.size() == 1 && !in.member && !in.special;
      if (!as_it_is) lists.sort(in, i_atoms, j_bit, groups, nthreads);
      const int nweights = SortedNeighbors::special_weights(in);
      Contribution sums_of_pass;
      run_blocks(
          i_atoms.nowned, 64, sums_of_pass,
          [&](std::int64_t begin, std::int64_t end, Scratch &s, BlockSums &block) {
            for (std::int64_t t = begin; t < end; ++t) {
              const int i = i_atoms.index[t];
              const double *const xi = in.x + 3 * static_cast<std::size_t>(i);
              const int ci = classes.size() > 1 ? classes.index(in.types.type[i]) : 0;
              const int gi = groups.size() > 1 ? groups.index(in.types.type[i]) : 0;
              double total[NSUMS] = {};
              for (int bucket = 0; bucket < nweights * groups.size(); ++bucket) {
                const int gj = bucket / nweights;
                const GroupInteraction<Real> &between = acting[gi * groups.size() + gj];
                const double weight = in.special ? in.special[bucket % nweights] : 1.0;
                int n = in.numneigh[i];
                const int *const neighbors = as_it_is ? in.firstneigh[i]
                                                      : lists.bucket(t, bucket, n);
                if (between.dmax == 0.0 || weight == 0.0 || n == 0) continue;
                double sums[NSUMS] = {};
                displace_neighbors(rows, xi, n, neighbors, in.neighmask, s);
                if (between.is_one) {
                  gather(between.one.function, request.want, s, s.points(n), ORIGIN, sums);
                  add_weighted(between.one.weight * weight, sums, total);
                } else {
                  if (classes.size() == 1)
                    std::fill_n(s.classes.begin(), n, 0);
                  else if (!rows.has_classes())
                    for (int k = 0; k < n; ++k)
                      s.classes[k] = classes.index(in.types.type[neighbors[k] & in.neighmask]);
                  if (request.is_weighted()) {
                    s.weights.resize(s.x.size());
                    for (int k = 0; k < n; ++k)
                      s.weights[k] = request.weight(neighbors[k] & in.neighmask);
                  }
                  gather_tables(between.tables[ci], request, s, n, ORIGIN, sums);
                  add_weighted(weight, sums, total);
                }
              }
              store(total, request, i, block);
            }
          },
          nthreads);
      add_pass(sums_of_pass, seconds() - start, request.counts, result);
    }

    void gather_allpairs(const Box &box, const AllPairsInput::Group &gi,
                         const AllPairsInput::Group &gj, const Pass &request, Contribution &result)
    {
      const double start = seconds();
      constexpr int CHUNK = 1024;
      const TypeClasses classes(table, nullptr);
      GroupInteraction<Real> weighted;
      if (request.is_weighted())
        weighted =
            class_functions->between(classes, ClassGroups::all_together(classes), 0, 0, true);
      Contribution sums_of_pass;
      run_blocks(
          gi.nowned, 16, sums_of_pass,
          [&](std::int64_t begin, std::int64_t end, Scratch &s, BlockSums &block) {
            s.reserve(2 * CHUNK);
            for (std::int64_t t = begin; t < end; ++t) {
              const std::int64_t i = gi.first_owned + t;
              double sums[NSUMS] = {};
              for (std::int64_t first = 0; first < gj.n; first += CHUNK) {
                const int size = static_cast<int>(std::min<std::int64_t>(CHUNK, gj.n - first));
                if (request.is_weighted())
                  gather_weighted_chunk(box, gi, i, gj, first, size, classes, weighted, request, s,
                                        sums);
                else
                  gather_chunk(box, gi, i, gj, first, size, classes, request.want, s, sums);
              }
              store(sums, request, gi.row[t], block);
            }
          },
          nthreads);
      add_pass(sums_of_pass, seconds() - start, request.counts, result);
    }

    // Adds the terms of atom i of one group with 'size' atoms of the other group.
    void gather_chunk(const Box &box, const AllPairsInput::Group &gi, std::int64_t i,
                      const AllPairsInput::Group &gj, std::int64_t first, int size,
                      const TypeClasses &classes, unsigned want, Scratch &s, double *sums)
    {
      const auto displacements = functions[0].kernels.displacements;    // same for all functions
      const double *const xi = gi.x + 3 * i;
      if (classes.size() == 1) {
        if (!classes(0, 0).exists()) return;
        displacements(box, xi, size, gj.x + 3 * first, s.x.data(), s.y.data(), s.z.data());
        int self = -1;
        for (int k = 0; k < size; ++k)
          if (gj.id[first + k] == gi.id[i]) self = k;
        gather(classes(0, 0).function, want, s, s.points(size), {0, 0, 0, self}, sums);
        return;
      }
      // The displacements of all atoms come first. Those of one class at a time are written after
      // them.
      displacements(box, xi, size, gj.x + 3 * first, s.x.data(), s.y.data(), s.z.data());
      Real *const x = s.x.data() + size, *const y = s.y.data() + size, *const z = s.z.data() + size;
      const int ci = classes.index(gi.type[i]);
      for (int cj = 0; cj < classes.size(); ++cj) {
        if (!classes(ci, cj).exists()) continue;
        int count = 0;
        for (int k = 0; k < size; ++k) {
          x[count] = s.x[k];
          y[count] = s.y[k];
          z[count] = s.z[k];
          count += classes.index(gj.type[first + k]) == cj && gj.id[first + k] != gi.id[i] ? 1 : 0;
        }
        gather(classes(ci, cj).function, want, s, {count, x, y, z}, ORIGIN, sums);
      }
    }

    void gather_weighted_chunk(const Box &box, const AllPairsInput::Group &gi, std::int64_t i,
                               const AllPairsInput::Group &gj, std::int64_t first, int size,
                               const TypeClasses &classes, const GroupInteraction<Real> &between,
                               const Pass &request, Scratch &s, double *sums)
    {
      if (between.dmax == 0.0) return;
      functions[0].kernels.displacements(box, gi.x + 3 * i, size, gj.x + 3 * first, s.x.data(),
                                         s.y.data(), s.z.data());
      s.classes.assign(size, 0);
      s.weights.resize(size);
      int self = -1;
      for (int k = 0; k < size; ++k) {
        if (classes.size() > 1) s.classes[k] = classes.index(gj.type[first + k]);
        s.weights[k] = request.weight(first + k);
        if (gj.id[first + k] == gi.id[i]) self = k;
      }
      const int ci = classes.size() > 1 ? classes.index(gi.type[i]) : 0;
      gather_tables(between.tables[ci], request, s, size, {0, 0, 0, self}, sums);
    }

    // Where s(r) of a pair is added. It is added only to the number of its first atom.
    struct OutputsOfS {
      double *s;          // SecondPass::s
      double *peratom;    // [nlocal][columns]; null: not requested
      int columns;
    };

    // Sums over given pairs. outputs: null: s has no destination. weights: [n] weights of the
    // pairs; null: all are 1, and column 0 is also added to peratom
    void evaluate_pairs(const PairsInput &in, unsigned want, double *peratom,
                        const OutputsOfS *outputs, const double *weights, Contribution &result)
    {
      const bool one_thread = peratom || outputs;
      run_blocks(
          in.n, 64, result,
          [&](std::int64_t begin, std::int64_t end, Scratch &s, BlockSums &block) {
            for (std::int64_t k = begin; k < end; ++k) {
              const int index = table.ntypes() ? table.function_of(in.type_a[k], in.type_b[k]) : 0;
              if (index == SwitchTable::NONE) continue;
              double sums[NSUMS] = {};
              Real dx, dy, dz;
              functions[index].kernels.displacements(in.box, in.xa + 3 * k, 1, in.xb + 3 * k, &dx,
                                                     &dy, &dz);
              gather(index, want, s, {1, &dx, &dy, &dz}, ORIGIN, sums);
              if (outputs && in.row_a[k] >= 0) {
                const std::size_t row = in.row_a[k];
                outputs->s[row] += sums[0];
                if (outputs->peratom) outputs->peratom[outputs->columns * row] += sums[0];
              }
              for (int c = 1; weights && c < NSUMS; ++c) sums[c] *= weights[k];
              // The owner of the first atom counts the pair.
              if (in.row_a[k] >= 0) add_to_block(sums, want, block);
              if (!peratom) continue;
              const int columns = peratom_columns(want);
              if (weights) sums[0] = 0.0;
              add_pair(in, k, sums, columns, peratom);
            }
          },
          // An atom may occur in many pairs, and blocks of different threads could write to the
          // same atom. If sums of atoms are requested, there is therefore only one thread.
          one_thread ? 1 : nthreads);
    }

    static void add_pass(const Contribution &pass, double elapsed, bool counts,
                         Contribution &result)
    {
      result.timings.reduction += pass.timings.reduction;
      result.timings.pairs += elapsed - pass.timings.reduction;
      if (!counts) return;
      result.value += pass.value;
      for (int c = 0; c < 6; ++c) result.virial[c] += pass.virial[c];
    }

    const SwitchTable table;
    const int nthreads;
    std::vector<HostFunction<Real>> functions;
    std::unique_ptr<ClassFunctions<Real>> class_functions;
    std::vector<Scratch> scratch;    // [threads]
    CellTasks tasks;
    std::vector<BlockSums> blocks;
    AtomsByClass by_class;
    std::vector<ClassBins> bins_a, bins_b;    // [groups of classes]
    SortedNeighbors lists_a, lists_b;
    std::vector<RowWithClass> rows_with_classes;    // [nall]
  };

}    // namespace

std::unique_ptr<Coordination> make_host_coordination(const SwitchTable &table, Precision precision,
                                                     int nthreads)
{
  if (precision == Precision::DOUBLE)
    return std::make_unique<HostCoordination<double>>(table, precision, nthreads);
  return std::make_unique<HostCoordination<float>>(table, precision, nthreads);
}

}    // namespace gpucoord
