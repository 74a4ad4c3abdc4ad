// Part of GPUCOORD, GPL-2.0. Distances, angles, dihedrals and centers on a GPU. The launches are in
// geometry_kernels.cuh.

#include "gpucoord/resident_geometry.h"

#include "geometry_kernels.cuh"

#include "../gpu/device_status.h"
#include "../gpu/staging.h"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

namespace gpucoord {

namespace {

  unsigned blocks_of(std::size_t threads, int per_block = THREADS)
  {
    return static_cast<unsigned>((threads + per_block - 1) / per_block);
  }

  class CudaResidentGeometry : public ResidentMembers {
   public:
    explicit CudaResidentGeometry(const GeometryOptions &options_in) :
        options(options_in), nvalues(Geometry(options).nvalues())
    {
      const Geometry host(options);
      std::vector<int> item_of, first(options.items.size());
      std::vector<std::vector<Use>> uses(options.npoints);
      for (int v = nvalues - 1; v >= 0; --v) first[host.item_of(v)] = v;
      for (int v = 0; v < nvalues; ++v) {
        const int k = host.item_of(v);
        item_of.push_back(k);
        const GeometryItem &item = options.items[k];
        for (int p = 0; p < points_of(item.kind); ++p) uses[item.point[p]].push_back({v, k, p});
      }
      std::vector<int> begin = {0};
      std::vector<Use> all;
      for (const auto &of_point : uses) {
        all.insert(all.end(), of_point.begin(), of_point.end());
        begin.push_back(static_cast<int>(all.size()));
      }
      send_table(options.items, items);
      send_table(first, first_values);
      send_table(item_of, items_of);
      send_table(begin, begins);
      send_table(all, use);
      send_table(std::vector<DeviceStatus>{{DeviceStatus::NONE, 0}}, status);
      send_table(std::vector<Report>{no_report()}, report);
      report_host.reserve(1);
      seen.reserve(1);
      seen[0].singular = seen[0].far = 0;
      values.reserve(nvalues);
      slopes.reserve(nvalues);
      gradients.reserve(12 * options.items.size());
      sums.reserve(nsums());
      of_points.reserve(3 * static_cast<std::size_t>(options.npoints));
      references.reserve(3 * static_cast<std::size_t>(options.npoints));
      references_host.reserve(3 * static_cast<std::size_t>(options.npoints));
      sums_here.reserve(nsums());
      sums_of_all.reserve(nsums());
      points.n = options.npoints;
      points.unwrap = options.unwrap;
      points.sums = sums.data();
      points.reference = references.data();
    }
    // Wait, because the GPU may still use the pinned memory.
    ~CudaResidentGeometry() override { cudaDeviceSynchronize(); }

    void select(const PointSelection &chosen, DeviceStream stream) override
    {
      clear_errors();
      const auto n = static_cast<std::size_t>(options.npoints);
      if (chosen.row.size() != n || chosen.bit.size() != n || chosen.by_mass.size() != n ||
          chosen.reference.size() != 3 * n)
        throw std::invalid_argument("gpucoord: a selection of another number of points");
      if (chosen.reference != selected.reference) {
        selected.reference.clear();    // remains if an exception is thrown
        send(references_host, chosen.reference.size(), chosen.reference.data(), references.data(),
             stream);
        selected.reference = chosen.reference;
      }
      if (chosen.row == selected.row && chosen.bit == selected.bit &&
          chosen.by_mass == selected.by_mass)
        return;
      selected.row.clear();
      send_points(chosen, stream);
      selected = chosen;
    }

    void evaluate(const GeometryBox &box, const DeviceMembers &members,
                  DeviceStream stream) override
    {
      clear_errors();
      points.members = members;
      if (points.ngroups > 0) launch_sums(box, false, stream);
      launch_items(box, false, stream);
    }

    void sum(const GeometryBox &box, const DeviceMembers &members, DeviceStream stream) override
    {
      clear_errors();
      points.members = members;
      launch_sums(box, true, stream);
    }
    void enqueue_result(DeviceStream stream) override
    {
      copy(sums_here.data(), sums.data(), nsums(), cudaMemcpyDeviceToHost, stream);
      numbers_are_copied.record(stream);
    }
    const double *result() override
    {
      numbers_are_copied.wait("summing centers");
      return sums_here.data();
    }
    void evaluate_at(const GeometryBox &box, const double *all_sums, DeviceStream stream) override
    {
      clear_errors();
      send(sums_of_all, nsums(), all_sums, sums.data(), stream);
      launch_items(box, true, stream);
    }

