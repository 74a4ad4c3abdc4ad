// Part of GPUCOORD, GPL-2.0. Rigid molecules on the host: OpenMP over molecules, SIMD over their
// partners.
//
// The partners of a molecule within the cutoff are collected first, one component at a time. Then
// each pair of sites is a loop over a chunk of partners. Sites are rotated once per evaluation.
//
// Every owned molecule sums over all its partners, including ghosts. The sums of tasks are added in
// order. Results are therefore bitwise independent of the number of threads.

#include "../core/instruction_set.h"
#include "../core/run_in_parallel.h"
#include "../pairs/cell_tasks_host.h"
#include "site_kernels_host.h"

#include "gpucoord/counters.h"
#include "gpucoord/multisite.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace gpucoord {

GPUCOORD_SELECT_KERNELS(SiteKernels, get_site_kernels, select_site_kernels)

namespace {

  // A matrix whose rows begin at vector boundaries, because a load across two cache lines takes
  // twice as long.
  template <class Real> class Rows {
   public:
    void resize(std::size_t nrows, std::size_t n)
    {
      row_stride = (n + LINE - 1) / LINE * LINE;
      if (memory.size() < nrows * row_stride + LINE) memory.resize(2 * (nrows * row_stride + LINE));
      const std::size_t beyond =
          reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(Real) % LINE;
      begin = memory.data() + (beyond ? LINE - beyond : 0);
    }
    std::size_t stride() const { return row_stride; }
    std::size_t bytes() const { return bytes_of(memory); }
    Real *operator[](std::size_t row) { return begin + row * row_stride; }
    const Real *operator[](std::size_t row) const { return begin + row * row_stride; }

   private:
    static constexpr std::size_t LINE = RECORD_UNIT<Real>;
    std::vector<Real> memory;
    std::size_t row_stride = 0;
    Real *begin = nullptr;
  };

  // Molecules of one component, sorted into bins. sites: [molecules][fields] arms and axes of their
  // sites
  template <class Real> struct SortedMolecules {
    int component;
    CellBins bins;
    Rows<Real> sites;
    std::size_t bytes() const { return bytes_of(bins, sites); }
  };

  // A site of a component; sites_of() defines their order.
  struct SiteOf {
    enum Kind { CENTER, CHARGE, DIPOLE, QUADRUPOLE } kind;
    std::array<double, 3> position, axis;
    double strength;
    int index;    // index among the sites of the same kind
    bool has_axis() const { return kind >= DIPOLE; }
  };

  std::vector<SiteOf> sites_of(const Component &component)
  {
    std::vector<SiteOf> all;
    for (const auto &s : component.centers)
      all.push_back({SiteOf::CENTER, s.position, {}, 0.0, static_cast<int>(all.size())});
    int n = 0;
    for (const auto &s : component.charges)
      all.push_back({SiteOf::CHARGE, s.position, {}, s.charge, n++});
    n = 0;
    for (const auto &s : component.dipoles)
      all.push_back({SiteOf::DIPOLE, s.position, s.axis, s.moment, n++});
    n = 0;
    for (const auto &s : component.quadrupoles)
      all.push_back({SiteOf::QUADRUPOLE, s.position, s.axis, s.moment, n++});
    return all;
  }

  // A pair of site a of component i and site b of component j.
  template <class Real> struct PairOfSites {
    int a, b;
    SiteKernel<Real> kernel[2];    // [all]
    SitePairConstants<Real> constants;
    Real cutoff_sq;    // between the sites, distance^2
  };

  // Pairs of sites of two components with the same cutoff.
  template <class Real> struct PairsOfSites {
    double cutoff;    // between centers of mass, distance
    // The pairs of molecules within the cutoff are exactly those that count; false: the kernels
    // test the sites.
    bool exact;
    std::vector<PairOfSites<Real>> centers, others;
  };

  template <class Real> class HostMultisite : public Multisite {
   public:
    HostMultisite(const MultisiteModel &model_in, int nthreads_in) :
        model(model_in), nthreads(std::max(1, nthreads_in)), scratch(nthreads)
    {
      const int n = static_cast<int>(model.components().size());
      for (const Component &c : model.components()) {
        sites.push_back(sites_of(c));
        int offset = 0;
        first_field.emplace_back();
        for (const SiteOf &site : sites.back()) {
          first_field.back().push_back(offset);
          offset += site.has_axis() ? 6 : 3;
        }
        fields.push_back(offset);
      }
      pairs.resize(static_cast<std::size_t>(n) * n);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) make_pairs(i, j);
      molecules.resize(n);
      for (int c = 0; c < n; ++c) molecules[c].component = c;
    }

