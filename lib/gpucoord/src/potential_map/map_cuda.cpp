// Part of GPUCOORD, GPL-2.0. Potential maps of host arrays on a GPU: copies to and from the GPU.
// Layers of the grid are copied back while the GPU computes the next ones. At the same time, the
// host may sum charges that overflow fixed bins.

#include "../gpu/device_guard.h"
#include "../gpu/staging.h"
#include "map_engine.h"

#include "gpucoord/counters.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace gpucoord {

namespace {

  constexpr int POINTS_PER_LAUNCH = 1 << 20;    // approximate; enough to keep a GPU busy

  class CudaMap : public PotentialMap {
   public:
    CudaMap(const MapOptions &options, Precision precision, int device, int nthreads_in,
            const MapBins &bins_in) :
        nthreads(std::max(1, nthreads_in)),
        bins(bins_in), memory(device, [] {
          return std::make_unique<Memory>();
        })
    {
      memory->engine = make_map_engine(options, precision);
      if (!bins.are_fixed) return;
      if (bins.on_host)
        host = make_host_potential_map(options, precision, nthreads);
      else
        memory->engine_of_overflow = make_map_engine(options, precision);
    }

    void on_grid(const MapGrid &grid, const MapCharges &charges, const MapResults &out) override
    {
      GPUCOORD_COUNT(MAP_CUDA);
      Memory &m = memory.enter();
      distances = 0.0;
      found = {};
      const std::size_t layer = static_cast<std::size_t>(grid.n[0]) * grid.n[1],
                        n = layer * grid.n[2];
      if (n == 0) return;
      const ChargesOnDevice staged = stage_charges(charges);
      ChargesOnDevice others = {};    // overflowing charges
      if (bins.are_fixed)
        others = m.engine->begin(grid, bins, staged, found, m.stream);
      else
        m.engine->begin(bounds_of(grid), staged, m.stream);
      const bool on_device = others.n > 0 && !host, on_host = others.n > 0 && host;
      const Overflow overflow = on_host ? fetch_overflow(others, charges) : Overflow();
      if (on_device) m.engine_of_overflow->begin(bounds_of(grid), others, m.stream);
      reserve(n, out.field != nullptr);
      const int layers = m.engine->layers(grid),
                at_once =
                    std::max<std::size_t>(1, POINTS_PER_LAUNCH / (layer * points_per_layer()));
      std::vector<Slab> slabs;
      for (int first = 0; first < layers; first += at_once) {
        const int end = std::min(layers, first + at_once);
        double *const field = out.field ? m.field.device.data() : nullptr;
        m.engine->on_grid(grid, first, end, false, m.phi.device.data(), field, m.stream);
        if (on_device)
          m.engine_of_overflow->on_grid(grid, first, end, true, m.phi.device.data(), field,
                                        m.stream);
        const int z[2] = {first * points_per_layer(),
                          std::min(grid.n[2], end * points_per_layer())};
        slabs.push_back({z[0], z[1] - z[0], layer * z[0], layer * z[1]});
        fetch(slabs.size() - 1, slabs.back().begin, slabs.back().end, out.field != nullptr);
      }
      for (std::size_t k = 0; k < slabs.size(); ++k) {
        if (on_host)
          sum_overflow(grid, slabs[k], overflow, out.field != nullptr);    // while the GPU is busy
        check(cudaEventSynchronize(m.arrived[k]), "computing potentials");
        copy_results(slabs[k].begin, slabs[k].end, out);
        if (on_host) add_overflow(slabs[k], out);
      }
      distances += m.engine->tested(m.stream);
      if (on_device) distances += m.engine_of_overflow->tested(m.stream);
    }

    void at_points(const MapPoints &points, const MapCharges &charges,
                   const MapResults &out) override
    {
      GPUCOORD_COUNT(MAP_CUDA);
      Memory &m = memory.enter();
      distances = 0.0;
      if (points.n == 0) return;
      Bounds bounds = no_bounds();
      const auto identity = [](std::size_t p) {
        return p;
      };
      const auto self = [&points](std::size_t p) {
        return points.self ? points.self[p] : -1;
      };
      stage_positions(points.x, points.n, identity, self, nthreads, m.stream, m.points, bounds);
      m.engine->begin(bounds, stage_charges(charges), m.stream);
      reserve(points.n, out.field != nullptr);
      m.engine->at_points(m.points.device.data(), points.n, m.phi.device.data(),
                          out.field ? m.field.device.data() : nullptr, m.stream);
      fetch(0, 0, points.n, out.field != nullptr);
      check(cudaEventSynchronize(m.arrived[0]), "computing potentials");
      copy_results(0, points.n, out);
      distances = m.engine->tested(m.stream);
    }

    double tested() const override { return distances; }
    MapOverflow overflow() const override { return found; }
    std::size_t bytes() const override
    {
      const Memory &m = *memory;
      return bytes_of(m.charges, m.points, m.q, m.phi, m.field, *m.engine) +
          (m.engine_of_overflow ? m.engine_of_overflow->bytes() : 0) + (host ? host->bytes() : 0) +
          bytes_of(phi_of_overflow, field_of_overflow);
    }

