// Part of GPUCOORD, GPL-2.0. Rigid molecules on the host: OpenMP over molecules, vectors over their partners.
//
// Every owned molecule sums over all its partners, ghosts as well. Those within the cutoff are collected first, a chunk of
// one component at a time; then each pair of sites is a loop over the chunk. Sites are rotated once an evaluation.
// Blocks of tasks are added up in order: the bits do not depend on the threads.

#include "gpucoord/multisite.h"

#include "../host/cell_tasks.h"
#include "site_kernels.h"

#include <omp.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace gpucoord {

namespace {

  // Molecules of one component, sorted into bins, with their sites: [site][axis][molecule]
  template <class Real> struct SortedMolecules {
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
    bool is_centre;
    SiteKernel<Real> kernel[2];    // without and with the virial
    SitePairConstants<Real> constants;
  };

  template <class Real> class HostMultisite : public Multisite {
   public:
    HostMultisite(const MultisiteModel &model_in, int nthreads_in) :
        model(model_in), nthreads(std::max(1, nthreads_in)), scratch(nthreads), molecules(model.components().size())
    {
      const int n = static_cast<int>(model.components().size());
      for (const Component &c : model.components()) sites.push_back(sites_of(c));
      pairs.resize(static_cast<std::size_t>(n) * n);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) make_pairs(i, j);
    }

    MultisiteSums evaluate(const Molecules &all, bool virial, double *force, double *torque) override
    {
      const int ncomponents = static_cast<int>(model.components().size());
      std::vector<std::vector<int>> index(ncomponents);
      std::vector<int> everyone(all.nall), nowned(ncomponents, 0);
      for (int i = 0; i < all.nall; ++i) {
        everyone[i] = i;
        index[all.component[i]].push_back(i);
        if (i < all.nlocal) ++nowned[all.component[i]];
      }
      const double range = std::max(model.options().cutoff, model.options().cutoff_charge);
      const int nothing = 0;
      const AtomList every = {everyone.empty() ? &nothing : everyone.data(), all.nall, all.nlocal};
      const CellGrid grid = make_cell_grid(all.x, every, {}, range, nthreads);
      for (int c = 0; c < ncomponents; ++c) {
        const AtomList some = {index[c].empty() ? &nothing : index[c].data(), static_cast<int>(index[c].size()), nowned[c]};
        molecules[c].bins.build(grid, all.x, some, nthreads);
        rotate(c, all.quaternion);
      }
      MultisiteSums total;
      for (int i = 0; i < ncomponents; ++i) {
        tasks.make(grid, molecules[i].bins, nthreads);
        for (int j = 0; j < ncomponents; ++j) add_pairs(grid, range, i, j, virial, force, torque, total);
      }
      return total;
    }

   private:
    void make_pairs(int i, int j)
    {
      auto &list = pairs[static_cast<std::size_t>(i) * sites.size() + j];
      for (int a = 0; a < static_cast<int>(sites[i].size()); ++a)
        for (int b = 0; b < static_cast<int>(sites[j].size()); ++b) {
          const SiteOf &sa = sites[i][a], &sb = sites[j][b];
          if ((sa.kind == SiteOf::CENTRE) != (sb.kind == SiteOf::CENTRE)) continue;
          PairOfSites<Real> pair = {};
          pair.a = a;
          pair.b = b;
          pair.is_centre = sa.kind == SiteOf::CENTRE;
          static constexpr SitePairKind KINDS[4][4] = {
              {SitePairKind::LENNARD_JONES},
              {SitePairKind::CHARGES, SitePairKind::CHARGES, SitePairKind::CHARGE_DIPOLE, SitePairKind::CHARGE_QUADRUPOLE},
              {SitePairKind::DIPOLES, SitePairKind::CHARGE_DIPOLE, SitePairKind::DIPOLES, SitePairKind::DIPOLE_QUADRUPOLE},
              {SitePairKind::QUADRUPOLES, SitePairKind::CHARGE_QUADRUPOLE, SitePairKind::DIPOLE_QUADRUPOLE, SitePairKind::QUADRUPOLES}};
          const SitePairKind kind = KINDS[sa.kind][sb.kind];
          for (const bool virial : {false, true}) pair.kernel[virial] = select_site_kernel<Real>(kind, sa.kind > sb.kind, virial);
          if (pair.is_centre) {
            const PairOfCentres of = model.centres(i, sa.number, j, sb.number);
            pair.constants.four_epsilon = of.four_epsilon;
            pair.constants.sigma_sq = of.sigma_sq;
            pair.constants.shift = of.shift;
          } else {
            pair.constants.strength = model.options().coulomb * sa.strength * sb.strength;
            pair.constants.field = model.reaction_field_factor() * sa.strength * sb.strength;
          }
          list.push_back(pair);
        }
    }

