// Part of GPUCOORD, GPL-2.0. Rigid molecules on the host: OpenMP over molecules, vectors over their partners.
//
// Partners of a molecule within the cutoff are collected first, a component at a time; then each pair of sites is a loop over a
// chunk of them. Sites are rotated once an evaluation.
//
// Traversal TWICE: every owned molecule sums over all its partners, ghosts as well. ONCE: owned molecules meet those of their
// own row of cells that are sorted behind them, and those of rows ahead, with stores to both; ghosts they meet as in TWICE.
// Pieces of rows that may store to the same molecule have different colours, which take turns.
//
// What tasks and pieces of rows sum is added up in order: the bits do not depend on the threads.

#include "gpucoord/multisite.h"

#include "../host/cell_tasks.h"
#include "site_kernels.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <vector>

namespace gpucoord {

namespace {

  // Molecules of one component, sorted into bins, with their sites: [site][axis][molecule]
  template <class Real> struct SortedMolecules {
    int component;
    CellBins bins;
    struct Site {
      std::vector<Real> arm[3], axis[3];
    };
    std::vector<Site> sites;
  };

  // the sites of a component, in one order
  struct SiteOf {
    enum Kind { CENTRE, CHARGE, DIPOLE, QUADRUPOLE } kind;
    std::array<double, 3> position, axis;
    double strength;
    int number;    // among those of its kind
  };

  std::vector<SiteOf> sites_of(const Component &component)
  {
    std::vector<SiteOf> all;
    for (const auto &s : component.centres) all.push_back({SiteOf::CENTRE, s.position, {}, 0.0, static_cast<int>(all.size())});
    int n = 0;
    for (const auto &s : component.charges) all.push_back({SiteOf::CHARGE, s.position, {}, s.charge, n++});
    n = 0;
    for (const auto &s : component.dipoles) all.push_back({SiteOf::DIPOLE, s.position, s.axis, s.moment, n++});
    n = 0;
    for (const auto &s : component.quadrupoles) all.push_back({SiteOf::QUADRUPOLE, s.position, s.axis, s.moment, n++});
    return all;
  }

  // of site a of component i with site b of j
  template <class Real> struct PairOfSites {
    int a, b;
    SiteKernel<Real> kernel[2][2];    // [all][stores]
    SitePairConstants<Real> constants;
    Real cutoff_sq;                   // of the sites
  };

  // Pairs of sites of two components that have the same cutoff.
  template <class Real> struct PairsOfSites {
    double cutoff;         // of pairs of molecules
    bool exact;            // no molecule beyond it counts, and each at it does; otherwise the kernels see to that
    std::vector<PairOfSites<Real>> centres, others;
    std::vector<int> partner_sites;    // all b
  };

  template <class Real> class HostMultisite : public Multisite {
   public:
    HostMultisite(const MultisiteModel &model_in, int nthreads_in, Traversal traversal_in) :
        model(model_in), nthreads(std::max(1, nthreads_in)), traversal(traversal_in), scratch(nthreads)
    {
      const int n = static_cast<int>(model.components().size());
      for (const Component &c : model.components()) sites.push_back(sites_of(c));
      pairs.resize(static_cast<std::size_t>(n) * n);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) make_pairs(i, j);
      first.resize(n);
      ghosts.resize(n);
      for (int c = 0; c < n; ++c) first[c].component = ghosts[c].component = c;
    }

    MultisiteSums evaluate(const Molecules &all, MultisiteWant want, const MultisiteResults &results_in) override
    {
      MultisiteSums total;
      range = model.range();
      if (all.nlocal == 0 || range == 0.0) return total;
      wants_all = want == MultisiteWant::ALL;
      results = results_in;
      const int ncomponents = static_cast<int>(model.components().size());
      make_bins(all);
      for (int i = 0; i < ncomponents; ++i) {
        if (first[i].bins.row.empty()) continue;
        tasks.make(grid, first[i].bins, nthreads);
        if (traversal == Traversal::ONCE) make_pieces();
        for (int j = 0; j < ncomponents; ++j)
          for (const PairsOfSites<Real> &list : pairs[static_cast<std::size_t>(i) * ncomponents + j]) {
            if (traversal == Traversal::ONCE) {
              meet_once(first[i], first[j], list, total);
              meet_twice(first[i], ghosts[j], list, total);
            } else {
              meet_twice(first[i], first[j], list, total);
            }
          }
      }
      return total;
    }

