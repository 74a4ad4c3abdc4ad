// Part of GPUCOORD, GPL-2.0. The bias of a few variables on the GPU.
//
// Launch: one thread. A bias takes some tens of operations. The purpose of the kernel is that the
// host does not wait for S. The kernel also writes the state to host memory, for wait() and
// last_seen().

#include "gpucoord/counters.h"
#include "gpucoord/resident_bias.h"

#include "../gpu/early_launch.cuh"
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

  __global__ void evaluate_bias(const __grid_constant__ BiasKernelArguments arg)
  {
    wait_for_previous_kernel();
    launch_dependents();    // add_forces() of these variables may start
    ResidentBias::State state = *arg.state;
    if (state.outside || state.not_finite) return;
    if (arg.moves) state.work += 0.5 * change_by_parameters(arg, state.s);
    for (int v = 0; v < arg.n; ++v) {
      const auto &variable = arg.variable[v];
      const DeviceValue &value = variable.value;
      state.s[v] = value.sum ? value.scale * *value.sum : 0.0;
      if (value.status->bad_atom != DeviceStatus::NONE) state.bad_atom = value.status->bad_atom;
      if (value.status->moved) state.moved = 1;
      if (!isfinite(state.s[v])) state.not_finite = 1;
    }
    if (!state.not_finite) {
      if (arg.moves) state.work += 0.5 * change_by_parameters(arg, state.s);
      if (arg.has_grid)
        evaluate_grid(arg, state);
      else
        evaluate_restraints(arg, state);
      if (!isfinite(state.energy)) state.not_finite = 1;
      for (int v = 0; v < arg.n; ++v)
        if (!isfinite(arg.strength * state.dVdS[v])) state.not_finite = 1;
    }
    *arg.host = state;    // keep the non-finite values for the error message
    for (int v = 0; v < arg.n && state.not_finite; ++v) state.dVdS[v] = 0.0;
    *arg.state = state;
  }

  class CudaResidentBias : public ResidentBias {
   public:
    CudaResidentBias()
    {
      device.reserve(1);
      host.reserve(1);
    }

    void set(const State &state, DeviceStream stream) override
    {
      check(cudaMemcpyAsync(device.data(), &state, sizeof(State), cudaMemcpyHostToDevice, stream),
            "copying data to the GPU");
      check(cudaStreamSynchronize(stream), "copying data to the GPU");
      host[0] = state;
      copied += sizeof(State);
    }

    void evaluate(const std::vector<DeviceValue> &variables, const DeviceTerms &terms,
                  double strength, DeviceStream stream) override
    {
      GPUCOORD_COUNT(DEVICE_BIAS);
      if (variables.size() > MAX_VARIABLES)
        throw std::invalid_argument("gpucoord: a bias of too many variables");
      if (terms.has_grid()) copy_grid(terms.grid, stream);
      BiasKernelArguments arg = {};
      arg.n = static_cast<int>(variables.size());
      arg.moves = terms.moves;
      arg.has_grid = terms.has_grid();
      arg.zero_outside = terms.grid.zero_outside;
      arg.strength = strength;
      for (int v = 0; v < arg.n; ++v) {
        arg.variable[v].value = variables[v];
        if (terms.has_grid()) continue;
        arg.variable[v].term = terms.now[v];
        arg.variable[v].last_term = terms.last[v];
      }
      for (int k = 0; k < MAX_SAMPLED_VARIABLES; ++k) {
        arg.axis[k] = axis[k];
        arg.interval[k] = interval[k];
      }
      arg.values = values.data();
      arg.state = device.data();
      arg.host = host.data();
      launch_kernel("launching evaluate_bias", evaluate_bias, true, {1, 1}, stream, arg);
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
      state.bad_atom = seen.bad_atom;
      state.moved = seen.moved;
      state.not_finite = seen.not_finite;
      state.outside = seen.outside;
      return state;
    }

    std::size_t bytes() const override { return device.bytes() + host.bytes() + values.bytes(); }
    std::int64_t bytes_copied() const override { return copied; }

   private:
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
    PinnedBuffer<State> host;
    HermiteAxis axis[MAX_SAMPLED_VARIABLES] = {};
    Interval interval[MAX_SAMPLED_VARIABLES] = {};
    DeviceBuffer<double> values;
    std::int64_t version_of_grid = -1;    // -1: no grid
  };

}    // namespace

std::unique_ptr<ResidentBias> make_resident_bias()
{
  return std::make_unique<CudaResidentBias>();
}

}    // namespace gpucoord