    // all sites of the molecules of a component into the frame of space
    void rotate(int c, const double *quaternion)
    {
      SortedMolecules<Real> &sorted = molecules[c];
      const std::size_t n = sorted.bins.row.size();
      sorted.sites.resize(sites[c].size());
      for (std::size_t s = 0; s < sites[c].size(); ++s) {
        auto &to = sorted.sites[s];
        const bool has_axis = sites[c][s].kind >= SiteOf::DIPOLE;
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
          turn(sites[c][s].position, to.arm);
          if (has_axis) turn(sites[c][s].axis, to.axis);
        }
      }
    }

    struct Scratch : CandidateMemory<Real> {
      NearMolecules<Real> near;
      int index[NearMolecules<Real>::CHUNK];    // among the sorted molecules
      std::vector<NearSites<Real>> sites;
    };

    // what one molecule gets
    struct OfMolecule {
      double lennard_jones = 0.0, electrostatic = 0.0, field = 0.0, virial[6] = {}, force[3] = {}, torque[3] = {};
    };

    void add_pairs(const CellGrid &grid, double range, int ci, int cj, bool virial, double *force, double *torque,
                   MultisiteSums &total)
    {
      const auto &list = pairs[static_cast<std::size_t>(ci) * sites.size() + cj];
      if (list.empty()) return;
      const SortedMolecules<Real> &mi = molecules[ci], &mj = molecules[cj];
      const auto square = [](double x) { return static_cast<Real>(x * x); };
      const Real cutoff_sq[2] = {square(model.options().cutoff_charge), square(model.options().cutoff)};    // by is_centre
      const bool same_cutoff = cutoff_sq[0] == cutoff_sq[1];
      constexpr std::int64_t SIZE = 16;
      const auto n = static_cast<std::int64_t>(tasks.all().size()), nblocks = (n + SIZE - 1) / SIZE;
      blocks.assign(nblocks, MultisiteSums());
      run_in_parallel(nblocks, nthreads, [&](std::int64_t b) {
        Scratch &s = scratch[omp_get_thread_num()];
        MultisiteSums &block = blocks[b];
        s.forget(grid);
        s.sites.resize(mj.sites.size());
        for (std::int64_t t = b * SIZE; t < std::min(n, (b + 1) * SIZE); ++t) {
          const CellTask &task = tasks.all()[t];
          const CellCandidates found =
              collect_candidates(keep_near_box, range, grid, mi.bins, mj.bins, task, s);
          for (int p = task.begin; p < task.end; ++p) {
            if (!mi.bins.owned[p]) continue;
            OfMolecule sums;
            for (int of_centres = 0; of_centres < (same_cutoff ? 1 : 2); ++of_centres)
              add_partners(mi, mj, list, found, p, cutoff_sq[of_centres], same_cutoff ? -1 : of_centres, virial, s, sums);
            const std::size_t row = mi.bins.row[p];
            for (int k = 0; k < 3; ++k) {
              force[3 * row + k] += sums.force[k];
              torque[3 * row + k] += sums.torque[k];
            }
            block.lennard_jones += 0.5 * sums.lennard_jones;
            block.electrostatic += 0.5 * sums.electrostatic;
            block.reaction_field += 0.5 * sums.field;
            for (int k = 0; k < 6; ++k) block.virial[k] += 0.5 * sums.virial[k];
          }
        }
      });
      for (const MultisiteSums &block : blocks) {
        total.lennard_jones += block.lennard_jones;
        total.electrostatic += block.electrostatic;
        total.reaction_field += block.reaction_field;
        for (int k = 0; k < 6; ++k) total.virial[k] += block.virial[k];
      }
    }

    // which: pairs of centres, 1, of others, 0, or of all, -1
    void add_partners(const SortedMolecules<Real> &mi, const SortedMolecules<Real> &mj, const std::vector<PairOfSites<Real>> &list,
                      const CellCandidates &found, int p, Real cutoff_sq, int which, bool virial, Scratch &s, OfMolecule &sums)
    {
      constexpr int CHUNK = NearMolecules<Real>::CHUNK;
      const Real x = static_cast<Real>(mi.bins.x[p] - found.origin[0]), y = static_cast<Real>(mi.bins.y[p] - found.origin[1]),
                 z = static_cast<Real>(mi.bins.z[p] - found.origin[2]);
      const int row = mi.bins.row[p];
      int next = 0;
      while (next < found.count) {
        int n = 0;
        for (; next < found.count && n < CHUNK; ++next) {    // without branches
          const Real dx = s.x[next] - x, dy = s.y[next] - y, dz = s.z[next] - z;
          s.near.x[0][n] = dx;
          s.near.x[1][n] = dy;
          s.near.x[2][n] = dz;
          s.index[n] = s.CandidateMemory<Real>::index[next];
          n += dx * dx + dy * dy + dz * dz <= cutoff_sq && mj.bins.row[s.index[n]] != row;
        }
        s.near.n = n;
        if (n == 0) continue;
        for (std::size_t b = 0; b < mj.sites.size(); ++b)
          for (int k = 0; k < 3; ++k) {
            const auto &site = mj.sites[b];
            for (int m = 0; m < n; ++m) s.sites[b].arm[k][m] = site.arm[k][s.index[m]];
            if (!site.axis[k].empty())
              for (int m = 0; m < n; ++m) s.sites[b].axis[k][m] = site.axis[k][s.index[m]];
          }
        int a = -1;
        OwnSite<Real> own = {};
        for (const PairOfSites<Real> &pair : list) {
          if (which >= 0 && pair.is_centre != (which == 1)) continue;
          if (pair.a != a) {
            a = pair.a;
            for (int k = 0; k < 3; ++k) {
              own.arm[k] = mi.sites[a].arm[k][p];
              own.axis[k] = mi.sites[a].axis[k].empty() ? Real(0) : mi.sites[a].axis[k][p];
            }
          }
          SiteSums of;
          pair.kernel[virial](pair.constants, s.near, s.sites[pair.b], own, of);
          (pair.is_centre ? sums.lennard_jones : sums.electrostatic) += of.energy;
          sums.field += of.field;
          const Vector<double> f = {of.force[0], of.force[1], of.force[2]};
          const Vector<double> t = cross({own.arm[0], own.arm[1], own.arm[2]}, f);
          const double torque[3] = {t.x, t.y, t.z};
          for (int k = 0; k < 3; ++k) {
            sums.force[k] += of.force[k];
            sums.torque[k] += torque[k] + of.torque[k];
          }
          for (int k = 0; k < 6; ++k) sums.virial[k] += of.virial[k];
        }
      }
    }

    const MultisiteModel model;
    const int nthreads;
    const KeepNearBoxFunction<Real> keep_near_box = select_keep_near_box<Real>();
    std::vector<Scratch> scratch;    // one a thread
    std::vector<std::vector<SiteOf>> sites;
    std::vector<std::vector<PairOfSites<Real>>> pairs;    // [components][components]
    std::vector<SortedMolecules<Real>> molecules;
    CellTasks tasks;    // of the component that is summed
    std::vector<MultisiteSums> blocks;
  };

}    // namespace

std::unique_ptr<Multisite> make_host_multisite(const MultisiteModel &model, Precision precision, int nthreads)
{
  if (precision == Precision::DOUBLE) return std::make_unique<HostMultisite<double>>(model, nthreads);
  return std::make_unique<HostMultisite<float>>(model, nthreads);
}

}    // namespace gpucoord
