// Part of GPUCOORD, GPL-2.0. The bias of a few variables on the GPU.
//
// Launch: one thread, because a bias takes some tens of operations; one block for a sum of kernels.
// The purpose is that the host does not wait for S. The state is also written to host memory, for
// wait() and last_seen().

#include "gpucoord/counters.h"
#include "gpucoord/resident_bias.h"

#include "../gpu/early_launch.cuh"
#include "../gpu/staging.h"
#include "../gpu/warp_reduction.cuh"
#include "../pairs/points.h"

#include "hermite_grid.h"

#include <stdexcept>

namespace gpucoord {

namespace {

  constexpr int MAX_VARIABLES = ResidentBias::MAX_VARIABLES;

  struct BiasKernelArguments {
    int n;
    bool moves, has_grid, zero_outside;
    double strength;
    struct {
      DeviceValue value;
      Restraint term, last_term;
    } variable[MAX_VARIABLES];
    HermiteAxis axis[MAX_SAMPLED_VARIABLES];
    Interval interval[MAX_SAMPLED_VARIABLES];
    const double *values;
    KernelSum kernels;
    int nkernels;
    const double *rows;    // [1 + 2 n][nkernels]: heights, centers, 1/sigma
    bool advance;          // the averages
    double longest;
    ResidentBias::State *state, *host;
  };

  // Returns V minus V with the parameters of the previous evaluation, both at the current S.
  __device__ double change_by_parameters(const BiasKernelArguments &arg, const double *s)
  {
    double change = 0.0, dVdS;
    for (int v = 0; v < arg.n; ++v)
      change += arg.variable[v].term.evaluate(s[v], dVdS) -
          arg.variable[v].last_term.evaluate(s[v], dVdS);
    return change;
  }

  __device__ void evaluate_restraints(const BiasKernelArguments &arg, ResidentBias::State &state)
  {
    state.energy = 0.0;
    for (int v = 0; v < arg.n; ++v)
      state.energy += arg.variable[v].term.evaluate(state.s[v], state.dVdS[v]);
  }

  __device__ void evaluate_grid(const BiasKernelArguments &arg, ResidentBias::State &state)
  {
    double image[MAX_SAMPLED_VARIABLES], inside[MAX_SAMPLED_VARIABLES];
    bool outside = false;
    for (int v = 0; v < arg.n; ++v) {
      image[v] = image_within(arg.axis[v], state.s[v]);
      inside[v] = fmin(fmax(image[v], arg.interval[v].lo), arg.interval[v].hi);
      if (!(inside[v] >= arg.axis[v].lo && inside[v] <= arg.axis[v].hi)) outside = true;
    }
    if (outside) {
      if (arg.zero_outside)
        state.energy = 0.0;
      else
        state.outside = 1;
      for (int v = 0; v < arg.n; ++v) state.dVdS[v] = 0.0;
      return;
    }
    state.energy = evaluate_hermite(arg.n, arg.axis, arg.values, inside, state.dVdS);
    for (int v = 0; v < arg.n; ++v)
      if (inside[v] != image[v]) state.dVdS[v] = 0.0;
  }

  // Exponential averages of S and its variance, with a sample at the new S: DeviceTerms::Averages.
  __device__ void advance_averages(const BiasKernelArguments &arg, ResidentBias::State &state)
  {
    double *const samples = state.averages, *const mean = samples + 1, *const m2 = mean + arg.n;
    *samples += 1.0;
    for (int v = 0; v < arg.n; ++v) {
      const Period &period = arg.kernels.period[v];
      const double before = period.difference(state.s[v], mean[v]);
      mean[v] = period.wrapped(mean[v] + before / fmin(*samples, arg.longest));
      m2[v] = fmax(m2[v] + before * period.difference(state.s[v], mean[v]), 0.0);
    }
  }

  // Returns whether V is to be computed at the new S.
  __device__ bool begin_evaluation(const BiasKernelArguments &arg, ResidentBias::State &state)
  {
    if (arg.moves) state.work += 0.5 * change_by_parameters(arg, state.s);
    for (int v = 0; v < arg.n; ++v) {
      const auto &variable = arg.variable[v];
      const DeviceValue &value = variable.value;
      state.s[v] = value.sum ? value.scale * *value.sum : 0.0;
      if (value.status->bad_atom != DeviceStatus::NONE) state.bad_atom = value.status->bad_atom;
      if (value.status->moved) state.moved = 1;
      if (!isfinite(state.s[v])) state.not_finite = 1;
    }
    return !state.not_finite;
  }

  __device__ void check_finite(const BiasKernelArguments &arg, ResidentBias::State &state)
  {
    if (!isfinite(state.energy)) state.not_finite = 1;
    for (int v = 0; v < arg.n; ++v)
      if (!isfinite(arg.strength * state.dVdS[v])) state.not_finite = 1;
  }

