// Part of GPUCOORD, GPL-2.0. Launches the kernels of rigid molecules.
//
// Molecules are sorted into bins, one component at a time. One kernel runs for each ordered pair of
// components. All work of an evaluation is enqueued on one stream.

#include "molecule_engine_cuda.h"

#include "../gpu/splits.h"
#include "../gpu/staging.h"
#include "../pairs/launch_cuda.h"
#include "molecule_shapes_cuda.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>

namespace gpucoord {

namespace {

  // A table that kernels take as a parameter or read from memory.
  template <class Real> class Table {
   public:
    void add(double x, double y, double z, double w)
    {
      host.push_back(
          {static_cast<Real>(x), static_cast<Real>(y), static_cast<Real>(z), static_cast<Real>(w)});
    }
    void add(const std::array<double, 3> &v, double w) { add(v[0], v[1], v[2], w); }
    void copy()
    {
      if (!host.empty()) send_table(host, device);
    }
    const Four<Real> *data(bool on_device) const { return on_device ? device.data() : host.data(); }

   private:
    std::vector<Four<Real>> host;
    DeviceBuffer<Four<Real>> device;
  };

  // The sites of one component.
  template <class Real> class SitesTable {
   public:
    explicit SitesTable(const Component &component) : c(component)
    {
      for (const auto &site : c.centers) positions.add(site.position, 0.0);
      for (const auto &site : c.charges) positions.add(site.position, site.charge);
      for (const auto *sites : {&c.dipoles, &c.quadrupoles})
        for (const auto &site : *sites) {
          positions.add(site.position, site.moment);
          axes.add(site.axis, 0.0);
        }
      positions.copy();
      axes.copy();
    }
    SitesView<Real> view(bool on_device) const
    {
      const auto size = [](const auto &sites) {
        return static_cast<int>(sites.size());
      };
      return {positions.data(on_device), axes.data(on_device), size(c.centers),
              size(c.charges),           size(c.dipoles),      size(c.quadrupoles)};
    }

   private:
    const Component &c;
    Table<Real> positions, axes;
  };

  template <class Real> std::vector<MoleculeLauncher<Real>> all_launchers()
  {
    std::vector<MoleculeLauncher<Real>> all;
    const auto add = [&](auto sites) {
      get_molecule_launcher<decltype(sites)>(all.emplace_back());
    };
    add(sites::Any());
    add(sites::Center());
    add(sites::TwoCenters());
    add(sites::TwoCentersQuadrupole());
    add(sites::ThreeCentersQuadrupole());
    add(sites::ThreeCentersCharges());
    add(sites::ThreeCentersDipole());
    add(sites::CenterThreeCharges());
    return all;
  }

  template <class Real> class Engine : public MoleculeEngine {
   public:
    Engine(const MultisiteModel &model_in, const MultisiteTuning &tuning) :
        model(model_in), components(model.components().size())
    {
      check_kernels();
      shape = {tuning.warps_per_block, device_attribute(cudaDevAttrMultiProcessorCount)};
      for (const Component &component : model.components()) sites.emplace_back(component);
      const int n = static_cast<int>(sites.size());
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) pairs.emplace_back().make(*this, i, j, tuning.any_sites);
      the_total.reserve(1);
    }

    void enqueue(const MoleculesByComponent &in, MultisiteWant want, cudaStream_t stream) override
    {
      begun.record(stream);
      const BinGrid grid = sort(in, stream);
      binned.record(stream);
      add_pairs(grid, in.nowned, want, stream);
      paired.record(stream);
      if (want == MultisiteWant::ALL) {
        if (ntotals > static_cast<std::size_t>(std::numeric_limits<int>::max()))
          throw DeviceError("more than 2147483647 warps of molecules on one GPU");
        reduce(warp_sums.data(), static_cast<int>(ntotals), the_total.data(), workspace, stream);
      }
      reduced.record(stream);
    }

    const double *sums() const override { return all_sums.data(); }
    const MoleculeSums *total() const override { return the_total.data(); }

    Timings timings() const override
    {
      Timings result;
      result.bins = seconds_between(begun, binned);
      result.pairs = seconds_between(binned, paired);
      result.reduction = seconds_between(paired, reduced);
      return result;
    }

    std::size_t bytes() const override
    {
      std::size_t bytes = all_sums.bytes() + parts.bytes() + warp_sums.bytes() + workspace.bytes();
      for (const ComponentData &c : components) bytes += c.bins.bytes() + c.orientations.bytes();
      return bytes;
    }