   private:
    void make_pairs(int i, int j)
    {
      const MultisiteOptions &options = model.options();
      PairsOfSites<Real> of_centres, of_others;
      const double reach = options.site_cutoff ? model.reach(i) + model.reach(j) : 0.0;
      of_centres.cutoff = options.cutoff + reach;
      of_others.cutoff = options.cutoff_charge + reach;
      of_centres.exact = of_others.exact = !options.site_cutoff;
      for (int a = 0; a < static_cast<int>(sites[i].size()); ++a)
        for (int b = 0; b < static_cast<int>(sites[j].size()); ++b) {
          const SiteOf &sa = sites[i][a], &sb = sites[j][b];
          if ((sa.kind == SiteOf::CENTRE) != (sb.kind == SiteOf::CENTRE)) continue;
          PairOfSites<Real> pair = {};
          pair.a = a;
          pair.b = b;
          static constexpr SitePairKind KINDS[4][4] = {
              {SitePairKind::LENNARD_JONES},
              {SitePairKind::CHARGES, SitePairKind::CHARGES, SitePairKind::CHARGE_DIPOLE, SitePairKind::CHARGE_QUADRUPOLE},
              {SitePairKind::DIPOLES, SitePairKind::CHARGE_DIPOLE, SitePairKind::DIPOLES, SitePairKind::DIPOLE_QUADRUPOLE},
              {SitePairKind::QUADRUPOLES, SitePairKind::CHARGE_QUADRUPOLE, SitePairKind::DIPOLE_QUADRUPOLE,
               SitePairKind::QUADRUPOLES}};
          for (const bool want : {false, true})
            for (const bool stores : {false, true})
              pair.kernel[want][stores] = kernels.find(KINDS[sa.kind][sb.kind], sa.kind > sb.kind, want, stores);
          const double site_cutoff = sa.kind == SiteOf::CENTRE ? options.cutoff : options.cutoff_charge;
          pair.cutoff_sq = options.site_cutoff ? static_cast<Real>(site_cutoff * site_cutoff)
                                               : std::numeric_limits<Real>::infinity();
          if (sa.kind == SiteOf::CENTRE) {
            const PairOfCentres of = model.centres(i, sa.number, j, sb.number);
            pair.constants.four_epsilon = static_cast<Real>(of.four_epsilon);
            pair.constants.sigma_sq = static_cast<Real>(of.sigma_sq);
            pair.constants.shift = static_cast<Real>(of.shift);
            of_centres.centres.push_back(pair);
          } else {
            pair.constants.strength = static_cast<Real>(options.coulomb * sa.strength * sb.strength);
            pair.constants.field = static_cast<Real>(model.reaction_field_factor() * sa.strength * sb.strength);
            of_others.others.push_back(pair);
          }
        }
      auto &lists = pairs[static_cast<std::size_t>(i) * sites.size() + j];
      if (of_centres.cutoff == of_others.cutoff) {
        of_centres.others = of_others.others;
        of_others.others.clear();
      }
      for (PairsOfSites<Real> &list : {std::ref(of_centres), std::ref(of_others)}) {
        std::set<int> seen;
        for (const auto &pair : list.centres) seen.insert(pair.b);
        for (const auto &pair : list.others) seen.insert(pair.b);
        list.partner_sites.assign(seen.begin(), seen.end());
        if (!seen.empty()) lists.push_back(list);
      }
    }