    MultisiteSums evaluate(const Molecules &all, MultisiteWant want,
                           const MultisiteResults &results_in) override
    {
      GPUCOORD_COUNT(MOLECULES_HOST);
      MultisiteSums total;
      range = model.range();
      if (all.nlocal == 0 || range == 0.0) return total;
      wants_all = want == MultisiteWant::ALL;
      results = results_in;
      const int ncomponents = static_cast<int>(model.components().size());
      make_bins(all);
      for (int i = 0; i < ncomponents; ++i) {
        if (molecules[i].bins.row.empty()) continue;
        tasks.make(grid, molecules[i].bins, nthreads);
        for (int j = 0; j < ncomponents; ++j)
          for (const PairsOfSites<Real> &list :
               pairs[static_cast<std::size_t>(i) * ncomponents + j])
            add_pairs(molecules[i], molecules[j], list, total);
      }
      return total;
    }

    std::size_t bytes() const override { return bytes_of(scratch, molecules, tasks, blocks); }

   private:
    void make_pairs(int i, int j)
    {
      const MultisiteOptions &options = model.options();
      PairsOfSites<Real> center_pairs, other_pairs;
      const double reach = options.site_cutoff ? model.reach(i) + model.reach(j) : 0.0;
      center_pairs.cutoff = options.cutoff + reach;
      other_pairs.cutoff = options.cutoff_charge + reach;
      center_pairs.exact = other_pairs.exact = !options.site_cutoff;
      for (int a = 0; a < static_cast<int>(sites[i].size()); ++a)
        for (int b = 0; b < static_cast<int>(sites[j].size()); ++b) {
          const SiteOf &sa = sites[i][a], &sb = sites[j][b];
          if ((sa.kind == SiteOf::CENTER) != (sb.kind == SiteOf::CENTER)) continue;
          PairOfSites<Real> pair = {};
          pair.a = a;
          pair.b = b;
          static constexpr SitePairKind KINDS[4][4] = {
              {SitePairKind::LENNARD_JONES},
              {SitePairKind::CHARGES, SitePairKind::CHARGES, SitePairKind::CHARGE_DIPOLE,
               SitePairKind::CHARGE_QUADRUPOLE},
              {SitePairKind::DIPOLES, SitePairKind::CHARGE_DIPOLE, SitePairKind::DIPOLES,
               SitePairKind::DIPOLE_QUADRUPOLE},
              {SitePairKind::QUADRUPOLES, SitePairKind::CHARGE_QUADRUPOLE,
               SitePairKind::DIPOLE_QUADRUPOLE, SitePairKind::QUADRUPOLES}};
          for (const bool want : {false, true})
            pair.kernel[want] = kernels.find(KINDS[sa.kind][sb.kind], sa.kind > sb.kind, want);
          const double site_cutoff = sa.kind == SiteOf::CENTER ? options.cutoff
                                                               : options.cutoff_charge;
          pair.cutoff_sq = options.site_cutoff ? static_cast<Real>(site_cutoff * site_cutoff)
                                               : std::numeric_limits<Real>::infinity();
          if (sa.kind == SiteOf::CENTER) {
            const PairOfCenters centers = model.centers(i, sa.index, j, sb.index);
            pair.constants.four_epsilon = static_cast<Real>(centers.four_epsilon);
            pair.constants.sigma_sq = static_cast<Real>(centers.sigma_sq);
            pair.constants.shift = static_cast<Real>(centers.shift);
            center_pairs.centers.push_back(pair);
          } else {
            pair.constants.strength =
                static_cast<Real>(options.coulomb * sa.strength * sb.strength);
            pair.constants.field =
                static_cast<Real>(model.reaction_field_factor() * sa.strength * sb.strength);
            other_pairs.others.push_back(pair);
          }
        }
      auto &lists = pairs[static_cast<std::size_t>(i) * sites.size() + j];
      if (center_pairs.cutoff == other_pairs.cutoff) {
        center_pairs.others = other_pairs.others;
        other_pairs.others.clear();
      }
      if (!center_pairs.centers.empty() || !center_pairs.others.empty())
        lists.push_back(center_pairs);
      if (!other_pairs.others.empty()) lists.push_back(other_pairs);
    }

