// Part of GPUCOORD, GPL-2.0. Order parameters of Steinhardt of atoms that are resident on the GPU.
//
// The passes are those of orient_order_host.cpp. Between them, rows of order numbers
// (order_arguments_cuda.h) of atoms become those of points, so that kernels find them by the number
// of a partner. Kernels of this file: one thread per atom or row, 256 threads per block, no shared
// memory but that of sum_rows, one block per column.

#include "gpucoord/resident_function.h"
#include "gpucoord/resident_orient_order.h"

#include "order_arguments_cuda.h"

#include "../gpu/early_launch.cuh"
#include "../gpu/forces.cuh"
#include "../gpu/staging.h"
#include "../gpu/warp_reduction.cuh"
#include "../pairs/launchers_cuda.h"
#include "../pairs/resident_pairs.h"
#include "../switching/switch_dispatch.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256;
  constexpr int DIRECT_COLUMNS = 10;

  unsigned blocks_of(std::int64_t n)
  {
    return static_cast<unsigned>((n + THREADS - 1) / THREADS);
  }

  // LOCAL: from q to lambda/N, and its product with q. numbers: q, then N.
  template <class Real>
  __global__ void make_lambda(Real *numbers, int n, int size, int stride, double floor,
                              const double *value, const double *slope)
  {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    Real *const row = numbers + static_cast<std::size_t>(stride) * i;
    const double v = value[i], weight = row[size];
    const double factor = v > floor && weight != 0.0 ? slope[i] / (v * weight) : 0.0;
    for (int k = 0; k < size; ++k) row[k] = static_cast<Real>(factor * row[k]);
    row[size] = static_cast<Real>(factor * v * v);
  }

  // What pass 3 needs of the partners. AVERAGE: dS/dq of the mean over 1 + N, and its product with
  // the mean, in place of the mean. DOT and CONNECTIONS: two numbers behind u.
  template <class Real>
  __global__ void make_back(OrderKind order, Real *numbers, int n, int size, int stride,
                            double floor, const double *value, const double *slope)
  {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    Real *const row = numbers + static_cast<std::size_t>(stride) * i;
    const double v = value[i], weight = row[size];
    if (order == OrderKind::AVERAGE) {
      const double factor = v > floor ? slope[i] / (v * (1.0 + weight)) : 0.0;
      for (int k = 0; k < size; ++k) row[k] = static_cast<Real>(factor * row[k]);
      row[size] = static_cast<Real>(factor * v * v);
      return;
    }
    const double own = order == OrderKind::CONNECTIONS ? slope[i]
        : weight != 0.0                                ? slope[i] / weight
                                                       : 0.0;
    row[size] = static_cast<Real>(own);
    row[size + 1] = order == OrderKind::DOT ? static_cast<Real>(own * v) : Real(0);
  }

  // Sums of the columns of all rows, in an order that depends on n alone. A block for each column.
  template <class Real>
  __global__ void sum_rows(const Real *numbers, int n, int stride, double *total)
  {
    __shared__ double of_warp[THREADS / 32];
    double sum = 0.0;
    for (int i = threadIdx.x; i < n; i += THREADS)
      sum += numbers[static_cast<std::size_t>(stride) * i + blockIdx.x];
    sum = add_warp(sum);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int w = 1; w < THREADS / 32; ++w) sum += of_warp[w];
    total[blockIdx.x] = sum;
  }

  // GLOBAL: S, and lambda/N with its product with q, from the sums of s Y and of s.
  template <class Real>
  __global__ void finish_global(const double *total, int size, double floor, Real *uniform,
                                double *value)
  {
    double norm_sq = 0.0;
    for (int k = 0; k < size; ++k) norm_sq += total[k] * total[k];
    const double n = total[size], norm = sqrt(norm_sq);
    *value = n == 0.0 ? 0.0 : norm / fabs(n);
    const bool is_zero = !(*value > floor);
    for (int k = 0; k < size; ++k)
      uniform[k] = is_zero ? Real(0) : static_cast<Real>(total[k] / (norm * fabs(n)));
    uniform[size] = is_zero ? Real(0) : static_cast<Real>(*value / n);
  }

  __global__ void write_first_column(const double *value, const int *atom, int n, int columns,
                                     double *sums)
  {
    const int r = blockIdx.x * THREADS + threadIdx.x;
    if (r < n) sums[static_cast<std::size_t>(columns) * r] = value[atom ? atom[r] : r];
  }

  // strides: those of dS/dx in its array
  template <class T>
  __global__ void subtract_rows(const T *gradients, std::int64_t row_stride,
                                std::int64_t axis_stride, const int *atom, int n,
                                const __grid_constant__ DeviceForces forces, double factor,
                                const double *device_factor)
  {
    const int r = blockIdx.x * THREADS + threadIdx.x;
    if (r >= n) return;
    const T *const derivative = gradients + row_stride * r;
    const double x = derivative[0], y = derivative[axis_stride], z = derivative[2 * axis_stride];
    wait_for_kernel_before();
    const double strength = device_factor ? factor * *device_factor : factor;
    subtract(forces, atom ? atom[r] : r, strength * x, strength * y, strength * z);
  }

  // Results on the host after a wait.
  struct Report {
    WarpSums total;
    double value;
    DeviceStatus status;
  };

  __global__ void write_report(const WarpSums *total, const double *value,
                               const DeviceStatus *status, Report *report)
  {
    if (total) report->total = *total;
    report->value = *value;
    report->status = *status;
  }

  template <class Real> class CudaResidentOrientOrder : public ResidentOrientOrder {
   public:
    CudaResidentOrientOrder(const SwitchTable &table, const OrientOrderOptions &options_in,
                            Precision precision) :
        options(options_in),
        order(options.order), size(2 * options.l + 1), stride(order_stride(options.l)),
        pairs(std::make_shared<ResidentPairs>(table, precision, nullptr, Listing::ALWAYS)),
        function(make_resident_function(options.function, precision))
    {
      get_order_launchers(options.l, launchers);
      make_functions(table, precision, functions);
      if (order == OrderKind::CONNECTIONS) {
        const Switch sigma = make_endless_switch(options.connection);
        if (sigma.options().kind == SwitchKind::CUSTOM)
          upload_program(compile_custom(sigma.options().expression), connection);
        arg.connection.constants = connection.constants;
        static_cast<SwitchConstants<double> &>(arg.connection.constants) =
            make_constants<double>(sigma);
        arg.connection.form = form_of(sigma);
      }
      make_table(table);
      arg.harmonics = make_harmonic_table<Real>(options.l);
      arg.order = order;
      arg.floor = smallest_norm(precision);
      total.reserve(1);
      sums_of_rows.reserve(size + 1);
      sums_host.reserve(size + 1);
      uniform.reserve(stride);
      value_of_all.reserve(1);
      report.reserve(1);
      ended.reserve(1);
      block_sums.reserve(7 * tuning::MAX_PARTNER_BLOCKS);
      check(cudaMemset(ended.data(), 0, sizeof(unsigned)), "clearing a counter");
      check(cudaDeviceSynchronize(), "clearing a counter");
    }

    void rebuild(const DeviceAtoms &atoms, const DeviceSelection &selection, std::int64_t version,
                 DeviceStream stream) override
    {
      DeviceSelection chosen = selection;
      chosen.neighbors = {};
      chosen.is_evaluated_once = false;
      pairs->rebuild(atoms, chosen, version, stream);
      if (version != 0 && version == known_version) return;
      known_version = 0;    // stays 0 if an exception is thrown
      nlocal = atoms.nlocal;
      nall = atoms.nall;
      function->select(atoms, selection.bit_a, stream);
      const std::size_t n = static_cast<std::size_t>(stride) * nall;
      numbers.reserve(n);
      if (order == OrderKind::AVERAGE) means.reserve(n);
      norm.reserve(nlocal);
      known_version = version;
    }
    std::int64_t natoms_a() const override { return pairs->natoms(0); }
    std::int64_t natoms_b() const override { return pairs->natoms(1); }

    void evaluate(const DeviceAtoms &atoms, const Request &request, const DeviceExchange &exchange,
                  DeviceStream stream) override
    {
      clear_errors();
      wanted = request.want;
      const std::size_t size_of_numbers = static_cast<std::size_t>(stride) * nlocal;
      clear(numbers.data(), size_of_numbers, stream);
      clear(function->s(), nlocal, stream);
      pairs->update(atoms, request.positions, stream);
      take_pairs();
      const bool uses_partners = order != OrderKind::LOCAL && order != OrderKind::GLOBAL;
      const bool has_norm = uses_partners && order != OrderKind::AVERAGE;
      arg.value = function->s();
      arg.norm = has_norm ? norm.data() : nullptr;
      arg.direct = nullptr;
      arg.numbers = numbers.data();
      if (has_rows) launchers.sum_harmonics(arg, stream);
      if (uses_partners) {
        send(numbers, exchange, of_points, stream);
        arg.of_points = of_points.data();
        if (order == OrderKind::AVERAGE) {
          clear(means.data(), size_of_numbers, stream);
          arg.numbers = means.data();
        }
        if (has_rows) launchers.sum_over_partners(arg, stream);
      }
      if (order == OrderKind::GLOBAL)
        find_global(exchange, stream);
      else
        function->evaluate(stream);
      if (wanted & (DERIVATIVES | VIRIAL)) {
        if (uses_partners)
          find_lambda(exchange, stream);
        else if (order == OrderKind::LOCAL)
          launch_of_atoms("launching make_lambda", make_lambda<Real>, stream, numbers.data(),
                          nlocal, size, stride, arg.floor, function->s(), function->dSds());
        if (order != OrderKind::GLOBAL) send(numbers, exchange, of_points, stream);
        sum_forces(request, stream);
      } else
        check(cudaMemsetAsync(total.data(), 0, sizeof(WarpSums), stream), "clearing the sum");
    }

    DeviceValue device_value() const override
    {
      return {order == OrderKind::GLOBAL ? value_of_all.data() : function->sum(), 1.0,
              pairs->points().status()};
    }
    void forget_errors(DeviceStream stream) override { pairs->points().clear_status(stream); }

    Result result(DeviceStream stream) override
    {
      write_report<<<1, 1, 0, stream>>>(total.data(), device_value().sum, pairs->points().status(),
                                        report.data());
      check(cudaGetLastError(), "launching write_report");
      copied += sizeof(Report);
      check(cudaStreamSynchronize(stream), "computing order parameters");
      Result result;
      const Report &found = report[0];
      result.value = found.value;
      if (wanted & VIRIAL) std::copy_n(found.total.virial, 6, result.virial);
      if (found.status.bad_atom != DeviceStatus::NONE) result.bad_atom = found.status.bad_atom;
      result.moved = found.status.moved;
      if (result.bad_atom >= 0 || result.moved) pairs->points().clear_status(stream);
      if (order == OrderKind::GLOBAL) return result;
      const auto of_atoms = function->result();
      result.bad = of_atoms.bad;
      result.order_of_bad = of_atoms.s_of_bad;
      result.slope_of_bad = of_atoms.slope_of_bad;
      return result;
    }

    void add_forces(const DeviceForces &forces, Factor factor, DeviceStream stream) override
    {
      if (!has_rows) return;
      // An atom in both groups has two rows: subtract them one after the other.
      const int n = arg.rows.n, nvalue = pairs->groups_overlap() ? arg.rows.nvalue : n;
      subtract(0, nvalue, forces, factor, stream);
      subtract(nvalue, n, forces, factor, stream);
    }

    void peratom(double *peratom, DeviceStream stream) override
    {
      if (!has_rows) return;
      const int columns = peratom_columns(wanted);
      const std::size_t n = arg.rows.n;
      rows_host.reserve(n * columns);
      atoms_host.reserve(n);
      copy(rows_host.data(), sums.data(), n * columns, stream);
      if (arg.rows.atom)
        copy(atoms_host.data(), arg.rows.atom, n, stream);
      else
        std::iota(atoms_host.data(), atoms_host.data() + n, 0);
      check(cudaStreamSynchronize(stream), "computing order parameters");
      for (std::size_t r = 0; r < n; ++r)
        for (int c = 0; c < columns; ++c)
          peratom[columns * static_cast<std::size_t>(atoms_host[r]) + c] +=
              rows_host[columns * r + c];
    }

    void copy_f(double *f, DeviceStream stream) override
    {
      if (order == OrderKind::GLOBAL)
        copy(f, function->s(), nlocal, stream);
      else
        function->enqueue_numbers(nullptr, f, nlocal, stream);
      check(cudaStreamSynchronize(stream), "computing order parameters");
    }

    std::size_t bytes() const override
    {
      return pairs->bytes() + function->bytes() + numbers.bytes() + means.bytes() +
          of_points.bytes() + back_of_points.bytes() + norm.bytes() + direct.bytes() +
          sums.bytes() + gradients.bytes() + by_class.bytes() + block_sums.bytes();
    }
    std::int64_t bytes_copied() const override
    {
      return copied + pairs->bytes_copied() + function->bytes_copied();
    }

   private:
    // The functions between all pairs of classes.
    void make_table(const SwitchTable &table)
    {
      const TypeClasses &classes = pairs->classes();
      std::vector<OrderFunction<Real>> all;
      for (int a = 0; a < classes.size(); ++a)
        for (int b = 0; b < classes.size(); ++b) {
          const auto &between = classes(a, b);
          OrderFunction<Real> f = {};
          f.constants.dmax_sq = -1;
          if (between.exists()) {
            f.constants = functions[between.function].constants;
            f.form = form_of(table.functions()[between.function]);
          }
          all.push_back(f);
        }
      arg.nclasses = classes.size();
      arg.function = all.front();
      if (classes.size() == 1) return;
      send_table(all, by_class);
      arg.by_class = by_class.data();
    }

    void take_pairs()
    {
      has_rows = !pairs->rows().empty();
      if (!has_rows) return;
      arg.rows = pairs->rows().front().view;
      arg.points = pairs->points().data();
      arg.unit = pairs->points().unit();
    }

    // Brings the rows of atoms to all points.
    void send(DeviceBuffer<Real> &from, const DeviceExchange &exchange, DeviceBuffer<Real> &to,
              cudaStream_t stream)
    {
      if (!exchange.owner && exchange.forward)
        exchange.forward(from.data(), stride, std::is_same<Real, float>::value);
      const Points &points = pairs->points();
      to.reserve(static_cast<std::size_t>(stride) * points.size());
      points.get_rows(from.data(), stride, exchange.owner, pairs->npoints_of_a(), to.data(),
                      stream);
    }

    template <class Kernel, class... Arguments>
    void launch_of_atoms(const char *what, Kernel *kernel, cudaStream_t stream,
                         const Arguments &...arguments)
    {
      if (nlocal == 0) return;
      kernel<<<blocks_of(nlocal), THREADS, 0, stream>>>(arguments...);
      check(cudaGetLastError(), what);
    }

    // Pass 3.
    void find_lambda(const DeviceExchange &exchange, cudaStream_t stream)
    {
      const bool is_average = order == OrderKind::AVERAGE;
      DeviceBuffer<Real> &back = is_average ? means : numbers;
      launch_of_atoms("launching make_back", make_back<Real>, stream, order, back.data(), nlocal,
                      size, stride, arg.floor, function->s(), function->dSds());
      send(back, exchange, is_average ? back_of_points : of_points, stream);
      arg.back = back_of_points.data();
      if (!has_rows) return;
      direct.reserve(static_cast<std::size_t>(DIRECT_COLUMNS) * arg.rows.n);
      arg.direct = direct.data();
      arg.numbers = numbers.data();
      launchers.sum_back(arg, stream);
    }

    void find_global(const DeviceExchange &exchange, cudaStream_t stream)
    {
      sum_rows<<<size + 1, THREADS, 0, stream>>>(numbers.data(), nlocal, stride,
                                                 sums_of_rows.data());
      check(cudaGetLastError(), "launching sum_rows");
      if (exchange.reduce) {
        copy(sums_host.data(), sums_of_rows.data(), size + 1, stream);
        check(cudaStreamSynchronize(stream), "computing order parameters");
        exchange.reduce(sums_host.data(), size + 1, AtomFunction::Reduction::SUM);
        copied += (size + 1) * sizeof(double);
        check(cudaMemcpyAsync(sums_of_rows.data(), sums_host.data(), (size + 1) * sizeof(double),
                              cudaMemcpyHostToDevice, stream),
              "copying to it");
      }
      finish_global<<<1, 1, 0, stream>>>(sums_of_rows.data(), size, arg.floor, uniform.data(),
                                         value_of_all.data());
      check(cudaGetLastError(), "launching finish_global");
    }

    void sum_forces(const Request &request, cudaStream_t stream)
    {
      if (!has_rows) {
        check(cudaMemsetAsync(total.data(), 0, sizeof(WarpSums), stream), "clearing the sum");
        return;
      }
      const int columns = peratom_columns(wanted), n = arg.rows.n;
      gradients_in_float = request.for_forces_only && std::is_same<Real, float>::value &&
          columns == peratom_columns(DERIVATIVES);
      OrderForceArguments<Real> forces = {};
      arg.of_points = of_points.data();
      forces.order = arg;
      forces.uniform = order == OrderKind::GLOBAL ? uniform.data() : nullptr;
      forces.has_two_groups = pairs->has_two_groups();
      forces.columns = columns;
      PartnerArguments &out = forces.out;
      out.rows = arg.rows;
      out.weight = 1.0;
      out.value_scale = pairs->has_two_groups() ? 1.0 : 0.5;
      if (gradients_in_float) {
        gradients.reserve(3 * static_cast<std::size_t>(n));
        out.gradients = gradients.data();
      } else if (columns > 0) {
        sums.reserve(static_cast<std::size_t>(n) * columns);
        out.sums = sums.data();
      }
      out.block_sums = block_sums.data();
      out.ended = ended.data();
      out.total = total.data();
      out.is_first = true;
      launchers.sum_forces(forces, wanted & VIRIAL ? wanted | DERIVATIVES : wanted, stream);
      if (!out.sums || arg.rows.nvalue == 0) return;
      write_first_column<<<blocks_of(arg.rows.nvalue), THREADS, 0, stream>>>(
          function->s(), arg.rows.atom, arg.rows.nvalue, columns, sums.data());
      check(cudaGetLastError(), "launching write_first_column");
    }

    void subtract(int begin, int end, const DeviceForces &forces, Factor factor,
                  cudaStream_t stream)
    {
      if (begin == end) return;
      const int columns = peratom_columns(wanted), n = end - begin;
      const int *const atom = arg.rows.atom ? arg.rows.atom + begin : nullptr;
      const auto launch = [&](const auto *gradient, std::int64_t row_stride,
                              std::int64_t axis_stride) {
        using T = std::remove_cv_t<std::remove_pointer_t<decltype(gradient)>>;
        launch_kernel("launching subtract_rows", subtract_rows<T>, factor.device != nullptr,
                      {blocks_of(n), THREADS}, stream, gradient, row_stride, axis_stride, atom, n,
                      forces, factor.host, factor.device);
      };
      if (gradients_in_float)
        launch(gradients.data() + begin, 1, arg.rows.n);
      else
        launch(sums.data() + static_cast<std::size_t>(columns) * begin + 1, columns, 1);
    }

    template <class T> void clear(T *numbers_to_clear, std::size_t n, cudaStream_t stream)
    {
      if (n > 0)
        check(cudaMemsetAsync(numbers_to_clear, 0, n * sizeof(T), stream), "clearing numbers");
    }
    template <class T> void copy(T *to, const T *from, std::size_t n, cudaStream_t stream)
    {
      copied += static_cast<std::int64_t>(n * sizeof(T));
      check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToHost, stream),
            "copying from it");
    }

    const OrientOrderOptions options;
    const OrderKind order;
    const int size, stride;    // 2 l + 1; numbers of a row
    const std::shared_ptr<ResidentPairs> pairs;
    const std::unique_ptr<ResidentFunction> function;
    OrderLaunchers<Real> launchers;
    std::deque<SwitchFunction<Real>> functions;
    SwitchFunction<double> connection;    // its program
    DeviceBuffer<OrderFunction<Real>> by_class;
    OrderArguments<Real> arg = {};
    unsigned wanted = VALUE;
    bool has_rows = false, gradients_in_float = false;
    int nlocal = 0, nall = 0;
    std::int64_t known_version = 0, copied = 0;
    // [nall][stride] of atoms: q, or u, or lambda/N; the mean of AVERAGE. [points][stride]
    DeviceBuffer<Real> numbers, means, of_points, back_of_points;
    DeviceBuffer<Real> norm, direct, uniform;
    DeviceBuffer<double> sums_of_rows, value_of_all, sums, block_sums;
    DeviceBuffer<float> gradients;    // [3][rows]
    DeviceBuffer<WarpSums> total;
    DeviceBuffer<unsigned> ended;
    PinnedBuffer<double> sums_host, rows_host;
    PinnedBuffer<int> atoms_host;
    PinnedBuffer<Report> report;
  };

}    // namespace

std::unique_ptr<ResidentOrientOrder> make_resident_orient_order(const SwitchTable &table,
                                                                const OrientOrderOptions &options,
                                                                Precision precision)
{
  check_options(options);
  check_kernels();
  if (precision == Precision::DOUBLE)
    return std::make_unique<CudaResidentOrientOrder<double>>(table, options, precision);
  return std::make_unique<CudaResidentOrientOrder<float>>(table, options, precision);
}

}    // namespace gpucoord