    void make_bins(const Molecules &all)
    {
      const int ncomponents = static_cast<int>(sites.size());
      const bool once = traversal == Traversal::ONCE;
      std::vector<std::vector<int>> of_first(ncomponents), of_ghosts(ncomponents);
      std::vector<int> everyone(all.nall), nowned(ncomponents, 0);
      for (int i = 0; i < all.nall; ++i) {
        everyone[i] = i;
        const int c = all.component[i];
        (once && i >= all.nlocal ? of_ghosts : of_first)[c].push_back(i);
        if (i < all.nlocal) ++nowned[c];
      }
      grid = make_cell_grid(all.x, {everyone.data(), all.nall, all.nlocal}, {}, range, nthreads);
      const auto build = [&](SortedMolecules<Real> &sorted, const std::vector<int> &index, int owned) {
        sorted.bins.build(grid, all.x, {index.data(), static_cast<int>(index.size()), owned}, nthreads);
        rotate(sorted, all.quaternion);
      };
      for (int c = 0; c < ncomponents; ++c) {
        build(first[c], of_first[c], nowned[c]);
        if (once) build(ghosts[c], of_ghosts[c], 0);
      }
    }

    // all sites into the frame of space
    void rotate(SortedMolecules<Real> &sorted, const double *quaternion)
    {
      const std::vector<SiteOf> &of_component = sites[sorted.component];
      const std::size_t n = sorted.bins.row.size();
      sorted.sites.resize(of_component.size());
      for (std::size_t s = 0; s < of_component.size(); ++s) {
        auto &to = sorted.sites[s];
        const bool has_axis = of_component[s].kind >= SiteOf::DIPOLE;
        for (int k = 0; k < 3; ++k) {
          to.arm[k].resize(n);
          to.axis[k].resize(has_axis ? n : 0);
        }
#pragma omp parallel for schedule(static) num_threads(nthreads)
        for (std::size_t p = 0; p < n; ++p) {
          const double *const q = quaternion + 4 * static_cast<std::size_t>(sorted.bins.row[p]);
          const auto turn = [&](const std::array<double, 3> &v, std::vector<Real> *out) {
            const Vector<double> r = rotated(q, {v[0], v[1], v[2]});
            out[0][p] = static_cast<Real>(r.x);
            out[1][p] = static_cast<Real>(r.y);
            out[2][p] = static_cast<Real>(r.z);
          };
          turn(of_component[s].position, to.arm);
          if (has_axis) turn(of_component[s].axis, to.axis);
        }
      }
    }

    // Tasks of one piece of a row of cells, in a colour of which no two pieces may store to the same molecule.
    struct Piece {
      int colour, begin, end;
    };

    // A piece stores to rows up to 'reach' to either side along y, and up to 'reach' ahead along z. Along x its tasks begin
    // within it, are at most three ranges long, and store one range beyond: with pieces of five ranges, not to what the one
    // after the next stores to.
    void make_pieces()
    {
      const std::vector<CellTask> &all = tasks.all();
      const int width = 2 * grid.reach + 1, depth = grid.reach + 1, size = 5 * grid.x_cells_per_range() + 2;
      const auto place = [&](int t) { return all[t].key / grid.n[0]; };
      const auto along = [&](int t) { return all[t].key % grid.n[0] / size; };
      std::vector<Piece> found;
      for (int t = 0, end; t < static_cast<int>(all.size()); t = end) {
        for (end = t + 1; end < static_cast<int>(all.size()) && place(end) == place(t) && along(end) == along(t);) ++end;
        const auto y = place(t) % grid.n[1], z = place(t) / grid.n[1];
        found.push_back({static_cast<int>((z % depth * width + y % width) * 2 + along(t) % 2), t, end});
      }
      std::stable_sort(found.begin(), found.end(), [](const Piece &a, const Piece &b) { return a.colour < b.colour; });
      pieces = found;
    }

    // Rows of numbers, each beginning where vectors do: a load across two lines of the cache takes twice as long.
    class Rows {
     public:
      void resize(std::size_t nrows, std::size_t n)
      {
        stride = (n + LINE - 1) / LINE * LINE;
        if (memory.size() < nrows * stride + LINE) memory.resize(2 * (nrows * stride + LINE));
        const std::size_t beyond = reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(Real) % LINE;
        begin = memory.data() + (beyond ? LINE - beyond : 0);
      }
      Real *operator[](std::size_t row) { return begin + row * stride; }

     private:
      static constexpr std::size_t LINE = 64 / sizeof(Real);
      std::vector<Real> memory;
      std::size_t stride = 0;
      Real *begin = nullptr;
    };

