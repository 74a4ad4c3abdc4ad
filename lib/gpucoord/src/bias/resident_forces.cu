// Part of GPUCOORD, GPL-2.0. Forces on the atoms of one rank that are kept on a GPU.
//
// Launches: one thread per component of a force, 256 threads per block, no shared memory. For
// packed forces, adjacent threads access adjacent memory. Both kernels are limited by memory: a
// copy reads and writes each component once, and adding reads two and writes one.

#include "gpucoord/resident_forces.h"

#include "../gpu/buffers.h"

namespace gpucoord {

namespace {

  constexpr int THREADS = 256;

  template <class Force> __device__ Force &component(const DeviceForces &forces, unsigned t)
  {
    return static_cast<Force *>(
        forces.f)[forces.atom_stride * (t / 3) + forces.axis_stride * (t % 3)];
  }

  // end: number of components. No overflow: GPU memory cannot hold 2^32 of them.
  template <class Force>
  __global__ void take_forces(const __grid_constant__ DeviceForces forces, unsigned end,
                              double *taken)
  {
    const unsigned t = blockIdx.x * THREADS + threadIdx.x;
    if (t < end) taken[t] = component<Force>(forces, t);
  }

  template <class Force>
  __global__ void add_taken(const double *taken, unsigned end,
                            const __grid_constant__ DeviceForces forces,
                            const __grid_constant__ Factor factor)
  {
    const unsigned t = blockIdx.x * THREADS + threadIdx.x;
    if (t >= end) return;
    double strength = factor.host;
    if (factor.device) strength *= *factor.device;
    if (factor.second) strength *= *factor.second;
    if (strength != 0.0) component<Force>(forces, t) += static_cast<Force>(strength * taken[t]);
  }

  class CudaResidentForces : public ResidentForces {
   public:
    void take(const DeviceForces &forces, int n, DeviceStream stream) override
    {
      end = 3u * static_cast<unsigned>(n);
      taken.reserve(end);
      if (end == 0) return;
      clear_errors();
      if (forces.is_float)
        take_forces<float><<<blocks(), THREADS, 0, stream>>>(forces, end, taken.data());
      else
        take_forces<double><<<blocks(), THREADS, 0, stream>>>(forces, end, taken.data());
      check(cudaGetLastError(), "launching take_forces");
    }

    void add_to(const DeviceForces &forces, const Factor &factor, DeviceStream stream) override
    {
      if (end == 0) return;
      clear_errors();
      if (forces.is_float)
        add_taken<float><<<blocks(), THREADS, 0, stream>>>(taken.data(), end, forces, factor);
      else
        add_taken<double><<<blocks(), THREADS, 0, stream>>>(taken.data(), end, forces, factor);
      check(cudaGetLastError(), "launching add_taken");
    }

    void copy_to_host(double *to, DeviceStream stream) override
    {
      check(cudaMemcpyAsync(to, taken.data(), end * sizeof(double), cudaMemcpyDeviceToHost, stream),
            "copying forces to the host");
      check(cudaStreamSynchronize(stream), "copying forces to the host");
      copied += static_cast<std::int64_t>(end * sizeof(double));
    }

    std::size_t bytes() const override { return taken.bytes(); }
    std::int64_t bytes_copied() const override { return copied; }

   private:
    unsigned blocks() const { return (end + THREADS - 1) / THREADS; }

    unsigned end = 0;    // number of components
    DeviceBuffer<double> taken;
    std::int64_t copied = 0;
  };

}    // namespace

std::unique_ptr<ResidentForces> make_resident_forces()
{
  return std::make_unique<CudaResidentForces>();
}

}    // namespace gpucoord