    DeviceValue device_value() const override
    {
      return {values.data(), 1.0, status.data(), nvalues, 1};
    }

    void add_forces(const DeviceForces &forces, const ItemFactors &factors,
                    DeviceStream stream) override
    {
      Gradients arg = {};
      arg.host = factors.host;
      arg.device = factors.device;
      arg.item = items.data();
      arg.item_of = items_of.data();
      arg.slopes = slopes.data();
      arg.gradients = gradients.data();
      arg.begin = begins.data();
      arg.use = use.data();
      // Factors that the GPU has of many values need no list. All others are taken in parts.
      arg.is_few = factors.item || factors.on_host || factors.n <= FEW;
      const int part = arg.is_few ? FEW : factors.n;
      for (int first = 0; first < factors.n; first += part) {
        arg.n = std::min(part, factors.n - first);
        arg.on_device = factors.on_device ? factors.on_device + first : nullptr;
        for (int k = 0; k < arg.n && arg.is_few; ++k) {
          arg.value[k] = factors.item ? factors.item[first + k] : first + k;
          arg.on_host[k] = factors.on_host ? factors.on_host[first + k] : 1.0;
        }
        launch_forces(forces, arg, stream);
      }
    }

    bool was_singular() const override { return seen[0].singular; }
    bool was_far() const override { return seen[0].far; }
    GeometryFlags take_flags(DeviceStream stream) override
    {
      copy(report_host.data(), report.data(), 1, cudaMemcpyDeviceToHost, stream);
      check(cudaStreamSynchronize(stream), "evaluating geometry");
      const Report found = report_host[0];
      send_table(std::vector<Report>{no_report()}, report);
      copied += sizeof(Report);
      GeometryFlags flags;
      flags.nsingular = static_cast<std::int64_t>(found.nsingular);
      if (found.first_singular != Report::NONE) flags.first_singular = found.first_singular;
      if (found.first_far != Report::NONE) flags.first_far = found.first_far;
      return flags;
    }

    std::size_t bytes() const override
    {
      return items.bytes() + first_values.bytes() + items_of.bytes() + begins.bytes() +
          use.bytes() + status.bytes() + report.bytes() + values.bytes() + slopes.bytes() +
          gradients.bytes() + sums.bytes() + of_points.bytes() + references.bytes() +
          table.bytes() + block_sums.bytes() + ended.bytes() + references_host.bytes() +
          sums_here.bytes() + sums_of_all.bytes();
    }
    std::int64_t bytes_copied() const override { return copied; }

   private:
    static Report no_report() { return {0, Report::NONE, Report::NONE}; }
    std::size_t nsums() const { return 4 * static_cast<std::size_t>(options.npoints); }

    template <class T>
    void copy(T *to, const T *from, std::size_t n, cudaMemcpyKind kind, cudaStream_t stream)
    {
      check(cudaMemcpyAsync(to, from, n * sizeof(T), kind, stream),
            kind == cudaMemcpyHostToDevice ? "copying data to the GPU"
                                           : "copying data to the host");
      copied += static_cast<std::int64_t>(n * sizeof(T));
    }
    // Copies numbers of the caller, which may then change.
    void send(PinnedBuffer<double> &pinned, std::size_t n, const double *from, double *to,
              cudaStream_t stream)
    {
      numbers_are_copied.wait("copying data to the GPU");    // the previous ones
      std::copy_n(from, n, pinned.data());
      copy(to, pinned.data(), n, cudaMemcpyHostToDevice, stream);
      numbers_are_copied.record(stream);
    }

    void send_points(const PointSelection &chosen, cudaStream_t stream)
    {
      std::vector<int> rows, atoms, all;
      for (int p = 0; p < options.npoints; ++p) {
        rows.push_back(chosen.bit[p] ? GROUP : chosen.row[p]);
        if (rows[p] == GROUP)    // a Group
          all.insert(all.end(), {chosen.bit[p], p, chosen.by_mass[p]});
        else if (rows[p] != NOT_HERE)
          atoms.push_back(p);
      }
      std::stable_sort(atoms.begin(), atoms.end(), [&](int p, int q) {
        return rows[p] < rows[q];
      });
      points.ngroups = static_cast<int>(all.size() * sizeof(int) / sizeof(Group));
      points.natoms = static_cast<int>(atoms.size());
      const std::size_t first_row = all.size();
      all.insert(all.end(), rows.begin(), rows.end());
      for (const int p : atoms) all.push_back(rows[p]);
      all.insert(all.end(), atoms.begin(), atoms.end());

      table_is_copied.wait("copying data to the GPU");    // the previous one
      table.reserve(all.size());
      std::copy(all.begin(), all.end(), table.pinned.data());
      copy(table.device.data(), table.pinned.data(), all.size(), cudaMemcpyHostToDevice, stream);
      table_is_copied.record(stream);
      points.group = reinterpret_cast<const Group *>(table.device.data());
      points.row = table.device.data() + first_row;
      points.row_of_atom = points.row + rows.size();
      points.point_of_atom = points.row_of_atom + atoms.size();
      npairs = static_cast<unsigned>((points.ngroups + GROUPS - 1) / GROUPS);
      block_sums.reserve(static_cast<std::size_t>(SUMS) * MAX_BLOCKS * npairs);
      ended.reserve(npairs);
      if (npairs > 0)
        check(cudaMemsetAsync(ended.data(), 0, npairs * sizeof(unsigned), stream),
              "clearing its memory");
    }

