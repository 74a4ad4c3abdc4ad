// Part of GPUCOORD, GPL-2.0. Rigid molecules on a GPU: what is copied, and which kernels run.
//
// Molecules are sorted into bins component by component, and a kernel runs for each ordered pair of components. All work
// of an evaluation is enqueued on one stream, and the host waits once, for the results.

#include "multisite_cuda.h"

#include "../common/engine_parts.h"
#include "molecule_shapes.h"
#include "multisite_arguments.h"
#include "reduction.h"
#include "staging.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <vector>

namespace gpucoord {

namespace {

  // numbers that kernels take as parameters, or from memory
  template <class Real> class Table {
   public:
    void add(double x, double y, double z, double w)
    {
      host.push_back({static_cast<Real>(x), static_cast<Real>(y), static_cast<Real>(z), static_cast<Real>(w)});
    }
    void add(const std::array<double, 3> &v, double w) { add(v[0], v[1], v[2], w); }
    void copy()
    {
      if (host.empty()) return;
      device.reserve(host.size());
      check(cudaMemcpy(device.data(), host.data(), host.size() * sizeof(Four<Real>), cudaMemcpyHostToDevice), "copying to it");
    }
    const Four<Real> *data(bool of_device) const { return of_device ? device.data() : host.data(); }

   private:
    std::vector<Four<Real>> host;
    DeviceBuffer<Four<Real>> device;
  };

  // the sites of one component
  template <class Real> class SitesTable {
   public:
    explicit SitesTable(const Component &component) : c(component)
    {
      for (const auto &site : c.centres) places.add(site.position, 0.0);
      for (const auto &site : c.charges) places.add(site.position, site.charge);
      for (const auto *sites : {&c.dipoles, &c.quadrupoles})
        for (const auto &site : *sites) {
          places.add(site.position, site.moment);
          axes.add(site.axis, 0.0);
        }
      places.copy();
      axes.copy();
    }
    SitesView<Real> view(bool of_device) const
    {
      const auto size = [](const auto &sites) { return static_cast<int>(sites.size()); };
      return {places.data(of_device), axes.data(of_device), size(c.centres), size(c.charges), size(c.dipoles), size(c.quadrupoles)};
    }

   private:
    const Component &c;
    Table<Real> places, axes;
  };

  template <class Real> std::vector<MoleculeLauncher<Real>> all_launchers()
  {
    std::vector<MoleculeLauncher<Real>> all;
    const auto add = [&](auto sites) { get_molecule_launcher<decltype(sites)>(all.emplace_back()); };
    add(sites::Any());
    add(sites::Centre());
    add(sites::TwoCentres());
    add(sites::TwoCentresQuadrupole());
    add(sites::ThreeCentresQuadrupole());
    add(sites::ThreeCentresCharges());
    add(sites::ThreeCentresDipole());
    add(sites::CentreThreeCharges());
    return all;
  }

  template <class Real> class CudaMultisite : public Multisite {
   public:
    CudaMultisite(const MultisiteModel &model_in, int nthreads_in, const MultisiteTuning &tuning) :
        model(model_in), nthreads(std::max(1, nthreads_in)), components(model.components().size())
    {
      check_kernels();
      shape = {tuning.processor == CudaTuning::Processor::BLOCK, tuning.warps_per_block,
               device_attribute(cudaDevAttrMultiProcessorCount)};
      for (const Component &component : model.components()) sites.emplace_back(component);
      const int n = static_cast<int>(sites.size());
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) pairs.emplace_back().make(*this, i, j, tuning.any_sites);
      total.reserve(1);
      total_host.reserve(1);
      // the tables must be there before kernels on another stream read them
      check(cudaStreamSynchronize(cudaStreamLegacy), "copying to it");
    }

    MultisiteSums evaluate(const Molecules &in, MultisiteWant want, const MultisiteResults &out) override
    {
      if (in.nlocal == 0) return {};
      start = seconds();
      cudaGetLastError();    // of others: a launch here must not be blamed for it
      const Bounds bounds = stage_molecules(in);
      copied.record(stream);
      DeviceGrid grid;
      sort(bounds, in.nall, grid);
      binned.record(stream);
      const int columns = want == MultisiteWant::ALL ? COLUMNS_OF_ALL : COLUMNS_OF_FORCES;
      add_pairs(grid, in.nlocal, want, columns);
      paired.record(stream);
      return finish(want, columns, out);
    }