  __device__ void store(const BiasKernelArguments &arg, ResidentBias::State &state)
  {
    *arg.host = state;    // keep the non-finite values for the error message
    for (int v = 0; v < arg.n && state.not_finite; ++v) state.dVdS[v] = 0.0;
    *arg.state = state;
  }

  __global__ void evaluate_bias(const __grid_constant__ BiasKernelArguments arg)
  {
    wait_for_previous_kernel();
    launch_dependents();    // add_forces() of these variables may start
    ResidentBias::State state = *arg.state;
    if (state.outside || state.not_finite) return;
    if (begin_evaluation(arg, state)) {
      if (arg.moves) state.work += 0.5 * change_by_parameters(arg, state.s);
      if (arg.has_grid)
        evaluate_grid(arg, state);
      else
        evaluate_restraints(arg, state);
      check_finite(arg, state);
    }
    store(arg, state);
  }

  constexpr int SUM_THREADS = 512, SUM_WARPS = SUM_THREADS / 32;

  // Adds this thread's part of the sum of kernels, and of its derivatives.
  template <int N>
  __device__ void add_kernels(const BiasKernelArguments &arg, const double *s, double *sums)
  {
    const std::size_t stride = arg.nkernels;
    for (int k = threadIdx.x; k < arg.nkernels; k += SUM_THREADS) {
      double z[N], d = 0.0;
      for (int v = 0; v < N; ++v) {
        const double inverse = arg.rows[(1 + N + v) * stride + k];
        const double x =
            arg.kernels.period[v].difference(s[v], arg.rows[(1 + v) * stride + k]) * inverse;
        d += x * x;
        z[v] = x * inverse;
      }
      if (d < arg.kernels.cutoff2) sums[0] += arg.kernels.add_kernel(arg.rows[k], d, z, sums + 1);
    }
  }

  // Always sums in the same order.
  template <int N>
  __global__ void __launch_bounds__(SUM_THREADS)
      evaluate_kernels(const __grid_constant__ BiasKernelArguments arg)
  {
    __shared__ double s[N], sum_of_warp[SUM_WARPS][1 + N];
    __shared__ bool goes_on;
    wait_for_previous_kernel();
    launch_dependents();
    ResidentBias::State state;
    if (threadIdx.x == 0) {
      state = *arg.state;
      goes_on = !state.not_finite;
      if (goes_on) {
        goes_on = begin_evaluation(arg, state);
        if (!goes_on) store(arg, state);
      }
      for (int v = 0; v < N; ++v) s[v] = state.s[v];
    }
    __syncthreads();
    if (!goes_on) return;
    double sums[1 + N] = {};
    add_kernels<N>(arg, s, sums);
    for (int c = 0; c < 1 + N; ++c) {
      sums[c] = add_warp(sums[c]);
      if (threadIdx.x % 32 == 0) sum_of_warp[threadIdx.x / 32][c] = sums[c];
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int w = 1; w < SUM_WARPS; ++w)
      for (int c = 0; c < 1 + N; ++c) sums[c] += sum_of_warp[w][c];
    state.energy = arg.kernels.potential(sums[0], sums + 1);
    for (int v = 0; v < N; ++v) state.dVdS[v] = sums[1 + v];
    if (arg.advance) advance_averages(arg, state);
    check_finite(arg, state);
    store(arg, state);
  }

  class CudaResidentBias : public ResidentBias {
   public:
    CudaResidentBias()
    {
      device.reserve(1);
      host.reserve(1);
      start.reserve(1);
    }

    void set(const State &state, DeviceStream stream) override
    {
      start_is_copied.wait("copying data to the GPU");    // the previous one
      start[0] = host[0] = state;
      check(cudaMemcpyAsync(device.data(), start.data(), sizeof(State), cudaMemcpyHostToDevice,
                            stream),
            "copying data to the GPU");
      start_is_copied.record(stream);
      copied += sizeof(State);
    }

    void evaluate(const std::vector<DeviceValue> &variables, const DeviceTerms &terms,
                  double strength, DeviceStream stream) override
    {
      GPUCOORD_COUNT(DEVICE_BIAS);
      if (variables.size() > MAX_VARIABLES)
        throw std::invalid_argument("gpucoord: a bias of too many variables");
      if (terms.has_kernels() && variables.size() > MAX_SAMPLED_VARIABLES)
        throw std::invalid_argument("gpucoord: a sum of kernels of too many variables");
      if (terms.has_grid()) copy_grid(terms.grid, stream);
      BiasKernelArguments arg = {};
      arg.n = static_cast<int>(variables.size());
      arg.moves = terms.moves;
      arg.has_grid = terms.has_grid();
      arg.zero_outside = terms.grid.zero_outside;
      arg.strength = strength;
      for (int v = 0; v < arg.n; ++v) {
        arg.variable[v].value = variables[v];
        if (terms.has_grid() || terms.has_kernels()) continue;
        arg.variable[v].term = terms.now[v];
        arg.variable[v].last_term = terms.last[v];
      }
      for (int k = 0; k < MAX_SAMPLED_VARIABLES; ++k) {
        arg.axis[k] = axis[k];
        arg.interval[k] = interval[k];
      }
      arg.values = values.data();
      if (terms.has_kernels()) set_kernels(terms, arg, stream);
      arg.state = device.data();
      arg.host = host.data();
      if (!terms.has_kernels())
        launch_kernel("launching evaluate_bias", evaluate_bias, true, {1, 1}, stream, arg);
      else if (arg.n == 1)
        launch_sum<1>(arg, stream);
      else if (arg.n == 2)
        launch_sum<2>(arg, stream);
      else
        launch_sum<3>(arg, stream);
      copied += sizeof(State);    // the kernel writes the state to the host
    }