   private:
    // The molecules of one component.
    struct ComponentData {
      ComponentRows rows;
      Bins bins;
      SortedAtoms sorted;
      DeviceBuffer<Four<Real>> orientations;
    };

    // Tables and launcher for molecules of component i with partners of component j.
    struct PairOfComponents {
      Table<Real> centers;
      TablesView<Real> host, device;
      MoleculeLauncher<Real> launcher;

      void make(const Engine &all, int i, int j, bool any_sites)
      {
        const MultisiteModel &model = all.model;
        const int ni = static_cast<int>(model.components()[i].centers.size()),
                  nj = static_cast<int>(model.components()[j].centers.size());
        for (int b = 0; b < nj; ++b)
          for (int a = 0; a < ni; ++a) {
            const PairOfCenters pair = model.centers(i, a, j, b);
            centers.add(pair.four_epsilon, pair.sigma_sq, pair.shift, 0.0);
          }
        centers.copy();
        host = {all.sites[i].view(false), all.sites[j].view(false), centers.data(false)};
        device = {all.sites[i].view(true), all.sites[j].view(true), centers.data(true)};
        const auto launchers = all_launchers<Real>();
        launcher = launchers[0];
        const auto has = [](const SitesView<Real> &s, const MoleculeLauncher<Real> &l) {
          return s.ncenters == l.ncenters && s.ncharges == l.ncharges && s.ndipoles == l.ndipoles &&
              s.nquadrupoles == l.nquadrupoles;
        };
        if (any_sites || model.options().site_cutoff) return;
        for (const auto &l : launchers)
          if (has(host.i, l) && has(host.j, l)) launcher = l;
      }
    };

    BinGrid sort(const MoleculesByComponent &in, cudaStream_t stream)
    {
      const double range = model.range();
      volume = 1.0;
      for (int c = 0; c < 3; ++c) volume *= in.bounds.hi[c] - in.bounds.lo[c] + range;
      const BinGrid grid = make_bin_grid(in.bounds, in.n / volume, range);
      for (std::size_t k = 0; k < components.size(); ++k) {
        ComponentData &c = components[k];
        c.rows = in.rows[k];
        if (c.rows.n == 0) continue;
        c.sorted = c.bins.sort(grid, in.molecule + c.rows.first, c.rows.n, c.rows.nowned, stream);
        c.orientations.reserve(c.rows.n);
        sort_orientations(in.quaternion + 4 * static_cast<std::size_t>(c.rows.first), c.sorted,
                          c.orientations.data(), stream);
      }
      return grid;
    }

    // Estimates the number of partners within range of a block of molecules, at the mean density.
    // range: distance.
    double near_partners(const BinGrid &grid, const ComponentData &ci, const ComponentData &cj,
                         double range) const
    {
      const double pi = 3.14159265358979323846;
      const double y = grid.size[1], z = grid.size[2];
      const double x = 32 / (static_cast<double>(ci.rows.n) / volume * y * z);
      const double near = x * y * z + 2.0 * range * (x * y + y * z + z * x) +
          pi * range * range * (x + y + z) + 4.0 / 3.0 * pi * range * range * range;
      return near * static_cast<double>(cj.rows.n) / volume;
    }

    // One kernel launch: owned molecules of component i with partners of component j.
    struct Launch {
      int i, j, splits, passes, warps;
    };

    // Plans the launches. splits: number of warps that share the partners of a molecule, chosen
    // such that there are enough warps. passes: number of passes of a warp, chosen such that one
    // pass collects about one batch.
    std::vector<Launch> plan(const BinGrid &grid) const
    {
      std::vector<Launch> all;
      const int n = static_cast<int>(components.size());
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          const ComponentData &ci = components[i], &cj = components[j];
          // Each component interacts with itself, so that every row has a first launch.
          if (ci.rows.nowned == 0 || cj.rows.n == 0 || model.range(i, j) == 0.0) continue;
          const int warps = (ci.rows.nowned + 31) / 32;
          const double partners = near_partners(grid, ci, cj, model.range(i, j));
          const int max_splits = std::max(
              1, static_cast<int>(std::min(partners / tuning::MIN_MOLECULES_PER_WARP, 1e3)));
          const int splits = std::clamp(tuning::TARGET_MOLECULE_WARPS / warps, 1,
                                        std::min(max_splits, tuning::MAX_SPLITS));
          const double passes = std::ceil(partners / (tuning::MOLECULES_PER_PASS * splits));
          all.push_back(
              {i, j, splits,
               static_cast<int>(std::clamp(passes, 1.0, static_cast<double>(tuning::MAX_PASSES))),
               warps});
        }
      return all;
    }