    // of a site: places, axes and arms
    static constexpr int POSITION = 0, AXIS = 3, ARM = 6, ROWS_OF_A_SITE = 9;

    struct Scratch : CandidateMemory<Real> {
      std::vector<Real> rest;          // of one coordinate of their centres, what rounding has left
      Rows candidates;                 // [site][ROWS_OF_A_SITE]; positions are relative to the origin of the candidates
      std::vector<unsigned char> kept;
      std::vector<int> numbers;        // of partners among the candidates
      Rows partners;                   // as of the candidates, then their centres
      std::vector<const Real *> from;  // rows of candidates that are taken
      std::vector<Real *> to;
      PartnerSums<Real> sums;
    };

    // what one molecule gets
    struct OfMolecule {
      double lennard_jones = 0.0, electrostatic = 0.0, field = 0.0, virial[6] = {}, force[3] = {}, torque[3] = {};
    };

    static void add_up(const std::vector<MultisiteSums> &blocks, MultisiteSums &total)
    {
      for (const MultisiteSums &block : blocks) {
        total.lennard_jones += block.lennard_jones;
        total.electrostatic += block.electrostatic;
        total.reaction_field += block.reaction_field;
        for (int k = 0; k < 6; ++k) total.virial[k] += block.virial[k];
      }
    }

    // owned molecules of one component with all of another
    void meet_twice(const SortedMolecules<Real> &mi, const SortedMolecules<Real> &mj, const PairsOfSites<Real> &list,
                    MultisiteSums &total)
    {
      if (mj.bins.row.empty()) return;
      constexpr std::int64_t SIZE = 16;
      const auto n = static_cast<std::int64_t>(tasks.all().size()), nblocks = (n + SIZE - 1) / SIZE;
      blocks.assign(nblocks, MultisiteSums());
      run_in_parallel(nblocks, nthreads, [&](std::int64_t b) {
        Scratch &s = scratch[omp_get_thread_num()];
        s.forget(grid);
        for (std::int64_t t = b * SIZE; t < std::min(n, (b + 1) * SIZE); ++t) {
          const CellTask &task = tasks.all()[t];
          const CellCandidates found = collect_candidates(keep_near_box, list.cutoff, grid, mi.bins, mj.bins, task, s);
          gather_sites(mj, list, found, s);
          for (int p = task.begin; p < task.end; ++p)
            if (mi.bins.owned[p]) add_partners<false>(mi, mj, list, found, 0, p, s, blocks[b]);
        }
      });
      add_up(blocks, total);
    }

    // Owned molecules of one component with owned ones of another, those it meets: half of the pairs of two components meet when
    // these are given the other way round.
    void meet_once(const SortedMolecules<Real> &mi, const SortedMolecules<Real> &mj, const PairsOfSites<Real> &list,
                   MultisiteSums &total)
    {
      if (mj.bins.row.empty()) return;
      blocks.assign(pieces.size(), MultisiteSums());
      for (std::size_t begin = 0, end; begin < pieces.size(); begin = end) {
        for (end = begin; end < pieces.size() && pieces[end].colour == pieces[begin].colour;) ++end;
        run_in_parallel(static_cast<std::int64_t>(end - begin), nthreads, [&](std::int64_t b) {
          Scratch &s = scratch[omp_get_thread_num()];
          s.forget(grid);
          for (int t = pieces[begin + b].begin; t < pieces[begin + b].end; ++t) {
            const CellTask &task = tasks.all()[t];
            const CellCandidates found =
                collect_candidates(keep_near_box, list.cutoff, grid, mi.bins, mj.bins, task, s, RowsNear::AHEAD);
            gather_sites(mj, list, found, s);
            // of two components the first one meets the other in the own row
            int from = mi.component <= mj.component ? found.own_first : found.own_last;
            for (int p = task.begin; p < task.end; ++p) {
              if (&mi == &mj)
                while (from < found.own_last && s.index[from] <= p) ++from;
              add_partners<true>(mi, mj, list, found, from, p, s, blocks[begin + b]);
            }
          }
        });
      }
      add_up(blocks, total);
    }