    void launch_sums(const GeometryBox &box, bool with_atoms, cudaStream_t stream)
    {
      const int rows = points.ngroups > 0 ? points.members.atoms.nlocal : points.n;
      const unsigned blocks = std::clamp(blocks_of(rows), 1u, MAX_BLOCKS);
      with_positions(points.members.atoms, [&](const auto *x) {
        using X = std::remove_cv_t<std::remove_pointer_t<decltype(x)>>;
        launch_kernel("launching sum_centers", sum_centers<X>, true,
                      {blocks * (npairs + with_atoms), THREADS}, stream, x, box, points, blocks,
                      npairs, block_sums.data(), ended.data());
      });
    }

    void launch_items(const GeometryBox &box, bool has_sums, cudaStream_t stream)
    {
      Items arg = {};
      arg.n = static_cast<int>(options.items.size());
      arg.nearest = options.nearest;
      arg.sincos = options.sincos;
      arg.has_sums = has_sums;
      arg.scale = options.scale;
      arg.item = items.data();
      arg.first_value = first_values.data();
      arg.values = values.data();
      arg.slopes = slopes.data();
      arg.gradients = gradients.data();
      arg.report = report.data();
      arg.seen = seen.data();
      with_positions(points.members.atoms, [&](const auto *x) {
        using X = std::remove_cv_t<std::remove_pointer_t<decltype(x)>>;
        launch_kernel(
            "launching evaluate_items", evaluate_items<X>, true,
            {blocks_of(static_cast<std::size_t>(LANES) * arg.n, ITEM_THREADS), ITEM_THREADS},
            stream, x, box, points, arg);
      });
    }

    void launch_forces(const DeviceForces &forces, const Gradients &arg, cudaStream_t stream)
    {
      const auto warps = [](int n) {
        return blocks_of(static_cast<std::size_t>(n) * WARP);
      };
      if (points.ngroups == 0) {
        if (points.natoms > 0)
          launch_kernel("launching add_atom_forces", add_atom_forces, true,
                        {warps(points.natoms), THREADS}, stream, forces, points, arg);
        return;
      }
      if (points.members.atoms.nlocal == 0) return;
      launch_kernel("launching sum_gradients", sum_gradients, true, {warps(points.n), THREADS},
                    stream, points, arg, of_points.data());
      launch_kernel("launching add_member_forces", add_member_forces, true,
                    {blocks_of(points.members.atoms.nlocal), THREADS}, stream, forces, points,
                    of_points.data());
    }

    const GeometryOptions options;
    const int nvalues;
    std::int64_t copied = 0;
    DeviceBuffer<GeometryItem> items;
    DeviceBuffer<int> first_values, items_of, begins;
    DeviceBuffer<Use> use;
    DeviceBuffer<DeviceStatus> status;
    DeviceBuffer<Report> report;
    PinnedBuffer<Report> report_host;
    PinnedBuffer<Seen> seen;
    DeviceBuffer<double> values, slopes, gradients, sums, of_points, references;

    PointSelection selected;
    Staged<int> table;    // of the selection
    Event table_is_copied;
    Points points = {};
    unsigned npairs = 0;    // of groups
    DeviceBuffer<double> block_sums;
    DeviceBuffer<unsigned> ended;
    PinnedBuffer<double> references_host, sums_here, sums_of_all;
    Event numbers_are_copied;
  };

}    // namespace

std::unique_ptr<ResidentMembers> make_resident_geometry(const GeometryOptions &options)
{
  return std::make_unique<CudaResidentGeometry>(options);
}

}    // namespace gpucoord