    // Enqueues a kernel for each ordered pair of components.
    void add_pairs(const BinGrid &grid, int nowned, MultisiteWant want, cudaStream_t stream)
    {
      const int columns = columns_of(want);
      const auto launches = plan(grid);
      std::size_t nparts = 0;
      ntotals = 0;
      for (const Launch &l : launches) {
        nparts = std::max(
            nparts, static_cast<std::size_t>(l.splits) * components[l.i].rows.nowned * columns);
        ntotals += static_cast<std::size_t>(l.splits) * l.warps;
      }
      all_sums.reserve(static_cast<std::size_t>(nowned) * columns);
      parts.reserve(nparts);
      if (want == MultisiteWant::ALL) warp_sums.reserve(ntotals);
      counters.reserve(launches.size());
      check(cudaMemsetAsync(counters.data(), 0, launches.size() * sizeof(int), stream),
            "clearing the queues");

      const MultisiteOptions &options = model.options();
      const auto square = [](double x) {
        return static_cast<Real>(x * x);
      };
      std::size_t first_row = 0, first_warp = 0;
      int last_i = -1;
      for (std::size_t k = 0; k < launches.size(); ++k) {
        const Launch &l = launches[k];
        const ComponentData &ci = components[l.i], &cj = components[l.j];
        const bool is_first = l.i != last_i;    // the first kernel of these molecules
        if (is_first && last_i >= 0) first_row += components[last_i].rows.nowned;
        last_i = l.i;
        MoleculesArguments<Real> arg = {};
        arg.i = ci.sorted;
        arg.j = cj.sorted;
        const double range = model.range(l.i, l.j);
        set_range(arg, grid, range, 0.0);
        arg.queue = counters.data() + k;
        arg.orientation_i = ci.orientations.data();
        arg.orientation_j = cj.orientations.data();
        arg.coulomb = static_cast<Real>(options.coulomb);
        arg.field = static_cast<Real>(model.reaction_field_factor());
        arg.cutoff_sq = square(options.cutoff);
        arg.cutoff_charge_sq = square(options.cutoff_charge);
        arg.range_of_centers_sq = square(range);
        arg.splits = l.splits;
        arg.passes = l.passes;
        double *const to = all_sums.data() + first_row * columns;
        const bool direct = is_first && l.splits == 1;    // there are no sums to add to
        arg.sums = direct ? to : parts.data();
        if (want == MultisiteWant::ALL) arg.warp = warp_sums.data() + first_warp;
        first_warp += static_cast<std::size_t>(l.splits) * l.warps;
        const PairOfComponents &pair = pairs[l.i * components.size() + l.j];
        pair.launcher.run(arg, pair.host, pair.device, want, options.site_cutoff, shape, stream);
        if (!direct)
          add_splits(parts.data(), l.splits, static_cast<std::size_t>(ci.rows.nowned) * columns, to,
                     !is_first, stream);
      }
    }

    const MultisiteModel model;
    CellsShape shape = {};
    std::deque<SitesTable<Real>> sites;
    std::deque<PairOfComponents> pairs;    // [components][components]

    TimedEvent begun, binned, paired, reduced;
    std::deque<ComponentData> components;
    // Volume of the bounding box of the molecules plus the range, distance^3.
    double volume = 1.0;
    // all_sums: [nowned][columns], by component. parts: [splits][n][columns] of one component.
    DeviceBuffer<double> all_sums, parts;
    DeviceBuffer<MoleculeSums> warp_sums, the_total;
    std::size_t ntotals = 0;    // number of valid elements of warp_sums
    DeviceBuffer<int> counters;
    DeviceBuffer<char> workspace;
  };

}    // namespace

std::unique_ptr<MoleculeEngine> make_molecule_engine(const MultisiteModel &model,
                                                     Precision precision,
                                                     const MultisiteTuning &tuning)
{
  if (precision == Precision::DOUBLE) return std::make_unique<Engine<double>>(model, tuning);
  return std::make_unique<Engine<float>>(model, tuning);
}

}    // namespace gpucoord