    // sites of all candidates
    static void gather_sites(const SortedMolecules<Real> &mj, const PairsOfSites<Real> &list, const CellCandidates &found,
                             Scratch &s)
    {
      const int n = found.count, *const index = s.index.data();
      s.candidates.resize(mj.sites.size() * ROWS_OF_A_SITE, static_cast<std::size_t>(n) + KEPT_MARGIN);
      s.rest.resize(n);
      const auto gather = [&](const std::vector<Real> &from, Real *to) {
        const Real *const of_sorted = from.data();
        for (int m = 0; m < n; ++m) to[m] = of_sorted[index[m]];
      };
      for (int k = 0; k < 3; ++k) {
        // Positions of sites are rounded once: what rounding the centre has left is added to the arm.
        const double *const of_sorted = (k == 0 ? mj.bins.x : k == 1 ? mj.bins.y : mj.bins.z).data();
        const Real *const centre = (k == 0 ? s.x : k == 1 ? s.y : s.z).data();
        Real *const rest = s.rest.data();
        for (int m = 0; m < n; ++m) rest[m] = static_cast<Real>(of_sorted[index[m]] - found.origin[k] - centre[m]);
        for (const int b : list.partner_sites) {
          const std::size_t row = static_cast<std::size_t>(b) * ROWS_OF_A_SITE + k;
          Real *const position = s.candidates[row + POSITION], *const arm = s.candidates[row + ARM];
          gather(mj.sites[b].arm[k], arm);
#pragma omp simd
          for (int m = 0; m < n; ++m) position[m] = centre[m] + (rest[m] + arm[m]);
          if (!mj.sites[b].axis[k].empty()) gather(mj.sites[b].axis[k], s.candidates[row + AXIS]);
        }
      }
    }

    // Partners of the molecule sorted as p and placed at 'centre' among the candidates numbered from 'from' on; returns how many.
    int find_partners(const SortedMolecules<Real> &mi, const SortedMolecules<Real> &mj, const PairsOfSites<Real> &list,
                      const CellCandidates &found, int from, int p, const double *centre, Scratch &s)
    {
      // Positions are rounded to Real relative to an origin not farther than a few times the cutoff: decided again where that may
      // matter, so that who is a partner depends neither on the precision nor on the origin.
      const Real margin = 64 * std::numeric_limits<Real>::epsilon(), cutoff_sq = static_cast<Real>(list.cutoff * list.cutoff);
      const int n = found.count - from;
      if (n <= 0) return 0;
      s.kept.resize(static_cast<std::size_t>(n) / 8 + 1 + KEPT_MARGIN);
      s.numbers.resize(static_cast<std::size_t>(n) + KEPT_MARGIN);
      bool any_outside = false;
      kernels.keep_partners(cutoff_sq * (1 + margin), cutoff_sq * (1 - margin), n, s.x.data() + from, s.y.data() + from,
                            s.z.data() + from, static_cast<Real>(centre[0]), static_cast<Real>(centre[1]),
                            static_cast<Real>(centre[2]), s.kept.data(), any_outside);
      const int *const index = s.index.data() + from;
      const auto drop = [&](int number) { s.kept[number / 8] &= static_cast<unsigned char>(~(1u << number % 8)); };
      if (&mi == &mj && from <= found.own_first) {    // it is no partner of itself
        const int self = static_cast<int>(
            std::lower_bound(index + found.own_first - from, index + found.own_last - from, p) - index);
        if (self < found.own_last - from && index[self] == p) drop(self);
      }
      int count = kernels.list_kept(n, s.kept.data(), s.numbers.data());
      if (!any_outside || !list.exact) return count;
      for (int m = 0; m < count; ++m) {
        const int q = index[s.numbers[m]];
        const Vector<double> d = {mi.bins.x[p] - mj.bins.x[q], mi.bins.y[p] - mj.bins.y[q], mi.bins.z[p] - mj.bins.z[q]};
        if (dot(d, d) > list.cutoff * list.cutoff) drop(s.numbers[m]);
      }
      return kernels.list_kept(n, s.kept.data(), s.numbers.data());
    }