    void make_bins(const Molecules &all)
    {
      const int ncomponents = static_cast<int>(sites.size());
      std::vector<std::vector<int>> indices(ncomponents);
      std::vector<int> all_indices(all.nall), nowned(ncomponents, 0);
      for (int i = 0; i < all.nall; ++i) {
        all_indices[i] = i;
        const int c = all.component[i];
        indices[c].push_back(i);
        if (i < all.nlocal) ++nowned[c];
      }
      grid = make_cell_grid(all.x, {all_indices.data(), all.nall, all.nlocal}, {}, range, nthreads);
      for (int c = 0; c < ncomponents; ++c) {
        molecules[c].bins.build(grid, all.x,
                                {indices[c].data(), static_cast<int>(indices[c].size()), nowned[c]},
                                nthreads);
        rotate(molecules[c], all.quaternion);
      }
    }

    // Rotates all sites into the laboratory frame.
    void rotate(SortedMolecules<Real> &sorted, const double *quaternion)
    {
      const std::vector<SiteOf> &component_sites = sites[sorted.component];
      const std::size_t n = sorted.bins.row.size();
      sorted.sites.resize(n, fields[sorted.component]);
#pragma omp parallel for schedule(static) num_threads(nthreads)
      for (std::size_t p = 0; p < n; ++p) {
        const double *const q = quaternion + 4 * static_cast<std::size_t>(sorted.bins.row[p]);
        Real *to = sorted.sites[p];
        const auto turn = [&](const std::array<double, 3> &v) {
          const Vector<double> r = rotated(q, {v[0], v[1], v[2]});
          *to++ = static_cast<Real>(r.x);
          *to++ = static_cast<Real>(r.y);
          *to++ = static_cast<Real>(r.z);
        };
        for (const SiteOf &site : component_sites) {
          turn(site.position);
          if (site.has_axis()) turn(site.axis);
        }
      }
    }

    struct Scratch : CandidateMemory<Real> {
      std::vector<unsigned char> kept;
      // Indices of the partners: first among the candidates, then among the sorted molecules.
      std::vector<int> kept_indices;
      // [3 + fields][partners] centers relative to that of the molecule, then fields of the sites
      Rows<Real> partners;
      PartnerForces<Real> forces;
      alignas(64) Real no_axis[PARTNERS_PER_CHUNK] = {};

      std::size_t bytes() const
      {
        return CandidateMemory<Real>::bytes() + bytes_of(kept, kept_indices, partners);
      }
    };

    // Sums of one molecule.
    struct MoleculeTotals {
      double lennard_jones = 0.0, electrostatic = 0.0, field = 0.0, virial[6] = {}, force[3] = {},
             torque[3] = {};
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

    // Sums over all molecules of one component for the owned molecules of another component.
    void add_pairs(const SortedMolecules<Real> &mi, const SortedMolecules<Real> &mj,
                   const PairsOfSites<Real> &list, MultisiteSums &total)
    {
      if (mj.bins.row.empty()) return;
      constexpr std::int64_t SIZE = 16;
      const auto n = static_cast<std::int64_t>(tasks.all().size()), nblocks = (n + SIZE - 1) / SIZE;
      blocks.assign(nblocks, MultisiteSums());
      run_in_parallel(nblocks, nthreads, [&](std::int64_t b) {
        Scratch &s = scratch[omp_get_thread_num()];
        s.invalidate(grid);
        for (std::int64_t t = b * SIZE; t < std::min(n, (b + 1) * SIZE); ++t) {
          const CellTask &task = tasks.all()[t];
          const CellCandidates found =
              collect_candidates(keep_near_box, list.cutoff, grid, mi.bins, mj.bins, task, s);
          for (int p = task.begin; p < task.end; ++p)
            if (mi.bins.owned[p]) add_partners(mi, mj, list, found, p, s, blocks[b]);
        }
      });
      add_up(blocks, total);
    }