   private:
    // Layers of the grid that one launch computes.
    struct Slab {
      int first, n;              // layers along z
      std::size_t begin, end;    // points
    };
    struct Overflow {
      std::vector<double> x, q;
    };

    struct Memory {
      Stream stream, copies;
      Staged<DeviceAtom> charges, points;
      Staged<double> q, phi, field;
      std::deque<Event> computed, arrived;    // [launches]
      std::unique_ptr<MapEngine> engine, engine_of_overflow;
    };

    ChargesOnDevice stage_charges(const MapCharges &charges)
    {
      Memory &m = *memory;
      stage_all(charges.x, charges.n, nthreads, m.stream, m.charges);
      send(m.q, charges.n, m.stream, [&](std::size_t begin, std::size_t end) {
        std::copy(charges.q + begin, charges.q + end, m.q.pinned.data() + begin);
      });
      return {m.charges.device.data(), m.q.device.data(), charges.n};
    }

    void reserve(std::size_t n, bool with_field)
    {
      memory->phi.reserve(n);
      if (with_field) memory->field.reserve(3 * n);
    }

    // Enqueues the copies of the points begin to end - 1 of this launch.
    void fetch(std::size_t launch, std::size_t begin, std::size_t end, bool with_field)
    {
      Memory &m = *memory;
      while (m.arrived.size() <= launch) {
        m.computed.emplace_back();
        m.arrived.emplace_back();
      }
      m.computed[launch].record(m.stream);
      check(cudaStreamWaitEvent(m.copies, m.computed[launch]), "waiting for a kernel");
      const auto copy = [&](Staged<double> &values, std::size_t columns) {
        check(cudaMemcpyAsync(
                  values.pinned.data() + columns * begin, values.device.data() + columns * begin,
                  columns * (end - begin) * sizeof(double), cudaMemcpyDeviceToHost, m.copies),
              "copying data to the host");
      };
      copy(m.phi, 1);
      if (with_field) copy(m.field, 3);
      m.arrived[launch].record(m.copies);
    }

    void copy_results(std::size_t begin, std::size_t end, const MapResults &out) const
    {
      const auto copy = [&](const Staged<double> &values, std::size_t columns, double *to) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
        for (std::size_t k = columns * begin; k < columns * end; ++k) to[k] = values.pinned[k];
      };
      copy(memory->phi, 1, out.phi);
      if (out.field) copy(memory->field, 3, out.field);
    }

    Overflow fetch_overflow(const ChargesOnDevice &others, const MapCharges &charges)
    {
      std::vector<DeviceAtom> atoms(others.n);
      check(cudaMemcpyAsync(atoms.data(), others.atom, atoms.size() * sizeof(DeviceAtom),
                            cudaMemcpyDeviceToHost, memory->stream),
            "copying data to the host");
      check(cudaStreamSynchronize(memory->stream), "copying data to the host");
      Overflow overflow;
      for (const DeviceAtom &a : atoms) {
        overflow.x.insert(overflow.x.end(), {a.x, a.y, a.z});
        overflow.q.push_back(charges.q[a.id]);
      }
      return overflow;
    }

    void sum_overflow(const MapGrid &grid, const Slab &slab, const Overflow &overflow,
                      bool with_field)
    {
      MapGrid part = grid;
      part.n[2] = slab.n;
      for (int c = 0; c < 3; ++c) part.origin[c] += slab.first * grid.step[2][c];
      phi_of_overflow.resize(slab.end - slab.begin);
      field_of_overflow.resize(with_field ? 3 * phi_of_overflow.size() : 0);
      host->on_grid(part,
                    {overflow.x.data(), overflow.q.data(), static_cast<int>(overflow.q.size())},
                    {phi_of_overflow.data(), with_field ? field_of_overflow.data() : nullptr});
      distances += host->tested();
    }

    void add_overflow(const Slab &slab, const MapResults &out) const
    {
      for (std::size_t k = 0; k < phi_of_overflow.size(); ++k)
        out.phi[slab.begin + k] += phi_of_overflow[k];
      for (std::size_t k = 0; k < field_of_overflow.size(); ++k)
        out.field[3 * slab.begin + k] += field_of_overflow[k];
    }

    const int nthreads;
    const MapBins bins;
    DeviceGuard<Memory> memory;
    MapOverflow found;
    std::unique_ptr<PotentialMap> host;    // sums overflowing charges; null: the GPU sums them
    std::vector<double> phi_of_overflow, field_of_overflow;
    double distances = 0.0;
  };

}    // namespace

std::unique_ptr<PotentialMap> make_cuda_potential_map(const MapOptions &options,
                                                      Precision precision, int device, int nthreads,
                                                      const MapBins &bins)
{
  check_map_options(options);
  check_map_bins(bins, options);
  return std::make_unique<CudaMap>(options, precision, device, nthreads, bins);
}

}    // namespace gpucoord