    template <bool STORES>
    void add_partners(const SortedMolecules<Real> &mi, const SortedMolecules<Real> &mj, const PairsOfSites<Real> &list,
                      const CellCandidates &found, int from, int p, Scratch &s, MultisiteSums &block)
    {
      const double centre[3] = {mi.bins.x[p] - found.origin[0], mi.bins.y[p] - found.origin[1], mi.bins.z[p] - found.origin[2]};
      const int count = find_partners(mi, mj, list, found, from, p, centre, s);
      if (count == 0) return;
      const std::size_t of_centres = mj.sites.size() * ROWS_OF_A_SITE;
      const bool needs_centres = STORES || wants_all;
      s.partners.resize(of_centres + 3, static_cast<std::size_t>(count) + KEPT_MARGIN);
      s.from.clear();
      s.to.clear();
      const auto take = [&](const Real *all, std::size_t row) {
        s.from.push_back(all + from);
        s.to.push_back(s.partners[row]);
      };
      for (const int b : list.partner_sites)
        for (int k = 0; k < ROWS_OF_A_SITE; ++k) {
          if (k >= ARM ? !STORES : k >= AXIS && mj.sites[b].axis[0].empty()) continue;
          const std::size_t of_site = static_cast<std::size_t>(b) * ROWS_OF_A_SITE + k;
          take(s.candidates[of_site], of_site);
        }
      if (needs_centres) {
        take(s.x.data(), of_centres);
        take(s.y.data(), of_centres + 1);
        take(s.z.data(), of_centres + 2);
      }
      kernels.take_kept(found.count - from, s.kept.data(), count, s.numbers.data(), static_cast<int>(s.from.size()),
                        s.from.data(), s.to.data());
      OfMolecule sums;
      for (int begin = 0; begin < count; begin += PARTNERS_OF_A_CHUNK) {
        const int n = std::min(PARTNERS_OF_A_CHUNK, count - begin);
        if (needs_centres) clear(n, s.sums);
        add_sites<STORES>(mi, list.centres, p, centre, begin, n, s, sums.lennard_jones, sums);
        add_sites<STORES>(mi, list.others, p, centre, begin, n, s, sums.electrostatic, sums);
        if (!needs_centres) continue;
        Real *x[3];
        for (int k = 0; k < 3; ++k) {
          x[k] = s.partners[of_centres + k] + begin;
          for (int m = 0; m < n; ++m) x[k][m] -= static_cast<Real>(centre[k]);
        }
        if (wants_all) add_virial(n, x, s.sums, sums);
        if (STORES) store(mj, s.index.data() + from, s.numbers.data() + begin, n, x, s.sums);
      }
      const std::size_t row = mi.bins.row[p];
      for (int k = 0; k < 3; ++k) {
        results.force[3 * row + k] += sums.force[k];
        results.torque[3 * row + k] += sums.torque[k];
      }
      if (!wants_all) return;
      if (results.energy) results.energy[row] += 0.5 * (sums.lennard_jones + sums.electrostatic + sums.field);
      for (int k = 0; k < 6 && results.virial; ++k) results.virial[6 * row + k] += 0.5 * sums.virial[k];
      const double of_owned = STORES ? 1.0 : 0.5;
      block.lennard_jones += of_owned * sums.lennard_jones;
      block.electrostatic += of_owned * sums.electrostatic;
      block.reaction_field += of_owned * sums.field;
      for (int k = 0; k < 6; ++k) block.virial[k] += of_owned * sums.virial[k];
    }

    static void clear(int n, PartnerSums<Real> &partners)
    {
      for (int k = 0; k < 3; ++k) {
        std::fill_n(partners.force[k], n, Real(0));
        std::fill_n(partners.torque[k], n, Real(0));
      }
      std::fill_n(partners.energy, n, Real(0));
    }

