// Part of GPUCOORD, GPL-2.0. Potential maps of atoms whose data are resident on a GPU.
//
// Launch of the kernels in this file: one thread per atom or value, 256 threads per block.
// scan_charges: 256 blocks, with shared memory for the reduction.

#include "gpucoord/counters.h"
#include "gpucoord/resident_map.h"

#include "../gpu/buffers.h"
#include "../gpu/positions.cuh"
#include "map_engine.h"

#include <cub/block/block_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256, SUM_BLOCKS = 256;
  constexpr unsigned blocks_for(std::size_t n)
  {
    return static_cast<unsigned>((n + THREADS - 1) / THREADS);
  }

  struct AddSums {
    __device__ ChargeSums operator()(const ChargeSums &a, const ChargeSums &b) const
    {
      return {a.charged + b.charged, a.q + b.q, a.q_sq + b.q_sq, a.size + b.size,
              max(a.bad_atom, b.bad_atom)};
    }
  };

  // Sums the charges of each block, and marks the selected atoms.
  template <class X, class Q>
  __global__ void scan_charges(const X *x, const Q *q, const int *mask, int groupbit, int nlocal,
                               int nall, unsigned char *chosen, ChargeSums *sums)
  {
    ChargeSums mine;
    for (int k = blockIdx.x * THREADS + threadIdx.x; k < nall; k += THREADS * gridDim.x) {
      const bool is_chosen = !mask || (mask[k] & groupbit);
      chosen[k] = is_chosen;
      if (!is_chosen) continue;
      const double3 p = position_of(x, k);
      const double charge = q[k];
      if (!isfinite(p.x + p.y + p.z) || !isfinite(charge)) mine.bad_atom = k;
      if (k >= nlocal) continue;
      mine.charged += charge != 0.0;
      mine.q += charge;
      mine.q_sq += charge * charge;
      mine.size += fabs(charge);
    }
    using Reduce = cub::BlockReduce<ChargeSums, THREADS>;
    __shared__ typename Reduce::TempStorage storage;
    const ChargeSums all = Reduce(storage).Reduce(mine, AddSums());
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
  }

  template <class X, class Q>
  __global__ void gather_chosen(const X *x, const Q *q, const int *row, int n, DeviceAtom *atom,
                                double *charge)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= n) return;
    const double3 p = position_of(x, row[k]);
    atom[k] = {p.x, p.y, p.z, k};
    charge[k] = q[row[k]];
  }

  __global__ void multiply(double *values, std::size_t n, double factor)
  {
    const std::size_t k = static_cast<std::size_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (k < n) values[k] *= factor;
  }

  __global__ void add_values(const double *values, std::size_t n, double *sum)
  {
    const std::size_t k = static_cast<std::size_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (k < n) sum[k] += values[k];
  }

  class CudaResidentMap : public ResidentPotentialMap {
   public:
    CudaResidentMap(const MapOptions &options, Precision precision, const MapBins &bins_in) :
        bins(bins_in), engine(make_map_engine(options, precision))
    {
      if (bins.are_fixed) engine_of_overflow = make_map_engine(options, precision);
    }

    ChargeSums begin(const DeviceCharges &in, DeviceStream stream) override
    {
      clear_errors();
      charges = {};
      const int nall = in.atoms.nall;
      if (nall == 0) return {};
      chosen.reserve(nall);
      sums.reserve(SUM_BLOCKS);
      rows.reserve(nall + 1);
      int *const nselected = rows.data() + nall;
      const auto with = [&](auto use) {
        with_positions(in.atoms, [&](const auto *x) {
          if (in.q_is_float)
            use(x, static_cast<const float *>(in.q));
          else
            use(x, static_cast<const double *>(in.q));
        });
      };
      with([&](const auto *x, const auto *q) {
        scan_charges<<<SUM_BLOCKS, THREADS, 0, stream>>>(
            x, q, in.atoms.mask, in.groupbit, in.atoms.nlocal, nall, chosen.data(), sums.data());
      });
      check(cudaGetLastError(), "launching scan_charges");
      const thrust::counting_iterator<int> indices(0);
      std::size_t bytes = 0;
      check(cub::DeviceSelect::Flagged(nullptr, bytes, indices, chosen.data(), rows.data(),
                                       nselected, nall, stream),
            "planning a selection");
      workspace.reserve(bytes);
      check(cub::DeviceSelect::Flagged(workspace.data(), bytes, indices, chosen.data(), rows.data(),
                                       nselected, nall, stream),
            "selecting atoms");
      ChargeSums block_sums[SUM_BLOCKS], all;
      int n;
      check(cudaMemcpyAsync(block_sums, sums.data(), sizeof(block_sums), cudaMemcpyDeviceToHost,
                            stream),
            "copying data to the host");
      check(cudaMemcpyAsync(&n, nselected, sizeof(n), cudaMemcpyDeviceToHost, stream),
            "copying data to the host");
      check(cudaStreamSynchronize(stream), "summing charges");
      for (const ChargeSums &s : block_sums)
        all = {all.charged + s.charged, all.q + s.q, all.q_sq + s.q_sq, all.size + s.size,
               std::max(all.bad_atom, s.bad_atom)};
      if (n == 0) return all;
      atoms.reserve(n);
      q.reserve(n);
      with([&](const auto *x, const auto *from) {
        gather_chosen<<<blocks_for(n), THREADS, 0, stream>>>(x, from, rows.data(), n, atoms.data(),
                                                             q.data());
      });
      check(cudaGetLastError(), "launching gather_chosen");
      charges = {atoms.data(), q.data(), n};
      return all;
    }

    void on_grid(const MapGrid &grid, bool with_field, double scale, DeviceStream stream) override
    {
      GPUCOORD_COUNT(DEVICE_MAP);
      npoints = static_cast<std::size_t>(grid.n[0]) * grid.n[1] * grid.n[2];
      has_field = with_field;
      found = {};
      if (npoints == 0) return;
      phi.reserve(npoints);
      if (with_field) field.reserve(3 * npoints);
      double *const to_field = with_field ? field.data() : nullptr;
      const int layers = engine->layers(grid);
      ChargesOnDevice others = {};    // overflowing charges
      if (bins.are_fixed)
        others = engine->begin(grid, bins, charges, found, stream);
      else
        engine->begin(bounds_of(grid), charges, stream);
      engine->on_grid(grid, 0, layers, false, phi.data(), to_field, stream);
      if (others.n > 0) {
        engine_of_overflow->begin(bounds_of(grid), others, stream);
        engine_of_overflow->on_grid(grid, 0, layers, true, phi.data(), to_field, stream);
      }
      if (scale == 1.0) return;
      const auto times_scale = [&](double *values, std::size_t n) {
        multiply<<<blocks_for(n), THREADS, 0, stream>>>(values, n, scale);
        check(cudaGetLastError(), "launching multiply");
      };
      times_scale(phi.data(), npoints);
      if (with_field) times_scale(field.data(), 3 * npoints);
    }

    void fetch(const MapResults &out, DeviceStream stream) override
    {
      copy(phi.data(), npoints, out.phi, stream);
      if (has_field) copy(field.data(), 3 * npoints, out.field, stream);
      check(cudaStreamSynchronize(stream), "computing potentials");
    }

    MapOverflow overflow() const override { return found; }

    void set_sum(const double *from, std::size_t n, DeviceStream stream) override
    {
      nsum = n;
      if (n == 0) return;
      sum.reserve(n);
      check(cudaMemcpyAsync(sum.data(), from, n * sizeof(double), cudaMemcpyHostToDevice, stream),
            "copying data to the GPU");
      check(cudaStreamSynchronize(stream), "copying data to the GPU");
    }

    void add_to_sum(DeviceStream stream) override
    {
      if (npoints == 0) return;
      add_values<<<blocks_for(npoints), THREADS, 0, stream>>>(phi.data(), npoints, sum.data());
      check(cudaGetLastError(), "launching add_values");
    }

    void fetch_sum(double *to, DeviceStream stream) override
    {
      copy(sum.data(), nsum, to, stream);
      check(cudaStreamSynchronize(stream), "copying data to the host");
    }

    std::size_t bytes() const override
    {
      return engine->bytes() + (engine_of_overflow ? engine_of_overflow->bytes() : 0) +
          chosen.bytes() + sums.bytes() + rows.bytes() + workspace.bytes() + atoms.bytes() +
          q.bytes() + phi.bytes() + field.bytes() + sum.bytes();
    }

   private:
    static void copy(const double *from, std::size_t n, double *to, DeviceStream stream)
    {
      if (n > 0)
        check(cudaMemcpyAsync(to, from, n * sizeof(double), cudaMemcpyDeviceToHost, stream),
              "copying data to the host");
    }

    const MapBins bins;
    std::unique_ptr<MapEngine> engine, engine_of_overflow;
    ChargesOnDevice charges = {};
    std::size_t npoints = 0, nsum = 0;
    bool has_field = false;
    MapOverflow found;
    DeviceBuffer<unsigned char> chosen;
    DeviceBuffer<ChargeSums> sums;
    DeviceBuffer<int> rows;
    DeviceBuffer<char> workspace;
    DeviceBuffer<DeviceAtom> atoms;
    DeviceBuffer<double> q, phi, field, sum;
  };

}    // namespace

std::unique_ptr<ResidentPotentialMap>
make_resident_potential_map(const MapOptions &options, Precision precision, const MapBins &bins)
{
  check_map_options(options);
  check_map_bins(bins, options);
  return std::make_unique<CudaResidentMap>(options, precision, bins);
}

}    // namespace gpucoord
