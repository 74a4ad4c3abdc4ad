// Part of GPUCOORD, GPL-2.0. Radius of gyration and RMSD on a GPU.
//
// Launches, all of them early:
//   sum_shape         256 threads per block, whose threads take the rows in turn, at most
//                     MAX_BLOCKS blocks. The last block to finish adds all blocks, always in the
//                     same order, and on one rank one of its threads evaluates.
//   evaluate_term     one thread, on several ranks
//   sum_residuals     as sum_shape. Its blocks return at once unless the first sums have canceled.
//   add_shape_forces  one thread per row, for each factor

#include "gpucoord/resident_shape.h"

#include "device_members.cuh"
#include "shape_formulas.h"

#include "../gpu/device_status.h"
#include "../gpu/early_launch.cuh"
#include "../gpu/forces.cuh"
#include "../gpu/sorted_atoms.cuh"
#include "../gpu/staging.h"
#include "../gpu/warp_reduction.cuh"

#include <algorithm>
#include <climits>
#include <stdexcept>
#include <type_traits>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256, WARP = 32, WARPS = THREADS / WARP;
  // Results depend on the number of blocks, so it is the same for all GPUs.
  constexpr unsigned MAX_BLOCKS = 512;

  // Written by kernels.
  struct Report {
    unsigned long long nsingular;
    int first_singular;
    static constexpr int NONE = INT_MAX;
  };

  struct Arguments {
    DeviceMembers members;
    ShapeOptions::Kind kind;
    Unwrap unwrap;
    bool squared, by_mass;
    bool is_whole;    // this rank has all members
    int bit;
    double reference[3];
    const double *y;            // [n][3] reference positions; null for GYRATION
    const std::int64_t *ids;    // [n] ascending
    int nids;
    double *partial;    // [blocks][number of sums]
    unsigned *ended;    // number of finished blocks, 0 before and after a launch
    double *sums, *residuals;
    ShapeTerm *term;
    double *value;
    Report *report;
    volatile int *was_singular;    // in the memory of the host, which reads it without a wait
  };

  // Sets the position of a member relative to the reference of the point. Returns its own reference
  // position; null for GYRATION.
  template <class X>
  __device__ const double *find_shape_member(const X *x, const GeometryBox &box,
                                             const Arguments &arg, int row, double *v)
  {
    find_member(x, box, arg.unwrap, arg.members.image, row, arg.reference, v);
    if (!arg.y) return nullptr;
    const void *const all = arg.members.id;
    const std::int64_t id = arg.members.id_is_64_bit ? static_cast<const std::int64_t *>(all)[row]
                                                     : static_cast<const std::int32_t *>(all)[row];
    int k = lower_bound(arg.ids, arg.nids, id);
    if (k == arg.nids || arg.ids[k] != id) {
      v[0] = nan("");
      k = 0;
    }
    return arg.y + 3 * k;
  }

  // Sets 'total' to the sums over all threads of the block. All threads must call this function.
  template <int N> __device__ void add_block(const double (&sums)[N], double *total)
  {
    __shared__ double of_warp[WARPS][N];
    __syncthreads();    // of_warp may be overwritten again
    for (int c = 0; c < N; ++c) {
      const double sum = add_warp(sums[c]);
      if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP][c] = sum;
    }
    __syncthreads();
    if (threadIdx.x < N) {
      double sum = 0.0;
      for (int w = 0; w < WARPS; ++w) sum += of_warp[w][threadIdx.x];
      total[threadIdx.x] = sum;
    }
  }

  // Sets 'total' to the sums over all threads of all blocks, and returns true, in the last block to
  // finish. All threads must call this function.
  template <int N>
  __device__ bool add_blocks(double (&sums)[N], const Arguments &arg, double *total)
  {
    __shared__ bool is_last;
    add_block(sums, arg.partial + static_cast<std::size_t>(N) * blockIdx.x);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(arg.ended, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!is_last) return false;
    __threadfence();
    for (double &sum : sums) sum = 0.0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS)
      for (int c = 0; c < N; ++c)
        sums[c] += __ldcg(arg.partial + static_cast<std::size_t>(N) * b + c);
    add_block(sums, total);
    if (threadIdx.x == 0) *arg.ended = 0;    // for the next launch
    __syncthreads();
    return true;
  }

  // Called by one thread once the term is known.
  __device__ void finish_term(const Arguments &arg, const ShapeTerm &t)
  {
    bool is_finite = isfinite(t.value) && isfinite(t.slope);
    for (int k = 0; k < 6; ++k) is_finite = is_finite && isfinite(t.virial[k]);
    *arg.value = is_finite ? t.value : nan("");
    const int singular = index_of_singular(t.flags);
    if (singular < 0) return;
    ++arg.report->nsingular;
    arg.report->first_singular = min(arg.report->first_singular, singular);
    *arg.was_singular = 1;
  }

  __device__ void evaluate_sums(const Arguments &arg)
  {
    ShapeTerm t = {};
    if (arg.sums[SUM_W] > 0.0)
      t = evaluate_shape(arg.kind, arg.squared, arg.sums);
    else
      t.value = nan("");
    *arg.term = t;
    if (!needs_residuals(t)) finish_term(arg, t);
  }
  __device__ void evaluate_residuals(const Arguments &arg)
  {
    ShapeTerm t = *arg.term;
    set_residuals(t, arg.squared, arg.residuals);
    *arg.term = t;
    finish_term(arg, t);
  }

  template <class X, int N>
  __global__ void __launch_bounds__(THREADS)
      sum_shape(const X *x, const __grid_constant__ GeometryBox box,
                const __grid_constant__ Arguments arg)
  {
    wait_for_previous_kernel();
    launch_dependents();
    double sums[N] = {};
    for (int row = blockIdx.x * THREADS + threadIdx.x; row < arg.members.atoms.nlocal;
         row += gridDim.x * THREADS) {
      if (!(arg.members.atoms.mask[row] & arg.bit)) continue;
      double v[3];
      const double *const y = find_shape_member(x, box, arg, row, v);
      add_to_sums(weight_of(arg.members, arg.by_mass, row), v, N == NSUMS_OF_RMSD ? y : nullptr,
                  sums);
    }
    if (add_blocks(sums, arg, arg.sums) && arg.is_whole && threadIdx.x == 0) evaluate_sums(arg);
  }

  __global__ void evaluate_term(const __grid_constant__ Arguments arg, bool again)
  {
    wait_for_previous_kernel();
    launch_dependents();
    if (again)
      evaluate_residuals(arg);
    else
      evaluate_sums(arg);
  }

  template <class X>
  __global__ void __launch_bounds__(THREADS)
      sum_residuals(const X *x, const __grid_constant__ GeometryBox box,
                    const __grid_constant__ Arguments arg)
  {
    wait_for_previous_kernel();
    launch_dependents();
    const ShapeTerm t = *arg.term;
    if (!needs_residuals(t)) return;
    double sums[NRESIDUALS] = {};
    for (int row = blockIdx.x * THREADS + threadIdx.x; row < arg.members.atoms.nlocal;
         row += gridDim.x * THREADS) {
      if (!(arg.members.atoms.mask[row] & arg.bit)) continue;
      double v[3], at[3], r[3];
      const double *const y = find_shape_member(x, box, arg, row, v);
      residual_of_member(t, v, y, at, r);
      add_to_residuals(weight_of(arg.members, arg.by_mass, row), at, r, sums);
    }
    if (add_blocks(sums, arg, arg.residuals) && arg.is_whole && threadIdx.x == 0)
      evaluate_residuals(arg);
  }

  template <class X>
  __global__ void __launch_bounds__(THREADS)
      add_shape_forces(const X *x, const __grid_constant__ GeometryBox box,
                       const __grid_constant__ Arguments arg,
                       const __grid_constant__ DeviceForces forces, const Factor given)
  {
    const int row = blockIdx.x * THREADS + threadIdx.x;
    wait_for_previous_kernel();
    if (row >= arg.members.atoms.nlocal || !(arg.members.atoms.mask[row] & arg.bit)) return;
    double factor = given.host;
    if (given.device) factor *= *given.device;
    if (given.second) factor *= *given.second;
    if (factor == 0.0) return;
    const ShapeTerm t = *arg.term;
    factor *= t.slope / t.weight * weight_of(arg.members, arg.by_mass, row);
    double v[3], at[3], r[3];
    const double *const y = find_shape_member(x, box, arg, row, v);
    residual_of_member(t, v, y, at, r);
    subtract(forces, row, factor * r[0], factor * r[1], factor * r[2]);
  }

  class CudaResidentShape : public ResidentMembers {
   public:
    CudaResidentShape(const ShapeOptions &options, const std::vector<std::int64_t> &ids_in) :
        host(options)
    {
      if (3 * ids_in.size() != host.reference().size())
        throw std::invalid_argument("gpucoord: the reference has another number of IDs");
      send_table(host.reference(), y);
      send_table(ids_in, ids);
      send_table(std::vector<DeviceStatus>{{DeviceStatus::NONE, 0}}, status);
      send_table(std::vector<Report>{no_report()}, report);
      send_table(std::vector<unsigned>{0}, ended);
      send_table(std::vector<ShapeTerm>{ShapeTerm()}, term);
      report_host.reserve(1);
      was_singular_here.reserve(1);
      was_singular_here[0] = 0;
      value.reserve(1);
      sums.reserve(host.nsums() + NRESIDUALS);
      sums_here.reserve(host.nsums() + NRESIDUALS);
      sums_of_all.reserve(host.nsums() + NRESIDUALS);
      partial.reserve(static_cast<std::size_t>(host.nsums()) * MAX_BLOCKS);
      arg.kind = options.kind;
      arg.unwrap = options.unwrap;
      arg.squared = options.squared;
      arg.y = ids_in.empty() ? nullptr : y.data();
      arg.ids = ids.data();
      arg.nids = static_cast<int>(ids_in.size());
      arg.partial = partial.data();
      arg.ended = ended.data();
      arg.sums = sums.data();
      arg.residuals = sums.data() + host.nsums();
      arg.term = term.data();
      arg.value = value.data();
      arg.report = report.data();
      arg.was_singular = was_singular_here.data();
    }
    // Waits, because the GPU may still use the pinned memory.
    ~CudaResidentShape() override
    {
      cudaEventSynchronize(numbers_are_copied);
      cudaEventSynchronize(evaluated);
    }

    void select(const PointSelection &chosen, DeviceStream) override
    {
      if (chosen.bit.size() != 1 || chosen.bit[0] == 0)
        throw std::invalid_argument("gpucoord: a selection that is not one group");
      arg.bit = chosen.bit[0];
      arg.by_mass = chosen.by_mass[0];
      std::copy_n(chosen.reference.data(), 3, arg.reference);
    }

    void evaluate(const GeometryBox &box_in, const DeviceMembers &members,
                  DeviceStream stream) override
    {
      launch_sums(box_in, members, true, stream);
      launch_residuals(stream);
      evaluated.record(stream);
    }

    void sum(const GeometryBox &box_in, const DeviceMembers &members, DeviceStream stream) override
    {
      launch_sums(box_in, members, false, stream);
    }
    void enqueue_result(DeviceStream stream) override
    {
      copy(sums_here.data(), arg.sums, host.nsums(), cudaMemcpyDeviceToHost, stream);
    }
    const double *result() override
    {
      numbers_are_copied.wait("summing members");
      return sums_here.data();
    }
    void evaluate_at(const GeometryBox &, const double *all_sums, DeviceStream stream) override
    {
      send(all_sums, host.nsums(), arg.sums, stream);
      launch_evaluation(false, stream);
    }
    const double *sum_again(DeviceStream stream) override
    {
      launch_residuals(stream);
      copy(sums_here.data(), arg.residuals, NRESIDUALS, cudaMemcpyDeviceToHost, stream);
      return result();
    }
    void evaluate_again(const double *all_sums, DeviceStream stream) override
    {
      send(all_sums, NRESIDUALS, arg.residuals, stream);
      launch_evaluation(true, stream);
    }

    DeviceValue device_value() const override { return {value.data(), 1.0, status.data(), 1, 1}; }

    void add_forces(const DeviceForces &forces, const ItemFactors &factors,
                    DeviceStream stream) override
    {
      for (int k = 0; k < factors.n && arg.members.atoms.nlocal > 0; ++k)
        if (!factors.item || factors.item[k] != ItemFactors::NO_ITEM)
          with_positions(arg.members.atoms, [&](const auto *x) {
            using X = std::remove_cv_t<std::remove_pointer_t<decltype(x)>>;
            launch_kernel("launching add_shape_forces", add_shape_forces<X>, true,
                          {blocks_of(arg.members.atoms.nlocal), THREADS}, stream, x, box, arg,
                          forces, factors.factor(k));
          });
    }

    bool was_singular() const override { return was_singular_here[0] != 0; }
    bool was_far() const override { return false; }
    GeometryFlags take_flags(DeviceStream stream) override
    {
      check(cudaMemcpyAsync(report_host.data(), report.data(), sizeof(Report),
                            cudaMemcpyDeviceToHost, stream),
            "copying data to the host");
      check(cudaStreamSynchronize(stream), "evaluating a shape");
      const Report found = report_host[0];
      send_table(std::vector<Report>{no_report()}, report);
      copied += 2 * sizeof(Report);
      GeometryFlags flags;
      flags.nsingular = static_cast<std::int64_t>(found.nsingular);
      if (found.first_singular != Report::NONE) flags.first_singular = found.first_singular;
      return flags;
    }

    std::size_t bytes() const override
    {
      return bytes_of(y, ids, status, report, ended, term, value, sums, partial);
    }
    std::int64_t bytes_copied() const override { return copied; }

   private:
    static Report no_report() { return {0, Report::NONE}; }
    static unsigned blocks_of(int rows)
    {
      return static_cast<unsigned>((static_cast<std::size_t>(rows) + THREADS - 1) / THREADS);
    }
    unsigned blocks_of_sums() const
    {
      return std::clamp(blocks_of(arg.members.atoms.nlocal), 1u, MAX_BLOCKS);
    }

    void copy(double *to, const double *from, std::size_t n, cudaMemcpyKind kind,
              cudaStream_t stream)
    {
      check(cudaMemcpyAsync(to, from, n * sizeof(double), kind, stream),
            kind == cudaMemcpyHostToDevice ? "copying data to the GPU"
                                           : "copying data to the host");
      copied += static_cast<std::int64_t>(n * sizeof(double));
      numbers_are_copied.record(stream);
    }
    // Copies numbers of the caller, which may then change.
    void send(const double *from, std::size_t n, double *to, cudaStream_t stream)
    {
      clear_errors();
      numbers_are_copied.wait("copying data to the GPU");    // the previous ones
      std::copy_n(from, n, sums_of_all.data());
      copy(to, sums_of_all.data(), n, cudaMemcpyHostToDevice, stream);
    }

    void launch_sums(const GeometryBox &box_in, const DeviceMembers &members, bool is_whole,
                     cudaStream_t stream)
    {
      clear_errors();
      box = box_in;
      arg.members = members;
      arg.is_whole = is_whole;
      with_positions(members.atoms, [&](const auto *x) {
        using X = std::remove_cv_t<std::remove_pointer_t<decltype(x)>>;
        const auto kernel = arg.y ? sum_shape<X, NSUMS_OF_RMSD> : sum_shape<X, NSUMS_OF_GYRATION>;
        launch_kernel("launching sum_shape", kernel, true, {blocks_of_sums(), THREADS}, stream, x,
                      box, arg);
      });
    }
    void launch_residuals(cudaStream_t stream)
    {
      with_positions(arg.members.atoms, [&](const auto *x) {
        using X = std::remove_cv_t<std::remove_pointer_t<decltype(x)>>;
        launch_kernel("launching sum_residuals", sum_residuals<X>, true,
                      {blocks_of_sums(), THREADS}, stream, x, box, arg);
      });
    }
    void launch_evaluation(bool again, cudaStream_t stream)
    {
      launch_kernel("launching evaluate_term", evaluate_term, true, {1, 1}, stream, arg, again);
      evaluated.record(stream);
    }

    const Shape host;
    std::int64_t copied = 0;
    Arguments arg = {};
    GeometryBox box;
    DeviceBuffer<double> y;
    DeviceBuffer<std::int64_t> ids;
    DeviceBuffer<DeviceStatus> status;
    DeviceBuffer<Report> report;
    DeviceBuffer<unsigned> ended;
    DeviceBuffer<ShapeTerm> term;
    DeviceBuffer<double> value, sums, partial;
    PinnedBuffer<Report> report_host;
    PinnedBuffer<int> was_singular_here;
    PinnedBuffer<double> sums_here, sums_of_all;
    Event numbers_are_copied;
    Event evaluated;    // with this, kernels no longer write was_singular_here
  };

}    // namespace

std::unique_ptr<ResidentMembers> make_resident_shape(const ShapeOptions &options,
                                                     const std::vector<std::int64_t> &ids)
{
  return std::make_unique<CudaResidentShape>(options, ids);
}

}    // namespace gpucoord