    template <bool STORES>
    void add_sites(const SortedMolecules<Real> &mi, const std::vector<PairOfSites<Real>> &list, int p, const double *centre,
                   int begin, int n, Scratch &s, double &energy, OfMolecule &sums)
    {
      int a = -1;
      OwnSite<Real> own = {};
      Vector<double> arm = {};
      for (const PairOfSites<Real> &pair : list) {
        if (pair.a != a) {
          a = pair.a;
          const auto &site = mi.sites[a];
          arm = {site.arm[0][p], site.arm[1][p], site.arm[2][p]};
          for (int k = 0; k < 3; ++k) {
            own.position[k] = static_cast<Real>(centre[k] + site.arm[k][p]);
            own.axis[k] = site.axis[k].empty() ? Real(0) : site.axis[k][p];
          }
        }
        PartnerSites<Real> sites_of_b;
        for (int k = 0; k < 3; ++k) {
          const std::size_t row = static_cast<std::size_t>(pair.b) * ROWS_OF_A_SITE + k;
          sites_of_b.position[k] = s.partners[row + POSITION] + begin;
          sites_of_b.axis[k] = s.partners[row + AXIS] + begin;
          sites_of_b.arm[k] = s.partners[row + ARM] + begin;
        }
        SiteSums of;
        pair.kernel[wants_all][STORES](pair.constants, pair.cutoff_sq, n, sites_of_b, own, of, s.sums);
        energy += of.energy;
        sums.field += of.field;
        const Vector<double> t = cross(arm, {of.force[0], of.force[1], of.force[2]});
        const double torque[3] = {t.x, t.y, t.z};
        for (int k = 0; k < 3; ++k) {
          sums.force[k] += of.force[k];
          sums.torque[k] += torque[k] + of.torque[k];
        }
      }
    }

    // x: of the partners' centres, relative to that of the molecule
    static void add_virial(int n, const Real *const *x, const PartnerSums<Real> &partners, OfMolecule &sums)
    {
      static constexpr int A[] = {0, 1, 2, 0, 0, 1}, B[] = {0, 1, 2, 1, 2, 2};
      for (int c = 0; c < 6; ++c) {
        const Real *const xa = x[A[c]], *const f = partners.force[B[c]];
        Real w = 0;
#pragma omp simd reduction(+ : w)
        for (int m = 0; m < n; ++m) w -= xa[m] * f[m];
        sums.virial[c] += w;
      }
    }

    // to the partners
    void store(const SortedMolecules<Real> &mj, const int *index, const int *numbers, int n, const Real *const *x,
               const PartnerSums<Real> &partners)
    {
      for (int m = 0; m < n; ++m) {
        const std::size_t row = mj.bins.row[index[numbers[m]]];
        for (int k = 0; k < 3; ++k) {
          results.force[3 * row + k] -= partners.force[k][m];
          results.torque[3 * row + k] += partners.torque[k][m];
        }
        if (!wants_all) continue;
        if (results.energy) results.energy[row] += 0.5 * partners.energy[m];
        if (!results.virial) continue;
        const double fx = partners.force[0][m], fy = partners.force[1][m], fz = partners.force[2][m];
        const double w[6] = {x[0][m] * fx, x[1][m] * fy, x[2][m] * fz, x[0][m] * fy, x[0][m] * fz, x[1][m] * fz};
        for (int k = 0; k < 6; ++k) results.virial[6 * row + k] -= 0.5 * w[k];
      }
    }

    const MultisiteModel model;
    const int nthreads;
    const Traversal traversal;
    const KeepNearBoxFunction<Real> keep_near_box = select_keep_near_box<Real>();
    const SiteKernels<Real> kernels = select_site_kernels<Real>();
    std::vector<Scratch> scratch;    // one a thread
    std::vector<std::vector<SiteOf>> sites;
    std::vector<std::vector<PairsOfSites<Real>>> pairs;    // [components][components], by cutoff

    // of one evaluation
    double range = 0.0;
    bool wants_all = false;
    MultisiteResults results;
    CellGrid grid;
    std::vector<SortedMolecules<Real>> first, ghosts;    // [components]; ghosts are among the first unless met once
    CellTasks tasks;    // of the component that is summed
    std::vector<Piece> pieces;
    std::vector<MultisiteSums> blocks;
  };

}    // namespace

std::unique_ptr<Multisite> make_host_multisite(const MultisiteModel &model, Precision precision, int nthreads,
                                               Traversal traversal)
{
  if (precision == Precision::DOUBLE) return std::make_unique<HostMultisite<double>>(model, nthreads, traversal);
  return std::make_unique<HostMultisite<float>>(model, nthreads, traversal);
}

}    // namespace gpucoord
