// Part of GPUCOORD, GPL-2.0. Rigid molecules of host arrays on a GPU: copies to and from the GPU.
// The host waits once, for the results.

#include "multisite_cuda.h"

#include "../core/clock.h"
#include "../gpu/device_guard.h"
#include "../gpu/staging.h"
#include "molecule_engine_cuda.h"

#include "gpucoord/counters.h"

#include <algorithm>
#include <vector>

namespace gpucoord {

namespace {

  class CudaMultisite : public Multisite {
   public:
    CudaMultisite(const MultisiteModel &model, Precision precision, int device, int nthreads_in,
                  const MultisiteTuning &tuning) :
        nthreads(std::max(1, nthreads_in)),
        memory(device,
               [] {
                 return std::make_unique<Memory>();
               }),
        by_component(model.components().size())
    {
      memory->engine = make_molecule_engine(model, precision, tuning);
      memory->total.reserve(1);
    }

    MultisiteSums evaluate(const Molecules &in, MultisiteWant want,
                           const MultisiteResults &out) override
    {
      GPUCOORD_COUNT(MOLECULES_CUDA);
      Memory &m = memory.enter();
      if (in.nlocal == 0) return {};
      start = seconds();
      const Bounds bounds = stage_molecules(in);
      m.copied.record(m.stream);
      m.engine->enqueue({rows.data(), m.molecules.device.data(), m.quaternions.device.data(),
                         in.nall, in.nlocal, bounds},
                        want, m.stream);
      m.ended.record(m.stream);
      return finish(want, out);
    }

    std::size_t bytes() const override
    {
      const Memory &m = *memory;
      return bytes_of(m.molecules, m.quaternions, m.sums, m.total, *m.engine) +
          bytes_of(by_component, rows, order, owned_rows);
    }

   private:
    Bounds stage_molecules(const Molecules &in)
    {
      rows.assign(by_component.size(), {});
      for (auto &index : by_component) index.clear();
      for (int row = 0; row < in.nall; ++row) {
        const int c = in.component[row];
        by_component[c].push_back(row);
        if (row < in.nlocal) ++rows[c].nowned;
      }
      order.clear();
      owned_rows.clear();
      for (std::size_t c = 0; c < rows.size(); ++c) {
        const auto &index = by_component[c];
        rows[c].first = static_cast<int>(order.size());
        rows[c].n = static_cast<int>(index.size());
        order.insert(order.end(), index.begin(), index.end());
        owned_rows.insert(owned_rows.end(), index.begin(), index.begin() + rows[c].nowned);
      }
      Memory &m = *memory;
      Bounds bounds = no_bounds();
      stage_atoms(in.x, {order.data(), in.nall, in.nlocal}, nthreads, m.stream, m.molecules,
                  bounds);
      send(m.quaternions, 4 * order.size(), m.stream, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
        for (std::size_t t = begin; t < end; ++t)
          m.quaternions.pinned[t] =
              in.quaternion[4 * static_cast<std::size_t>(order[t / 4]) + t % 4];
      });
      return bounds;
    }

    // Waits, and adds the sums to the results.
    MultisiteSums finish(MultisiteWant want, const MultisiteResults &out)
    {
      Memory &m = *memory;
      const std::size_t n = owned_rows.size();
      const int columns = columns_of(want);
      const bool all = want == MultisiteWant::ALL;
      if (all)
        check(cudaMemcpyAsync(m.total.data(), m.engine->total(), sizeof(MoleculeSums),
                              cudaMemcpyDeviceToHost, m.stream),
              "copying data to the host");
      m.sums.reserve(n * columns);
      m.arrivals.fetch(m.engine->sums(), n, columns, m.sums.data(), m.stream);
      m.arrivals.for_each("computing rigid molecules", [&](std::size_t first, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - first > 4096)
        for (std::size_t k = first; k < end; ++k)
          add_row(m.sums.data() + columns * k, owned_rows[k], want, out);
      });
      check(cudaStreamSynchronize(m.stream), "computing rigid molecules");
      MultisiteSums result;
      if (all) result = sums_of(m.total[0]);
      result.timings = m.engine->timings();
      result.timings.copies = seconds() - start - seconds_between(m.copied, m.ended);
      return result;
    }

    struct Memory {
      Stream stream;
      TimedEvent copied, ended;
      Arrivals arrivals;
      Staged<DeviceAtom> molecules;
      Staged<double> quaternions;
      PinnedBuffer<double> sums;
      PinnedBuffer<MoleculeSums> total;
      std::unique_ptr<MoleculeEngine> engine;
    };

    const int nthreads;
    DeviceGuard<Memory> memory;
    double start = 0.0;
    std::vector<std::vector<int>> by_component;    // [components] rows, owned first
    std::vector<ComponentRows> rows;
    // Rows of all molecules and of the owned molecules, by component.
    std::vector<int> order, owned_rows;
  };

}    // namespace

std::unique_ptr<Multisite> make_cuda_multisite(const MultisiteModel &model, Precision precision,
                                               int device, int nthreads,
                                               const MultisiteTuning &tuning)
{
  return std::make_unique<CudaMultisite>(model, precision, device, nthreads, tuning);
}

std::unique_ptr<Multisite> make_cuda_multisite(const MultisiteModel &model, Precision precision,
                                               int device, int nthreads)
{
  return make_cuda_multisite(model, precision, device, nthreads, MultisiteTuning());
}

}    // namespace gpucoord
