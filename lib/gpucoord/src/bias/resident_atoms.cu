// Part of GPUCOORD, GPL-2.0. Access to a few of the atoms that are resident on a GPU.
//
// Launches: one thread per component of a position, or per atom whose force changes; 128 threads
// per block, no shared memory. The threads write positions to pinned host memory, and read forces
// from it. For a few atoms, one launch is faster than a launch and a copy. Both kernels are
// launched early. Before they wait, they read only indices and pinned forces.

#include "gpucoord/resident_atoms.h"

#include "../gpu/buffers.h"
#include "../gpu/early_launch.cuh"
#include "../gpu/forces.cuh"
#include "../gpu/positions.cuh"

#include <algorithm>
#include <type_traits>

namespace gpucoord {

namespace {

  constexpr int THREADS = 128;

  unsigned blocks_of(std::size_t threads)
  {
    return static_cast<unsigned>((threads + THREADS - 1) / THREADS);
  }

  // to: [n][3] in pinned host memory
  template <class X> __global__ void copy_positions(const X *x, const int *index, int n, double *to)
  {
    const unsigned t = blockIdx.x * THREADS + threadIdx.x;
    if (t >= 3u * n) return;
    const int row = index[t / 3];
    wait_for_previous_kernel();
    to[t] = row == ResidentAtoms::NOT_HERE ? 0.0 : x[3 * static_cast<std::size_t>(row) + t % 3];
  }

  // force: [n][3] in pinned host memory
  __global__ void add(const __grid_constant__ DeviceForces forces, const int *index, int n,
                      const double *force)
  {
    const unsigned k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= static_cast<unsigned>(n)) return;
    const int row = index[k];
    const double *const f = force + 3 * static_cast<std::size_t>(k);
    const double x = f[0], y = f[1], z = f[2];
    wait_for_previous_kernel();
    if (row == ResidentAtoms::NOT_HERE) return;
    subtract(forces, row, -x, -y, -z);
  }

  class CudaResidentAtoms : public ResidentAtoms {
   public:
    // Wait, because the GPU may still use the pinned memory.
    ~CudaResidentAtoms() override
    {
      cudaEventSynchronize(collected);
      cudaEventSynchronize(added);
    }

    void select(const std::vector<int> &chosen, DeviceStream stream) override
    {
      collected.wait("reading positions");
      added.wait("adding forces");
      n = static_cast<int>(chosen.size());
      index.reserve(chosen.size());
      x.reserve(3 * chosen.size());
      f.reserve(3 * chosen.size());
      check(cudaMemcpyAsync(index.data(), chosen.data(), n * sizeof(int), cudaMemcpyHostToDevice,
                            stream),
            "copying data to the GPU");
      check(cudaStreamSynchronize(stream), "copying data to the GPU");
      copied += static_cast<std::int64_t>(n * sizeof(int));
    }

    void enqueue_positions(const DeviceAtoms &atoms, DeviceStream stream) override
    {
      if (n > 0)
        with_positions(atoms, [&](const auto *from) {
          using X = std::remove_cv_t<std::remove_pointer_t<decltype(from)>>;
          launch_kernel("launching copy_positions", copy_positions<X>, true,
                        {blocks_of(3 * static_cast<std::size_t>(n)), THREADS}, stream, from,
                        index.data(), n, x.data());
        });
      collected.record(stream);
      copied += static_cast<std::int64_t>(3 * n * sizeof(double));
    }

    const double *positions() override
    {
      collected.wait("reading positions");
      return x.data();
    }

    void add_forces(const DeviceForces &forces, const double *force, DeviceStream stream) override
    {
      if (n == 0) return;
      added.wait("adding forces");    // the last launch has then read f
      std::copy_n(force, 3 * static_cast<std::size_t>(n), f.data());
      launch_kernel("launching add", add, true, {blocks_of(n), THREADS}, stream, forces,
                    index.data(), n, f.data());
      added.record(stream);
      copied += static_cast<std::int64_t>(3 * n * sizeof(double));
    }

    std::size_t bytes() const override { return index.bytes() + x.bytes() + f.bytes(); }
    std::int64_t bytes_copied() const override { return copied; }

   private:
    int n = 0;
    DeviceBuffer<int> index;
    PinnedBuffer<double> x, f;
    Event collected, added;
    std::int64_t copied = 0;
  };

}    // namespace

std::unique_ptr<ResidentAtoms> make_resident_atoms()
{
  return std::make_unique<CudaResidentAtoms>();
}

}    // namespace gpucoord