    // Finds the partners of molecule p of the sorted molecules, which is at 'center', among the
    // candidates. Returns their number.
    int find_partners(const SortedMolecules<Real> &mi, const SortedMolecules<Real> &mj,
                      const PairsOfSites<Real> &list, const CellCandidates &found, int p,
                      const Real *center, Scratch &s)
    {
      // Positions are rounded to Real, relative to an origin that is at most a few times the cutoff
      // away. Pairs close to the cutoff are tested again in double. The partners therefore depend
      // neither on the precision nor on the origin.
      const Real margin = 64 * std::numeric_limits<Real>::epsilon(),
                 cutoff_sq = static_cast<Real>(list.cutoff * list.cutoff);
      const int n = found.count;
      if (n == 0) return 0;
      s.kept.resize(static_cast<std::size_t>(n) / 8 + 1 + KEPT_MARGIN);
      s.kept_indices.resize(static_cast<std::size_t>(n) + KEPT_MARGIN);
      bool any_outside = false;
      kernels.keep_partners(cutoff_sq * (1 + margin), cutoff_sq * (1 - margin),
                            {n, s.x.data(), s.y.data(), s.z.data()},
                            {center[0], center[1], center[2], -1}, s.kept.data(), any_outside);
      const int *const index = s.index.data();
      const auto drop = [&](int k) {
        s.kept[k / 8] &= static_cast<unsigned char>(~(1u << k % 8));
      };
      if (&mi == &mj) {    // a molecule is not its own partner
        const int self = static_cast<int>(
            std::lower_bound(index + found.own_first, index + found.own_last, p) - index);
        if (self < found.own_last && index[self] == p) drop(self);
      }
      int count = kernels.list_kept(n, s.kept.data(), s.kept_indices.data());
      if (!any_outside || !list.exact) return count;
      for (int m = 0; m < count; ++m) {
        const int q = index[s.kept_indices[m]];
        const Vector<double> d = {mi.bins.x[p] - mj.bins.x[q], mi.bins.y[p] - mj.bins.y[q],
                                  mi.bins.z[p] - mj.bins.z[q]};
        if (dot(d, d) > list.cutoff * list.cutoff) drop(s.kept_indices[m]);
      }
      return kernels.list_kept(n, s.kept.data(), s.kept_indices.data());
    }

    void add_partners(const SortedMolecules<Real> &mi, const SortedMolecules<Real> &mj,
                      const PairsOfSites<Real> &list, const CellCandidates &found, int p,
                      Scratch &s, MultisiteSums &block)
    {
      const Real center[3] = {static_cast<Real>(mi.bins.x[p] - found.origin[0]),
                              static_cast<Real>(mi.bins.y[p] - found.origin[1]),
                              static_cast<Real>(mi.bins.z[p] - found.origin[2])};
      const int count = find_partners(mi, mj, list, found, p, center, s);
      if (count == 0) return;
      const int nfields = fields[mj.component];
      s.partners.resize(3 + static_cast<std::size_t>(nfields),
                        static_cast<std::size_t>(count) + KEPT_MARGIN);
      const Real *const candidate_coordinates[3] = {s.x.data(), s.y.data(), s.z.data()};
      for (int k = 0; k < 3; ++k)
        kernels.copy_kept(found.count, s.kept.data(), count, s.kept_indices.data(),
                          candidate_coordinates[k], center[k], s.partners[k]);
      for (int m = 0; m < count; ++m) s.kept_indices[m] = s.index[s.kept_indices[m]];
      kernels.gather_records(count, s.kept_indices.data(), static_cast<int>(mj.sites.stride()),
                             nfields, mj.sites[0], s.partners.stride(), s.partners[3]);
      MoleculeTotals sums;
      for (int begin = 0; begin < count; begin += PARTNERS_PER_CHUNK) {
        const int n = std::min(PARTNERS_PER_CHUNK, count - begin);
        if (wants_all)
          for (auto &component : s.forces.force) std::fill_n(component, n, Real(0));
        add_sites(mi, mj, list.centers, p, begin, n, s, sums.lennard_jones, sums);
        add_sites(mi, mj, list.others, p, begin, n, s, sums.electrostatic, sums);
        const Real *const x[3] = {s.partners[0] + begin, s.partners[1] + begin,
                                  s.partners[2] + begin};
        if (wants_all) add_virial(n, x, s.forces, sums);
      }
      const std::size_t row = mi.bins.row[p];
      for (int k = 0; k < 3; ++k) {
        results.force[3 * row + k] += sums.force[k];
        results.torque[3 * row + k] += sums.torque[k];
      }
      if (!wants_all) return;
      if (results.energy)
        results.energy[row] += 0.5 * (sums.lennard_jones + sums.electrostatic + sums.field);
      for (int k = 0; k < 6 && results.virial; ++k)
        results.virial[6 * row + k] += 0.5 * sums.virial[k];
      block.lennard_jones += 0.5 * sums.lennard_jones;
      block.electrostatic += 0.5 * sums.electrostatic;
      block.reaction_field += 0.5 * sums.field;
      for (int k = 0; k < 6; ++k) block.virial[k] += 0.5 * sums.virial[k];
    }

