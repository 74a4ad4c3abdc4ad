// Part of GPUCOORD, GPL-2.0. An expression of a few variables on the GPU.
//
// Launch: one block, with one warp for the value and one for each derivative. One thread of a warp
// interprets the program, which has some tens of operations. The purpose of the kernel is that the
// host does not wait for the values of the variables.

#include "gpucoord/resident_expression.h"

#include "interpreter.cuh"
#include "parsed_function.h"

#include "../gpu/buffers.h"
#include "../gpu/device_status.h"
#include "../gpu/early_launch.cuh"

#include <algorithm>
#include <stdexcept>

namespace gpucoord {

namespace {

  constexpr int MAX_VARIABLES = ResidentExpression::MAX_VARIABLES;
  constexpr int WARP = 32;
  static_assert((MAX_VARIABLES + 1) * WARP <= 1024, "a block has at most 1024 threads");

  struct Result {
    double value;                        // S
    double derivative[MAX_VARIABLES];    // dS/dS_k
    double product[MAX_VARIABLES];       // factor dS/dS_k
    DeviceStatus status;
  };

  struct ExpressionArguments {
    int n;
    DeviceValue variable[MAX_VARIABLES];
    const Instruction *instructions;
    // Index of the first instruction of the value, of the first instruction of each derivative, and
    // of the end.
    int begin[MAX_VARIABLES + 2];
    Period period;    // of S
    Result *result;
  };

  __device__ DeviceStatus status_of(const ExpressionArguments &arg)
  {
    DeviceStatus all = {DeviceStatus::NONE, 0};
    for (int v = 0; v < arg.n; ++v) {
      const DeviceStatus &one = *arg.variable[v].status;
      if (all.bad_atom == DeviceStatus::NONE) all.bad_atom = one.bad_atom;
      all.moved |= one.moved;
    }
    return all;
  }

  __global__ void __launch_bounds__((MAX_VARIABLES + 1) * WARP)
      evaluate_expression(const __grid_constant__ ExpressionArguments arg)
  {
    __shared__ double s[MAX_VARIABLES];
    const int thread = static_cast<int>(threadIdx.x), program = thread / WARP;
    if (thread < arg.n) {
      const DeviceValue &value = arg.variable[thread];
      s[thread] = value.sum ? value.scale * *value.sum : 0.0;
    }
    __syncthreads();
    double value = 0.0;
    if (thread % WARP == 0) {
      const auto variable = [&](double position) {
        return s[static_cast<int>(position)];
      };
      value = interpret(arg.instructions + arg.begin[program],
                        arg.begin[program + 1] - arg.begin[program], variable);
      if (program > 0) arg.result->derivative[program - 1] = value;
    }
    const bool is_finite =
        __syncthreads_and(isfinite(value) && (thread >= arg.n || isfinite(s[thread])));
    if (thread > 0) return;
    arg.result->value = is_finite ? arg.period.wrapped(value) : nan("");
    arg.result->status = status_of(arg);
  }

  __global__ void multiply_derivatives(int n, const __grid_constant__ Factor factor, Result *result)
  {
    wait_for_previous_kernel();
    const int v = static_cast<int>(threadIdx.x);
    if (v >= n) return;
    double value = factor.host;
    if (factor.device) value *= *factor.device;
    if (factor.second) value *= *factor.second;
    result->product[v] = value == 0.0 ? 0.0 : value * result->derivative[v];
  }

  class CudaResidentExpression : public ResidentExpression {
   public:
    CudaResidentExpression(const std::string &text, const std::vector<std::string> &names,
                           Period period_in) :
        n(static_cast<int>(names.size())),
        period(period_in)
    {
      if (names.size() > MAX_VARIABLES)
        throw std::length_error("has " + std::to_string(names.size()) +
                                " variables, but the GPU supports at most " +
                                std::to_string(MAX_VARIABLES) + " - split it into several");
      std::vector<Instruction> all;
      const auto append = [&](const Lepton::ParsedExpression &parsed) {
        const auto program = translate(parsed, names);
        all.insert(all.end(), program.begin(), program.end());
        begin.push_back(static_cast<int>(all.size()));
      };
      const Lepton::ParsedExpression value = optimized(Lepton::Parser::parse(text));
      append(value);
      for (const auto &name : names) append(optimized(value.differentiate(name)));

      result.reserve(1);
      instructions.reserve(all.size());
      check(cudaMemcpy(instructions.data(), all.data(), all.size() * sizeof(Instruction),
                       cudaMemcpyHostToDevice),
            "copying an expression to it");
      // Wait here, because the caller's stream may not wait for the default stream.
      check(cudaDeviceSynchronize(), "copying an expression to it");
    }

    void evaluate(const std::vector<DeviceValue> &variables, DeviceStream stream) override
    {
      if (static_cast<int>(variables.size()) != n)
        throw std::invalid_argument("gpucoord: " + std::to_string(variables.size()) +
                                    " values for an expression of " + std::to_string(n));
      clear_errors();
      ExpressionArguments arg = {};
      arg.n = n;
      std::copy(variables.begin(), variables.end(), arg.variable);
      arg.instructions = instructions.data();
      std::copy(begin.begin(), begin.end(), arg.begin);
      arg.period = period;
      arg.result = result.data();
      evaluate_expression<<<1, (n + 1) * WARP, 0, stream>>>(arg);
      check(cudaGetLastError(), "launching evaluate_expression");
    }

    DeviceValue device_value() const override
    {
      return {&result.data()->value, 1.0, &result.data()->status};
    }

    void multiply(const Factor &factor, DeviceStream stream) override
    {
      // Launched early. The kernel waits, because the preceding kernel may write the factor.
      launch_kernel("launching multiply_derivatives", multiply_derivatives, true, {1, WARP}, stream,
                    n, factor, result.data());
    }
    const double *product(int variable) const override { return &result.data()->product[variable]; }

    std::size_t bytes() const override { return instructions.bytes() + result.bytes(); }

   private:
    const int n;
    const Period period;
    std::vector<int> begin = {0};
    DeviceBuffer<Instruction> instructions;
    DeviceBuffer<Result> result;
  };

}    // namespace

std::unique_ptr<ResidentExpression> make_resident_expression(const std::string &text,
                                                             const std::vector<std::string> &names,
                                                             Period period)
{
  return std::make_unique<CudaResidentExpression>(text, names, period);
}

}    // namespace gpucoord