   private:
    // the molecules of one component
    struct OfComponent {
      std::vector<int> index;    // rows of them, owned first
      int first = 0, nowned = 0;    // among the molecules by component, and its owned ones
      DeviceBins bins;
      SortedAtoms sorted;
      DeviceBuffer<Four<Real>> orientations;
    };

    // of molecules of component i with those of j
    struct PairOfComponents {
      Table<Real> centres;
      TablesView<Real> host, device;
      MoleculeLauncher<Real> launcher;

      void make(const CudaMultisite &all, int i, int j, bool any_sites)
      {
        const MultisiteModel &model = all.model;
        const int ni = static_cast<int>(model.components()[i].centres.size()),
                  nj = static_cast<int>(model.components()[j].centres.size());
        for (int b = 0; b < nj; ++b)
          for (int a = 0; a < ni; ++a) {
            const PairOfCentres of = model.centres(i, a, j, b);
            centres.add(of.four_epsilon, of.sigma_sq, of.shift, 0.0);
          }
        centres.copy();
        host = {all.sites[i].view(false), all.sites[j].view(false), centres.data(false)};
        device = {all.sites[i].view(true), all.sites[j].view(true), centres.data(true)};
        const auto launchers = all_launchers<Real>();
        launcher = launchers[0];
        const auto has = [](const SitesView<Real> &s, const MoleculeLauncher<Real> &l) {
          return s.ncentres == l.ncentres && s.ncharges == l.ncharges && s.ndipoles == l.ndipoles &&
              s.nquadrupoles == l.nquadrupoles;
        };
        if (any_sites || model.options().site_cutoff) return;
        for (const auto &l : launchers)
          if (has(host.i, l) && has(host.j, l)) launcher = l;
      }
    };

    Bounds stage_molecules(const Molecules &in)
    {
      for (OfComponent &c : components) {
        c.index.clear();
        c.nowned = 0;
      }
      for (int row = 0; row < in.nall; ++row) {
        OfComponent &c = components[in.component[row]];
        c.index.push_back(row);
        if (row < in.nlocal) ++c.nowned;
      }
      order.clear();
      owned_rows.clear();
      for (OfComponent &c : components) {
        c.first = static_cast<int>(order.size());
        order.insert(order.end(), c.index.begin(), c.index.end());
        owned_rows.insert(owned_rows.end(), c.index.begin(), c.index.begin() + c.nowned);
      }
      Bounds bounds = no_bounds();
      stage_atoms(in.x, {order.data(), in.nall, in.nlocal}, nthreads, stream, molecules, bounds);
      send(quaternions, 4 * order.size(), stream, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
        for (std::size_t t = begin; t < end; ++t)
          quaternions.pinned[t] = in.quaternion[4 * static_cast<std::size_t>(order[t / 4]) + t % 4];
      });
      return bounds;
    }

    void sort(const Bounds &bounds, int n, DeviceGrid &grid)
    {
      const double range = model.range();
      volume = 1.0;
      for (int c = 0; c < 3; ++c) volume *= bounds.hi[c] - bounds.lo[c] + range;
      grid = make_device_grid(bounds, n / volume, range);
      for (OfComponent &c : components) {
        const int count = static_cast<int>(c.index.size());
        if (count == 0) continue;
        c.sorted = c.bins.sort(grid, molecules.device.data() + c.first, count, c.nowned, stream);
        c.orientations.reserve(count);
        sort_orientations(quaternions.device.data() + 4 * static_cast<std::size_t>(c.first), c.sorted, c.orientations.data(),
                          stream);
      }
    }

    // Partners within range of a block of molecules, at the mean density.
    double near_partners(const DeviceGrid &grid, const OfComponent &ci, const OfComponent &cj, double range) const
    {
      const double pi = 3.14159265358979323846;
      const double y = grid.size[1], z = grid.size[2];
      const double x = team_size(shape) / (static_cast<double>(ci.index.size()) / volume * y * z);
      const double near = x * y * z + 2.0 * range * (x * y + y * z + z * x) + pi * range * range * (x + y + z) +
          4.0 / 3.0 * pi * range * range * range;
      return near * static_cast<double>(cj.index.size()) / volume;
    }