    const double *dVdS(int variable) const override { return &device.data()->dVdS[variable]; }

    State wait(DeviceStream stream) override
    {
      check(cudaStreamSynchronize(stream), "computing a bias");
      return host[0];
    }
    State last_seen() const override
    {
      State state;    // copy member by member, because the GPU may be writing
      const volatile State &seen = host[0];
      for (int v = 0; v < MAX_VARIABLES; ++v) {
        state.s[v] = seen.s[v];
        state.dVdS[v] = seen.dVdS[v];
      }
      state.energy = seen.energy;
      state.work = seen.work;
      for (int k = 0; k < 1 + 2 * MAX_SAMPLED_VARIABLES; ++k) state.averages[k] = seen.averages[k];
      state.bad_atom = seen.bad_atom;
      state.moved = seen.moved;
      state.not_finite = seen.not_finite;
      state.outside = seen.outside;
      return state;
    }

    std::size_t bytes() const override
    {
      return device.bytes() + host.bytes() + start.bytes() + values.bytes() + rows.bytes();
    }
    std::int64_t bytes_copied() const override { return copied; }

   private:
    template <int N> static void launch_sum(const BiasKernelArguments &arg, cudaStream_t stream)
    {
      launch_kernel("launching evaluate_kernels", evaluate_kernels<N>, true, {1, SUM_THREADS},
                    stream, arg);
    }

    void set_kernels(const DeviceTerms &terms, BiasKernelArguments &arg, DeviceStream stream)
    {
      const DeviceTerms::Kernels &kernels = terms.kernels;
      const std::size_t width = 1 + 2 * static_cast<std::size_t>(arg.n);
      const std::size_t count = kernels.rows->size() / width;
      if (kernels.version != version_of_kernels) {
        rows_are_copied.wait("copying kernels to it");    // the previous ones
        const auto &from = *kernels.rows;
        rows.reserve(from.size());
        for (std::size_t k = 0; k < count; ++k)
          for (std::size_t c = 0; c < width; ++c) {
            const double number = from[k * width + c];
            rows.pinned[c * count + k] = c > static_cast<std::size_t>(arg.n) ? 1.0 / number
                                                                             : number;
          }
        check(cudaMemcpyAsync(rows.device.data(), rows.pinned.data(), from.size() * sizeof(double),
                              cudaMemcpyHostToDevice, stream),
              "copying kernels to it");
        rows_are_copied.record(stream);
        version_of_kernels = kernels.version;
        copied += static_cast<std::int64_t>(from.size() * sizeof(double));
      }
      arg.kernels = kernels.sum;
      arg.nkernels = static_cast<int>(count);
      arg.rows = rows.device.data();
      arg.advance = terms.has_averages() && terms.averages.advance;
      arg.longest = terms.averages.longest;
    }

    void copy_grid(const DeviceTerms::Grid &grid, DeviceStream stream)
    {
      if (grid.version == version_of_grid) return;
      for (std::size_t k = 0; k < grid.axes.size(); ++k) {
        axis[k] = hermite_axis(grid.axes[k]);
        interval[k] = grid.interval.empty() ? Interval{-HUGE_VAL, HUGE_VAL} : grid.interval[k];
      }
      const auto &from = *grid.values;
      values.reserve(from.size());
      check(cudaMemcpyAsync(values.data(), from.data(), from.size() * sizeof(double),
                            cudaMemcpyHostToDevice, stream),
            "copying the grid to it");
      check(cudaStreamSynchronize(stream), "copying the grid to it");
      version_of_grid = grid.version;
      copied += static_cast<std::int64_t>(from.size() * sizeof(double));
    }

    std::int64_t copied = 0;
    DeviceBuffer<State> device;
    PinnedBuffer<State> host, start;    // the last state that a kernel wrote, and that of set()
    Event start_is_copied;
    HermiteAxis axis[MAX_SAMPLED_VARIABLES] = {};
    Interval interval[MAX_SAMPLED_VARIABLES] = {};
    DeviceBuffer<double> values;
    std::int64_t version_of_grid = -1;    // -1: no grid
    Staged<double> rows;
    Event rows_are_copied;
    std::int64_t version_of_kernels = -1;    // -1: no kernels
  };

}    // namespace

std::unique_ptr<ResidentBias> make_resident_bias()
{
  return std::make_unique<CudaResidentBias>();
}

}    // namespace gpucoord