    void add_sites(const SortedMolecules<Real> &mi, const SortedMolecules<Real> &mj,
                   const std::vector<PairOfSites<Real>> &list, int p, int begin, int n, Scratch &s,
                   double &energy, MoleculeTotals &sums)
    {
      int a = -1;
      OwnSite<Real> own = {};
      for (const PairOfSites<Real> &pair : list) {
        if (pair.a != a) {
          a = pair.a;
          const Real *const site = mi.sites[p] + first_field[mi.component][a];
          for (int k = 0; k < 3; ++k) {
            own.arm[k] = site[k];
            own.axis[k] = sites[mi.component][a].has_axis() ? site[3 + k] : Real(0);
          }
        }
        PartnerSites<Real> partner_sites;
        for (int k = 0; k < 3; ++k) {
          const std::size_t row =
              3 + static_cast<std::size_t>(first_field[mj.component][pair.b]) + k;
          partner_sites.center[k] = s.partners[k] + begin;
          partner_sites.arm[k] = s.partners[row] + begin;
          partner_sites.axis[k] =
              sites[mj.component][pair.b].has_axis() ? s.partners[row + 3] + begin : s.no_axis;
        }
        SiteSums site_sums;
        pair.kernel[wants_all](pair.constants, pair.cutoff_sq, n, partner_sites, own, site_sums,
                               s.forces);
        energy += site_sums.energy;
        sums.field += site_sums.field;
        const Vector<double> arm = {own.arm[0], own.arm[1], own.arm[2]},
                             f = {site_sums.force[0], site_sums.force[1], site_sums.force[2]};
        const Vector<double> t = cross(arm, f);
        const double torque[3] = {t.x, t.y, t.z};
        for (int k = 0; k < 3; ++k) {
          sums.force[k] += site_sums.force[k];
          sums.torque[k] += torque[k] + site_sums.torque[k];
        }
      }
    }

    // x: [3][n] centers of the partners relative to that of the molecule, distance
    static void add_virial(int n, const Real *const *x, const PartnerForces<Real> &partners,
                           MoleculeTotals &sums)
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

    const MultisiteModel model;
    const int nthreads;
    const KeepNearBoxFunction<Real> keep_near_box = select_keep_near_box<Real>();
    const SiteKernels<Real> kernels = select_site_kernels<Real>();
    std::vector<Scratch> scratch;    // [threads]
    std::vector<std::vector<SiteOf>> sites;
    // [components][sites] index of the first field of the site in the row of a molecule
    std::vector<std::vector<int>> first_field;
    std::vector<int> fields;    // [components] length of a molecule's row
    std::vector<std::vector<PairsOfSites<Real>>> pairs;    // [components][components], by cutoff

    // Data of one evaluation.
    double range = 0.0;
    bool wants_all = false;
    MultisiteResults results;
    CellGrid grid;
    std::vector<SortedMolecules<Real>> molecules;    // [components] with ghosts
    CellTasks tasks;                                 // tasks of the current component
    std::vector<MultisiteSums> blocks;
  };

}    // namespace

std::unique_ptr<Multisite> make_host_multisite(const MultisiteModel &model, Precision precision,
                                               int nthreads)
{
  if (precision == Precision::DOUBLE)
    return std::make_unique<HostMultisite<double>>(model, nthreads);
  return std::make_unique<HostMultisite<float>>(model, nthreads);
}

}    // namespace gpucoord