    // One kernel: owned molecules of component i with those of j.
    struct Launch {
      int i, j, splits, passes, warps;
    };

    // Teams to which the partners of a molecule are shared out until there are enough, and passes, so that each collects
    // about a batch at a time.
    std::vector<Launch> plan(const DeviceGrid &grid) const
    {
      std::vector<Launch> all;
      const int n = static_cast<int>(components.size()), team = team_size(shape);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          const OfComponent &ci = components[i], &cj = components[j];
          // a component interacts with itself: no row is left without a first launch
          if (ci.nowned == 0 || cj.index.empty() || model.range(i, j) == 0.0) continue;
          const int warps = (ci.nowned + team - 1) / team * (team / 32);
          const double partners = near_partners(grid, ci, cj, model.range(i, j));
          const int enough = std::max(1, static_cast<int>(std::min(partners / tuning::FEWEST_MOLECULES_OF_A_TEAM, 1e3)));
          const int splits = std::clamp(tuning::ENOUGH_WARPS_OF_MOLECULES / warps, 1, std::min(enough, tuning::MAX_SPLITS));
          const double passes = std::ceil(partners / (tuning::MOLECULES_A_PASS * splits));
          all.push_back({i, j, splits, static_cast<int>(std::clamp(passes, 1.0, static_cast<double>(tuning::MAX_PASSES))), warps});
        }
      return all;
    }

    // enqueues a kernel for each ordered pair of components
    void add_pairs(const DeviceGrid &grid, int nowned, MultisiteWant want, int columns)
    {
      const auto launches = plan(grid);
      std::size_t nparts = 0;
      ntotals = 0;
      for (const Launch &l : launches) {
        nparts = std::max(nparts, static_cast<std::size_t>(l.splits) * components[l.i].nowned * columns);
        ntotals += static_cast<std::size_t>(l.splits) * l.warps;
      }
      sums.reserve(static_cast<std::size_t>(nowned) * columns);
      parts.reserve(nparts);
      if (want == MultisiteWant::ALL) of_warps.reserve(ntotals);
      counters.reserve(launches.size());
      check(cudaMemsetAsync(counters.data(), 0, launches.size() * sizeof(int), stream), "clearing the queues");

      const MultisiteOptions &options = model.options();
      const auto square = [](double x) { return static_cast<Real>(x * x); };
      std::size_t first_row = 0, first_warp = 0;
      int last_i = -1;
      for (std::size_t k = 0; k < launches.size(); ++k) {
        const Launch &l = launches[k];
        const OfComponent &ci = components[l.i], &cj = components[l.j];
        const bool is_first = l.i != last_i;    // of the kernels for these molecules
        if (is_first && last_i >= 0) first_row += components[last_i].nowned;
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
        arg.range_of_centres_sq = square(range);
        arg.splits = l.splits;
        arg.passes = l.passes;
        double *const to = sums.data() + first_row * columns;
        const bool direct = is_first && l.splits == 1;    // nothing to add it to
        arg.sums = direct ? to : parts.data();
        if (want == MultisiteWant::ALL) arg.warp = of_warps.data() + first_warp;
        first_warp += static_cast<std::size_t>(l.splits) * l.warps;
        const PairOfComponents &pair = pairs[l.i * components.size() + l.j];
        pair.launcher.run(arg, pair.host, pair.device, want, options.site_cutoff, shape, stream);
        if (!direct)
          add_splits(parts.data(), l.splits, static_cast<std::size_t>(ci.nowned) * columns, to, !is_first, stream);
      }
    }

    // waits, and adds to the results
    MultisiteSums finish(MultisiteWant want, int columns, const MultisiteResults &out)
    {
      const std::size_t n = owned_rows.size();
      const bool all = want == MultisiteWant::ALL;
      if (all) {
        if (ntotals > static_cast<std::size_t>(std::numeric_limits<int>::max()))
          throw DeviceError("more than 2147483647 warps of molecules on one GPU");
        reduce(of_warps.data(), static_cast<int>(ntotals), total.data(), workspace, stream);
        check(cudaMemcpyAsync(total_host.data(), total.data(), sizeof(MoleculeSums), cudaMemcpyDeviceToHost, stream),
              "copying from it");
      }
      reduced.record(stream);
      sums_host.reserve(n * columns);
      arrivals.fetch(sums.data(), n, columns, sums_host.data(), stream);
      arrivals.for_each("computing rigid molecules", [&](std::size_t first, std::size_t end) {
        add_rows(first, end, columns, all, out);
      });
      check(cudaStreamSynchronize(stream), "computing rigid molecules");
      MultisiteSums result;
      if (all) {
        const MoleculeSums &found = total_host[0];
        result.lennard_jones = found.energy[0];
        result.electrostatic = found.energy[1];
        result.reaction_field = found.energy[2];
        std::copy_n(found.virial, 6, result.virial);
      }
      result.timings.bins = seconds_between(copied, binned);
      result.timings.pairs = seconds_between(binned, paired);
      result.timings.reduction = seconds_between(paired, reduced);
      result.timings.copies = seconds() - start - seconds_between(copied, reduced);
      return result;
    }

    void add_rows(std::size_t first, std::size_t end, int columns, bool all, const MultisiteResults &out) const
    {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - first > 4096)
      for (std::size_t k = first; k < end; ++k) {
        const double *const from = sums_host.data() + columns * k;
        const auto row = static_cast<std::size_t>(owned_rows[k]);
        for (int c = 0; c < 3; ++c) {
          out.force[3 * row + c] += from[c];
          out.torque[3 * row + c] += from[3 + c];
        }
        if (all && out.energy) out.energy[row] += from[6];
        for (int c = 0; all && out.virial && c < 6; ++c) out.virial[6 * row + c] += from[7 + c];
      }
    }

    const MultisiteModel model;
    const int nthreads;
    CellsShape shape = {};
    std::deque<SitesTable<Real>> sites;
    std::deque<PairOfComponents> pairs;              // [components][components]

    Stream stream;
    Event copied, binned, paired, reduced;
    Arrivals arrivals;
    double start = 0.0;

    std::deque<OfComponent> components;
    double volume = 1.0;                             // that molecules are spread over
    std::vector<int> order, owned_rows;              // rows of all molecules, and of the owned, by component
    Staged<DeviceAtom> molecules;
    Staged<double> quaternions;
    DeviceBuffer<double> sums, parts;                // [nowned][columns] by component; [splits][n][columns] of one
    PinnedBuffer<double> sums_host;
    DeviceBuffer<MoleculeSums> of_warps, total;
    PinnedBuffer<MoleculeSums> total_host;
    std::size_t ntotals = 0;                         // of_warps that count
    DeviceBuffer<int> counters;
    DeviceBuffer<char> workspace;
  };

  // Makes the GPU current for every call.
  class MultisiteOnDevice : public Multisite {
   public:
    MultisiteOnDevice(const MultisiteModel &model, Precision precision, int device_in, int nthreads, const MultisiteTuning &tuning) :
        device(device_in)
    {
      use_device(device);
      if (precision == Precision::DOUBLE)
        backend = std::make_unique<CudaMultisite<double>>(model, nthreads, tuning);
      else
        backend = std::make_unique<CudaMultisite<float>>(model, nthreads, tuning);
    }
    ~MultisiteOnDevice() override
    {
      if (device >= 0) cudaSetDevice(device);    // may fail where the GPU is lost, and then so be it
      backend.reset();
    }
    MultisiteSums evaluate(const Molecules &in, MultisiteWant want, const MultisiteResults &out) override
    {
      use_device(device);
      return backend->evaluate(in, want, out);
    }

   private:
    const int device;
    std::unique_ptr<Multisite> backend;
  };

}    // namespace

std::unique_ptr<Multisite> make_cuda_multisite(const MultisiteModel &model, Precision precision, int device, int nthreads,
                                               const MultisiteTuning &tuning)
{
  return std::make_unique<MultisiteOnDevice>(model, precision, device, nthreads, tuning);
}

std::unique_ptr<Multisite> make_cuda_multisite(const MultisiteModel &model, Precision precision, int device, int nthreads)
{
  return make_cuda_multisite(model, precision, device, nthreads, MultisiteTuning());
}

}    // namespace gpucoord
