// Part of GPUCOORD, GPL-2.0. Functions of a per-atom value on the GPU.
//
// Launch of evaluate_atoms: 256 threads per block and at most MAX_BLOCKS blocks, whose threads take
// the atoms in turn. Shared memory: the sums of the block's warps. The last block to finish adds
// all blocks, always in the same order; so do sum_region and add_weight_forces. Other kernels: one
// thread per atom, 256 threads per block, no shared memory.

#include "gpucoord/resident_function.h"

#include "dispatch.h"
#include "region_formula.h"

#include "../expression/interpreter.cuh"
#include "../gpu/buffers.h"
#include "../gpu/early_launch.cuh"
#include "../gpu/forces.cuh"
#include "../gpu/positions.cuh"
#include "../gpu/staging.h"
#include "../gpu/warp_reduction.cuh"
#include "../switching/forms.h"
#include "../switching/interpreted.cuh"
#include "../switching/switch_dispatch.h"
#include "../switching/upload_program_cuda.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256;
  constexpr unsigned MAX_BLOCKS = 1024;

  struct Report {
    double value;
    int bad;    // index of the first bad atom, or NONE
    double s_of_bad, dSds_of_bad;
    static constexpr int NONE = std::numeric_limits<int>::max();
  };

  constexpr int NREGION_SUMS = sizeof(RegionSums) / sizeof(double);

  struct Arguments {
    int n;
    const double *s;
    const int *mask;    // null: all atoms
    int bits;
    const double *w;    // null: 1
    double *f, *dSds;
    double max_dSds;
    double *block_sums;                 // [NREGION_SUMS][MAX_BLOCKS]; the first rows for S and w
    double *mean;                       // see mean()
    unsigned *ended;                    // number of finished blocks; 0 before and after the launch
    int *bad;                           // NONE before and after the launch
    Report *report, *report_on_host;    // on_host: pinned memory
  };

  // The switching function of a formula (SumOverAtoms in definition.h).
  template <class Formula> struct Sigma {
    FormulaConstants<double> constants;
    __device__ void operator()(double x, double &sigma, double &dsigma) const
    {
      sigma = dsigma = 0.0;
      if (!(x * x <= constants.dmax_sq)) return;
      Formula::eval_bare(constants, x * x, sigma, dsigma);
      dsigma *= x * Formula::scale(constants);
    }
  };

  struct Custom {
    FormulaConstants<double> constants;    // only the program is used
    __device__ void operator()(double s, double &value, double &derivative) const
    {
      const Instruction *const program = constants.program;
      value = interpret_in_x(program, constants.nvalue, s);
      derivative = interpret_in_x(program + constants.nvalue, constants.nderivative, s);
    }
  };

  // Adds the values of all threads of the block. Returns the sum in the first thread.
  __device__ double add_block(double value)
  {
    __shared__ double warp_sums[THREADS / 32];
    __syncthreads();    // warp_sums may be overwritten again
    value = add_warp(value);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0)
      for (int w = 1; w < THREADS / 32; ++w) value += warp_sums[w];
    return value;
  }

  __device__ bool is_selected(const Arguments &arg, int k)
  {
    return !arg.mask || (arg.mask[k] & arg.bits);
  }

  // Stores the sums of this block. Returns whether all blocks have stored theirs.
  __device__ bool store_block_sum(const Arguments &arg, int row, double mine, bool is_last_row)
  {
    __shared__ bool is_last;
    const double block_sum = add_block(mine);
    if (threadIdx.x == 0) {
      arg.block_sums[row * MAX_BLOCKS + blockIdx.x] = block_sum;
      if (is_last_row) {
        __threadfence();
        is_last = atomicAdd(arg.ended, 1u) == gridDim.x - 1;
      }
    }
    if (!is_last_row) return false;
    __syncthreads();
    if (is_last) __threadfence();
    return is_last;
  }

  // Returns the sum over all blocks in the first thread.
  __device__ double add_blocks(const Arguments &arg, int row)
  {
    double total = 0.0;
    for (int block = threadIdx.x; block < gridDim.x; block += THREADS)
      total += __ldcg(arg.block_sums + row * MAX_BLOCKS + block);
    return add_block(total);
  }

  template <class Function>
  __global__ void __launch_bounds__(THREADS)
      evaluate_atoms(const __grid_constant__ Arguments arg, const Function function)
  {
    wait_for_previous_kernel();
    launch_dependents();
    double mine = 0.0, weights = 0.0;
    for (int k = blockIdx.x * THREADS + threadIdx.x; k < arg.n; k += gridDim.x * THREADS) {
      double value = 0.0, derivative = 0.0, weight = 0.0;
      if (is_selected(arg, k)) {
        function(arg.s[k], value, derivative);
        weight = arg.w ? arg.w[k] : 1.0;
        derivative *= weight;
        if (!isfinite(value) || !(fabs(derivative) <= arg.max_dSds)) atomicMin(arg.bad, k);
      }
      arg.f[k] = value;
      arg.dSds[k] = derivative;
      mine += weight * value;
      weights += weight;
    }
    if (arg.w) store_block_sum(arg, 1, weights, false);
    if (!store_block_sum(arg, 0, mine, true)) return;
    const double total = add_blocks(arg, 0), all_weights = arg.w ? add_blocks(arg, 1) : 0.0;
    if (threadIdx.x != 0) return;
    const int bad = atomicExch(arg.bad, Report::NONE);
    Report found = {total, bad, 0.0, 0.0};
    if (bad != Report::NONE) found = {nan(""), bad, arg.s[bad], __ldcg(arg.dSds + bad)};
    *arg.report = found;
    *arg.report_on_host = found;
    arg.mean[1] = all_weights > 0.0 ? 1.0 / all_weights : 0.0;
    arg.mean[0] = found.value * arg.mean[1];
    *arg.ended = 0;    // for the next launch
  }

  // w: [n]; gradient: [n][3]
  template <class X>
  __global__ void __launch_bounds__(THREADS)
      weigh_atoms(const __grid_constant__ SmoothRegion region, int n, const X *x, double *w,
                  double *gradient)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= n) return;
    const double3 p = position_of(x, k);
    const double at[3] = {p.x, p.y, p.z};
    double strain[6];
    region_weight(region, at, w[k], gradient + 3 * static_cast<std::size_t>(k), strain);
  }

  // Also computes the strains, which few evaluations need.
  template <class X>
  __global__ void __launch_bounds__(THREADS)
      sum_region(const __grid_constant__ SmoothRegion region, const __grid_constant__ Arguments arg,
                 const X *x, double *sums_on_host)
  {
    double mine[NREGION_SUMS] = {};
    for (int k = blockIdx.x * THREADS + threadIdx.x; k < arg.n; k += gridDim.x * THREADS) {
      if (!is_selected(arg, k)) continue;
      const double3 p = position_of(x, k);
      const double at[3] = {p.x, p.y, p.z};
      double w, gradient[3], strain[6];
      region_weight(region, at, w, gradient, strain);
      mine[0] += w;    // the order of RegionSums
      for (int c = 0; c < 3; ++c) {
        mine[1 + c] += gradient[c];
        mine[4 + c] += arg.f[k] * gradient[c];
      }
      for (int c = 0; c < 6; ++c) {
        mine[7 + c] += strain[c];
        mine[13 + c] += arg.f[k] * strain[c];
      }
    }
    bool is_last = false;
    for (int row = 0; row < NREGION_SUMS; ++row)
      is_last = store_block_sum(arg, row, mine[row], row == NREGION_SUMS - 1);
    if (!is_last) return;
    for (int row = 0; row < NREGION_SUMS; ++row) {
      const double total = add_blocks(arg, row);
      if (threadIdx.x == 0) sums_on_host[row] = total;
    }
    if (threadIdx.x == 0) *arg.ended = 0;
  }

  // of_center: see center_factors(); null: there is none
  __global__ void __launch_bounds__(THREADS)
      add_weight_forces(const __grid_constant__ Arguments arg, const double *gradient, double mean,
                        const double *mean_on_device, const DeviceForces forces,
                        const Factor factor, double *of_center)
  {
    double all = factor.host, mine[3] = {};
    if (factor.device) all *= *factor.device;
    if (factor.second) all *= *factor.second;
    if (mean_on_device) mean = *mean_on_device;
    for (int k = blockIdx.x * THREADS + threadIdx.x; k < arg.n; k += gridDim.x * THREADS) {
      const double by = is_selected(arg, k) ? all * (arg.f[k] - mean) : 0.0;
      if (by == 0.0) continue;    // the gradient of an atom without f may be unset
      const double *const g = gradient + 3 * static_cast<std::size_t>(k);
      subtract(forces, k, by * g[0], by * g[1], by * g[2]);
      for (int c = 0; c < 3; ++c) mine[c] -= by * g[c];
    }
    if (!of_center) return;
    bool is_last = false;
    for (int c = 0; c < 3; ++c) is_last = store_block_sum(arg, c, mine[c], c == 2);
    if (!is_last) return;
    for (int c = 0; c < 3; ++c) {
      const double total = add_blocks(arg, c);
      if (threadIdx.x == 0) of_center[c] = total;
    }
    if (threadIdx.x == 0) *arg.ended = 0;
  }

  __global__ void pack_numbers(const double *from, const int *list, int n, double *to)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k < n) to[k] = from[list[k]];
  }

  __global__ void write_indices(int n, double *to)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k < n) to[k] = k;
  }

  __global__ void to_integers(const double *from, int n, int *to)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k < n) to[k] = static_cast<int>(from[k]);
  }

  unsigned blocks_of(int n)
  {
    return (n + THREADS - 1) / THREADS;
  }

  class CudaResidentFunction : public ResidentFunction {
   public:
    CudaResidentFunction(const AtomFunctionOptions &options_in, Precision precision_in) :
        options(options_in), precision(precision_in)
    {
      if (!can_be_resident(options))
        throw std::invalid_argument("function " + AtomFunction(options).description() +
                                    " is only supported on the host");
      const AtomFunctionInfo &info = AtomFunctionInfo::get(options.kind);
      if (info.has_sigma)
        sigma = std::make_unique<const Switch>(make_endless_switch(options.sigma));
      if (info.has_expression)
        upload_program(compile_custom(options.expression, "s"), instructions, constants);
      else if (sigma && sigma->options().kind == SwitchKind::CUSTOM)
        upload_program(compile_custom(sigma->options().expression), instructions, constants);
      block_sums.reserve(NREGION_SUMS * MAX_BLOCKS);
      means.reserve(2);
      of_center.reserve(3);
      report.reserve(1);
      report_host.reserve(1);
      sums_host.reserve(NREGION_SUMS);
      send_table(std::vector<int>{Report::NONE}, bad);
      send_table(std::vector<unsigned>{0}, ended);
    }

    // The GPU may still write the report.
    ~CudaResidentFunction() override { cudaEventSynchronize(reported); }

    void select(const DeviceAtoms &atoms, int bits_in, DeviceStream stream_of_copy) override
    {
      clear_errors();
      nlocal = atoms.nlocal;
      nall = atoms.nall;
      bits = bits_in;
      weights = {};
      s_values.reserve(nlocal);
      f_values.reserve(nlocal);
      derivatives.reserve(nall);
      is_all = !atoms.mask;
      if (is_all || nlocal == 0) return;
      masks.reserve(nlocal);
      copy(masks.data(), atoms.mask, nlocal, cudaMemcpyDeviceToDevice, stream_of_copy);
    }
    void set_weights(const AtomWeights &weights_in) override
    {
      weights = weights_in;
      region = {};
    }
    void set_region(const SmoothRegion &region_in, const DeviceAtoms &atoms,
                    DeviceStream stream_in) override
    {
      region = region_in;
      atoms_of_region = atoms;
      w_values.reserve(nlocal);
      gradients.reserve(3 * static_cast<std::size_t>(nlocal));
      weights = {w_values.data(), gradients.data()};
      if (nlocal == 0) return;
      with_positions(atoms, [&](const auto *x) {
        weigh_atoms<<<blocks_of(nlocal), THREADS, 0, stream_in>>>(
            region, nlocal, x, w_values.data(), gradients.data());
      });
      check(cudaGetLastError(), "launching weigh_atoms");
    }
    double *s() override { return s_values.data(); }
    double *dSds() override { return derivatives.data(); }

    void evaluate(DeviceStream stream_in) override
    {
      clear_errors();
      stream = stream_in;
      arg.n = nlocal;
      arg.s = s_values.data();
      arg.mask = is_all ? nullptr : masks.data();
      arg.bits = bits;
      arg.w = weights.w;
      arg.f = f_values.data();
      arg.dSds = derivatives.data();
      arg.max_dSds = max_dSds(precision);
      arg.block_sums = block_sums.data();
      arg.mean = means.data();
      arg.ended = ended.data();
      arg.bad = bad.data();
      arg.report = report.data();
      arg.report_on_host = report_host.data();
      visit_atom_function(options.kind, [this](auto definition) {
        if constexpr (decltype(definition)::IS_SUM)
          definition.with_formula(options, *this, [this](const auto &formula) {
            launch(formula);
          });
        else
          throw std::logic_error("gpucoord: a function that is no sum is not resident");
      });
    }

    // The parts of a formula.
    template <class Use> void with_sigma(const Use &use) const
    {
      FormulaConstants<double> c = constants;
      static_cast<SwitchConstants<double> &>(c) = make_constants<double>(*sigma);
      if (sigma->options().kind == SwitchKind::CUSTOM)
        use(Sigma<InterpretedSwitch>{c});
      else
        visit_formula(*sigma, [&](auto formula) {
          use(Sigma<decltype(formula)>{c});
        });
    }
    template <class Use> void with_expression(const Use &use) const { use(Custom{constants}); }

    void add_forces(const DeviceForces &forces, Factor factor, double mean,
                    const double *mean_on_device, DeviceStream stream_in) override
    {
      if (!weights.gradient || nlocal == 0) return;
      add_weight_forces<<<std::min(blocks_of(nlocal), MAX_BLOCKS), THREADS, 0, stream_in>>>(
          arg, weights.gradient, mean, mean_on_device, forces, factor,
          region.center_on_device ? of_center.data() : nullptr);
      check(cudaGetLastError(), "launching add_weight_forces");
    }
    const double *center_factors() const override { return of_center.data(); }

    RegionSums region_sums(DeviceStream stream_in) override
    {
      with_positions(atoms_of_region, [&](const auto *x) {
        sum_region<<<std::clamp(blocks_of(nlocal), 1u, MAX_BLOCKS), THREADS, 0, stream_in>>>(
            region, arg, x, sums_host.data());
      });
      check(cudaGetLastError(), "launching sum_region");
      wait(stream_in);
      copied += NREGION_SUMS * static_cast<std::int64_t>(sizeof(double));
      RegionSums sums;
      std::memcpy(&sums, sums_host.data(), sizeof(sums));
      return sums;
    }

    const double *sum() const override { return &report.data()->value; }
    const double *mean() const override { return means.data(); }
    Result result() override
    {
      reported.wait("computing a function of coordination numbers");
      const Report &found = report_host[0];
      return {found.value, found.bad == Report::NONE ? -1 : found.bad, found.s_of_bad,
              found.dSds_of_bad};
    }
    void enqueue_numbers(double *s, double *f, int n, DeviceStream stream_of_copy) override
    {
      if (s) copy(s, s_values.data(), n, cudaMemcpyDeviceToHost, stream_of_copy);
      if (f) copy(f, f_values.data(), n, cudaMemcpyDeviceToHost, stream_of_copy);
    }
    void copy_numbers(double *s, double *f, DeviceStream stream_of_copy) override
    {
      enqueue_numbers(s, f, nlocal, stream_of_copy);
      wait(stream_of_copy);
    }
    void get_numbers(double *dSds, DeviceStream stream_of_copy) override
    {
      copy(dSds, derivatives.data(), nall, cudaMemcpyDeviceToHost, stream_of_copy);
      wait(stream_of_copy);
    }
    void set_numbers(const double *dSds, DeviceStream stream_of_copy) override
    {
      copy(derivatives.data(), dSds, nall, cudaMemcpyHostToDevice, stream_of_copy);
      wait(stream_of_copy);
    }

    int exchange_columns() const override { return 1; }
    void pack(const int *list, int n, double *to, DeviceStream stream_of_copy) override
    {
      if (n == 0) return;
      pack_numbers<<<blocks_of(n), THREADS, 0, stream_of_copy>>>(derivatives.data(), list, n, to);
      check(cudaGetLastError(), "launching pack_numbers");
    }
    void unpack(const double *from, int n, int first, DeviceStream stream_of_copy) override
    {
      copy(derivatives.data() + first, from, n, cudaMemcpyDeviceToDevice, stream_of_copy);
    }
    void find_owners(const std::function<void()> &send, DeviceStream stream_of_copy) override
    {
      owner_indices.reserve(nall);
      if (nlocal > 0)
        write_indices<<<blocks_of(nlocal), THREADS, 0, stream_of_copy>>>(nlocal,
                                                                         derivatives.data());
      check(cudaGetLastError(), "launching write_indices");
      send();
      if (nall > 0)
        to_integers<<<blocks_of(nall), THREADS, 0, stream_of_copy>>>(derivatives.data(), nall,
                                                                     owner_indices.data());
      check(cudaGetLastError(), "launching to_integers");
    }
    const int *owners() const override { return owner_indices.data(); }

    std::int64_t bytes_copied() const override { return copied; }
    std::size_t bytes() const override
    {
      return s_values.bytes() + f_values.bytes() + derivatives.bytes() + owner_indices.bytes() +
          masks.bytes() + w_values.bytes() + gradients.bytes() + block_sums.bytes() +
          means.bytes() + of_center.bytes() + ended.bytes() + bad.bytes() + report.bytes() +
          instructions.bytes();
    }

   private:
    template <class T>
    void copy(T *to, const T *from, int n, cudaMemcpyKind kind, cudaStream_t stream)
    {
      if (n == 0) return;
      check(cudaMemcpyAsync(to, from, n * sizeof(T), kind, stream), "copying numbers");
      if (kind != cudaMemcpyDeviceToDevice) copied += static_cast<std::int64_t>(n * sizeof(T));
    }
    static void wait(cudaStream_t stream)
    {
      check(cudaStreamSynchronize(stream), "computing a function of coordination numbers");
    }

    template <class Function> void launch(const Function &function)
    {
      const unsigned blocks = std::clamp(blocks_of(arg.n), 1u, MAX_BLOCKS);
      launch_kernel("launching evaluate_atoms", evaluate_atoms<Function>, true, {blocks, THREADS},
                    stream, arg, function);
      reported.record(stream);
      copied += sizeof(Report);
    }

    const AtomFunctionOptions options;
    const Precision precision;
    std::int64_t copied = 0;
    std::unique_ptr<const Switch> sigma;    // null: the function has none
    // The program of an expression, or of a custom sigma; otherwise empty
    DeviceBuffer<Instruction> instructions;
    FormulaConstants<double> constants = {};
    int nlocal = 0, nall = 0, bits = 0;
    bool is_all = true;    // there are no masks
    AtomWeights weights;
    SmoothRegion region;
    DeviceAtoms atoms_of_region;
    DeviceBuffer<double> w_values, gradients;    // of the region
    DeviceBuffer<double> s_values, f_values, derivatives;
    DeviceBuffer<int> masks, owner_indices;
    Arguments arg = {};
    cudaStream_t stream = nullptr;
    DeviceBuffer<double> block_sums, means, of_center;
    DeviceBuffer<unsigned> ended;
    DeviceBuffer<int> bad;
    DeviceBuffer<Report> report;
    PinnedBuffer<Report> report_host;
    PinnedBuffer<double> sums_host;
    Event reported;
  };

}    // namespace

bool can_be_resident(const AtomFunctionOptions &options)
{
  const AtomFunction function(options);
  if (!function.is_sum() || function.nbins() > 0) return false;
  try {
    if (function.info().has_expression) compile_custom(options.expression, "s");
    if (options.sigma.kind == SwitchKind::CUSTOM) compile_custom(options.sigma.expression);
  } catch (const DeviceError &) {
    return false;
  }
  return true;
}

std::unique_ptr<ResidentFunction> make_resident_function(const AtomFunctionOptions &options,
                                                         Precision precision)
{
  check_kernels();
  return std::make_unique<CudaResidentFunction>(options, precision);
}

}    // namespace gpucoord
