// Part of GPUCOORD, GPL-2.0. Ewald's far field of host arrays on a GPU: copies to and from the GPU.

#include "../gpu/device_guard.h"
#include "../gpu/staging.h"
#include "far_engine.h"

#include "gpucoord/counters.h"

#include <cmath>
#include <cstddef>
#include <memory>

namespace gpucoord {

namespace {

  class CudaFarField : public FarField {
   public:
    explicit CudaFarField(int device) :
        memory(device, [] {
          return std::make_unique<Memory>();
        })
    {
    }

    void on_grid(const EwaldMesh &mesh, const int fold[3], const int first[3],
                 const MapCharges &charges, int nthreads, const MapResults &out) override
    {
      Memory &m = memory.enter();
      begin(mesh, charges, nthreads);
      std::size_t n = 1;
      for (int a = 0; a < 3; ++a) n *= mesh.n[a] / fold[a];
      m.phi.reserve(n);
      if (out.field) m.field.reserve(3 * n);
      m.engine.on_grid(fold, first, m.phi.device.data(),
                       out.field ? m.field.device.data() : nullptr, m.stream);
      fetch(m.phi, n, m.phi_arrives);
      if (out.field) fetch(m.field, 3 * n, m.field_arrives);
      copy_arrived(m.phi, m.phi_arrives, nthreads, out.phi);
      if (out.field) copy_arrived(m.field, m.field_arrives, nthreads, out.field);
    }

    void at_positions(const EwaldMesh &mesh, const MapCharges &charges, const double *x, int n,
                      int nthreads, double *at) override
    {
      Memory &m = memory.enter();
      begin(mesh, charges, nthreads);
      stage_all(x, n, nthreads, m.stream, m.positions);
      m.phi.reserve(n);
      m.engine.at_positions(m.positions.device.data(), n, m.phi.device.data(), m.stream);
      fetch(m.phi, n, m.phi_arrives);
      copy_arrived(m.phi, m.phi_arrives, nthreads, at);
      // Wait even if there are no positions.
      check(cudaStreamSynchronize(m.stream), "computing a far field");
    }

    std::size_t bytes() const override
    {
      const Memory &m = *memory;
      return bytes_of(m.charges, m.positions, m.q, m.phi, m.field, m.engine);
    }

   private:
    struct Memory {
      Stream stream;
      Staged<DeviceAtom> charges, positions;
      Staged<double> q, phi, field;
      Arrivals phi_arrives, field_arrives;
      FarEngine engine;
    };

    void begin(const EwaldMesh &mesh, const MapCharges &charges, int nthreads)
    {
      GPUCOORD_COUNT(FAR_FIELD_CUDA);
      Memory &m = *memory;
      stage_all(charges.x, charges.n, nthreads, m.stream, m.charges);
      double sum_of_sizes = 0.0;
      send(m.q, charges.n, m.stream, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
          m.q.pinned[k] = charges.q[k];
          sum_of_sizes += std::fabs(charges.q[k]);
        }
      });
      m.engine.begin(mesh, {m.charges.device.data(), m.q.device.data(), charges.n}, sum_of_sizes,
                     m.stream);
    }

    void fetch(const Staged<double> &values, std::size_t n, Arrivals &arrivals)
    {
      arrivals.fetch(values.device.data(), n, 1, values.pinned.data(), memory->stream);
    }

    static void copy_arrived(const Staged<double> &values, Arrivals &arrivals, int nthreads,
                             double *to)
    {
      arrivals.for_each("computing a far field", [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
        for (std::size_t k = begin; k < end; ++k) to[k] = values.pinned[k];
      });
    }

    DeviceGuard<Memory> memory;
  };

}    // namespace

std::unique_ptr<FarField> make_cuda_far_field(int device)
{
  return std::make_unique<CudaFarField>(device);
}

bool has_cuda_far_field()
{
  return true;
}

}    // namespace gpucoord
