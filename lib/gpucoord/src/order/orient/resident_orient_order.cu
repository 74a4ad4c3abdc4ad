// Part of GPUCOORD, GPL-2.0. Steinhardt order parameters of atoms that are resident on the GPU.
//
// The passes are those of orient_order_host.cpp. Kernels of this file: 256 threads per block, one
// thread per atom or number. Only sum_rows uses shared memory.

#include "gpucoord/orient_order.h"

#include "../resident_order.cuh"
#include "order_arguments_cuda.h"
#include "orient_order_options.h"

#include "../../pairs/launchers_cuda.h"
#include "../../switching/forms.h"

#include <deque>
#include <vector>

namespace gpucoord {

namespace {

  using resident_order::THREADS;
  constexpr int DIRECT_COLUMNS = 10;

  // LOCAL: converts q to lambda/N, and stores its product with q in element 'size'. AVERAGE:
  // converts the mean to dS/dq of the mean over 1 + N, and stores its product with the mean.
  template <class Real> struct RowScale {
    OrderKind order;
    int size;
    double floor;
    const double *value, *dSdv;    // v and dS/dv
    const Real *weight;            // N

    __device__ Four<Real> operator()(std::int64_t atom, int part, Four<Real> four) const
    {
      const double v = value[atom],
                   over = order == OrderKind::AVERAGE ? 1.0 + weight[atom] : weight[atom];
      const double factor = v > floor && over != 0.0 ? dSdv[atom] / (v * over) : 0.0;
      for (int k = 0; k < 4; ++k)
        four.v[k] = static_cast<Real>(factor * (4 * part + k == size ? v * v : four.v[k]));
      return four;
    }
  };
  // DOT and CONNECTIONS: stores the numbers that pass 3 reads of partners after u. An atom without
  // partners does not contribute to any v.
  template <class Real>
  __global__ void add_derivatives(OrderKind order, Real *numbers, int n, int size, int stride,
                                  const double *value, const double *dSdv, const Real *weight)
  {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    Real *const row = numbers + static_cast<std::size_t>(stride) * i;
    double own = weight[i] != 0 ? dSdv[i] : 0.0;
    if (order == OrderKind::DOT && own != 0.0) own /= weight[i];
    row[size] = static_cast<Real>(own);
    row[size + 1] = order == OrderKind::DOT ? static_cast<Real>(own * value[i]) : Real(0);
  }

  constexpr int SUM_BLOCKS = 128;

  // Sums the columns of rows into sums, [blocks][stride]. The order depends only on n. Adjacent
  // threads read adjacent numbers.
  template <class Real>
  __global__ void sum_rows(const Real *numbers, int n, int stride, double *sums)
  {
    __shared__ double thread_sums[THREADS];
    const int rows_at_once = THREADS / stride, first = threadIdx.x / stride,
              column = threadIdx.x % stride;
    double sum = 0.0;
    if (first < rows_at_once)
      for (int i = blockIdx.x * rows_at_once + first; i < n; i += gridDim.x * rows_at_once)
        sum += numbers[static_cast<std::size_t>(stride) * i + column];
    thread_sums[threadIdx.x] = sum;
    __syncthreads();
    if (first != 0) return;
    for (int k = 1; k < rows_at_once; ++k) sum += thread_sums[k * stride + column];
    sums[blockIdx.x * stride + column] = sum;
  }

  // Adds the sums of all blocks. Launch: one thread per column.
  __global__ void add_sums(const double *sums, int stride, double *total)
  {
    double sum = 0.0;
    for (int k = 0; k < SUM_BLOCKS; ++k) sum += sums[k * stride + threadIdx.x];
    total[threadIdx.x] = sum;
  }

  // GLOBAL: sets S, and lambda/N with its product with q, from the sums of s Y and of s.
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

  template <class Real>
  class CudaResidentOrientOrder : public CudaResidentOrder<Real, ResidentOrientOrder> {
   public:
    // The row of an atom has its harmonics and two further numbers.
    CudaResidentOrientOrder(const OrientOrderOptions &options, Precision precision) :
        Shared(options.table, precision, 2 * options.l + 1 + 2), order(options.order),
        size(2 * options.l + 1)
    {
      get_order_launchers(options.l, launchers);
      make_functions(options.table, precision, functions);
      if (order == OrderKind::CONNECTIONS) {
        const Switch sigma = make_endless_switch(options.connection);
        if (sigma.options().kind == SwitchKind::CUSTOM)
          upload_program(compile_custom(sigma.options().expression), connection);
        arg.connection.constants = connection.constants;
        static_cast<SwitchConstants<double> &>(arg.connection.constants) =
            make_constants<double>(sigma);
        arg.connection.form = form_of(sigma);
      }
      make_table(options.table);
      arg.harmonics = make_harmonic_table<Real>(options.l);
      arg.order = order;
      arg.floor = smallest_norm(precision);
      sums_of_blocks.reserve(SUM_BLOCKS * stride);
      sums_of_rows.reserve(size + 1);
      uniform.reserve(stride);
      arg.any_partners = any.data();
    }

    void evaluate_first(const DeviceAtoms &atoms, std::int64_t positions,
                        const DeviceExchange &exchange, double *v, DeviceStream stream) override
    {
      this->begin(atoms, positions, v, arg, stream);
      if (has_rows) list_partners();
      arg.value = v;
      arg.norm = has_norm() ? norm.data() : nullptr;
      arg.weight = weight.data();
      arg.direct = nullptr;
      arg.numbers = numbers.data();
      if (has_rows) {
        find_partners_in_range(arg, stream);
        launchers.sum_harmonics(arg, stream);
      }
      if (order == OrderKind::GLOBAL) return find_global(exchange, stream);
      if (!uses_q_of_partners(order)) return;
      this->send(numbers, exchange, point_numbers, stream);
      arg.point_numbers = point_numbers.data();
      if (order == OrderKind::AVERAGE) {
        arg.numbers = means.data();
        if (has_rows) launchers.average(arg, stream);
        return;
      }
      if (has_rows) launchers.multiply(arg, stream);
      if (has_rows && order == OrderKind::CONNECTIONS) connect_partners(arg, stream);
    }

    void evaluate_second(const Request &request, const double *w, double unit,
                         const DeviceExchange &exchange, DeviceStream stream) override
    {
      this->begin_second(request);
      if (uses_q_of_partners(order))
        find_lambda(w, exchange, stream);
      else if (order == OrderKind::LOCAL)
        send_scaled(numbers, w, exchange, point_numbers, stream);
      if (uses_q_of_partners(order)) this->send(numbers, exchange, point_numbers, stream);
      if (has_rows)
        sum_forces(request, unit, stream);
      else
        this->no_forces(stream);
    }

    void copy_harmonics(double *q, DeviceStream stream) override
    {
      rows_of_host.reserve(static_cast<std::size_t>(stride) * nlocal);
      this->copy(rows_of_host.data(), numbers.data(), static_cast<std::size_t>(stride) * nlocal,
                 stream);
      this->wait(stream);
      for (int i = 0; i < nlocal; ++i) {
        const Real *const row = rows_of_host.data() + static_cast<std::size_t>(stride) * i;
        const double n = order == OrderKind::GLOBAL && row[size] != 0 ? row[size] : 1.0;
        for (int k = 0; k < size; ++k) q[static_cast<std::size_t>(size) * i + k] = row[k] / n;
      }
    }

    std::vector<DeviceExchange::Call> exchanges(unsigned want) const override
    {
      if (order == OrderKind::GLOBAL) return {{DeviceExchange::Kind::REDUCE, size + 1}};
      const bool has_second = want & (DERIVATIVES | VIRIAL);
      const int before = uses_q_of_partners(order) ? 1 : 0;    // exchanges of q before v is known
      return std::vector<DeviceExchange::Call>(before + (has_second ? before + 1 : 0));
    }
    std::size_t bytes() const override
    {
      return Shared::bytes() +
          bytes_of(partner_s, partner_ds, partner_product, partner_derivative, means,
                   back_of_points, weight, norm, direct, uniform, sums_of_blocks, sums_of_rows,
                   rows_of_host, by_class);
    }

   private:
    using Shared = CudaResidentOrder<Real, ResidentOrientOrder>;
    using Shared::any;
    using Shared::has_rows;
    using Shared::nall;
    using Shared::nlocal;
    using Shared::numbers;
    using Shared::pairs;
    using Shared::point_numbers;
    using Shared::stride;
    using Shared::value_of_all;
    using Shared::wanted;

    void reserve_more() override
    {
      if (order == OrderKind::AVERAGE) means.reserve(static_cast<std::size_t>(stride) * nall);
      weight.reserve(nlocal);
      if (has_norm()) norm.reserve(nlocal);
    }
    void set_others(double *v, cudaStream_t stream) override
    {
      Shared::set_others(v, stream);
      if (order == OrderKind::AVERAGE)
        this->clear(means.data(), static_cast<std::size_t>(stride) * nall, stream);
      this->clear(weight.data(), nlocal, stream);
    }

    // Makes the table of functions of all pairs of classes.
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

    bool has_norm() const { return order == OrderKind::DOT || order == OrderKind::CONNECTIONS; }

    void list_partners()
    {
      const std::size_t n = pairs->nelements();
      for (DeviceBuffer<Four<Real>> *fours : {&partner_s, &partner_ds}) fours->reserve(n);
      if (has_norm()) partner_product.reserve(n);
      if (order == OrderKind::CONNECTIONS) partner_derivative.reserve(n);
      arg.partners.s = partner_s.data();
      arg.partners.ds = partner_ds.data();
      arg.partners.product = partner_product.data();
      arg.partners.derivative = partner_derivative.data();
    }

    void send_scaled(DeviceBuffer<Real> &from, const double *w, const DeviceExchange &exchange,
                     DeviceBuffer<Real> &to, cudaStream_t stream)
    {
      const RowScale<Real> scale = {order, size, arg.floor, arg.value, w, weight.data()};
      Shared::send_scaled(from, scale, exchange, to, stream);
    }

    // Pass 3.
    void find_lambda(const double *w, const DeviceExchange &exchange, cudaStream_t stream)
    {
      if (order == OrderKind::AVERAGE) {
        send_scaled(means, w, exchange, back_of_points, stream);
        arg.back = back_of_points.data();
      } else {
        if (nlocal > 0)
          add_derivatives<<<this->blocks_of(nlocal), THREADS, 0, stream>>>(
              order, numbers.data(), nlocal, size, stride, arg.value, w, weight.data());
        check(cudaGetLastError(), "launching add_derivatives");
        this->send(numbers, exchange, point_numbers, stream);
      }
      if (!has_rows) return;
      direct.reserve(static_cast<std::size_t>(DIRECT_COLUMNS) * arg.rows.n);
      arg.direct = direct.data();
      arg.wants_virial = wanted & (VIRIAL | ATOM_VIRIAL);
      arg.numbers = numbers.data();
      if (order == OrderKind::AVERAGE)
        launchers.average_back(arg, stream);
      else
        launchers.multiply_back(arg, stream);
    }

    void find_global(const DeviceExchange &exchange, cudaStream_t stream)
    {
      sum_rows<<<SUM_BLOCKS, THREADS, 0, stream>>>(numbers.data(), nlocal, stride,
                                                   sums_of_blocks.data());
      check(cudaGetLastError(), "launching sum_rows");
      add_sums<<<1, size + 1, 0, stream>>>(sums_of_blocks.data(), stride, sums_of_rows.data());
      check(cudaGetLastError(), "launching add_sums");
      this->add_ranks(sums_of_rows.data(), size + 1, exchange, stream);
      finish_global<<<1, 1, 0, stream>>>(sums_of_rows.data(), size, arg.floor, uniform.data(),
                                         value_of_all.data());
      check(cudaGetLastError(), "launching finish_global");
    }

    void sum_forces(const Request &request, double unit, cudaStream_t stream)
    {
      OrderForceArguments<Real> forces = {};
      arg.point_numbers = point_numbers.data();
      forces.order = arg;
      forces.uniform = order == OrderKind::GLOBAL ? uniform.data() : nullptr;
      this->set_outputs(request, unit, forces);
      launchers.sum_forces(forces, this->want_of_forces(), stream);
    }

    const OrderKind order;
    const int size;    // 2 l + 1
    OrderLaunchers<Real> launchers;
    std::deque<SwitchFunction<Real>> functions;
    SwitchFunction<double> connection;    // program of a custom sigma
    DeviceBuffer<OrderFunction<Real>> by_class;
    OrderArguments<Real> arg = {};
    DeviceBuffer<Four<Real>> partner_s, partner_ds, partner_product,
        partner_derivative;    // numbers of partners in range
    // Per-atom numbers are q, then u or lambda/N. means: [nall][stride] the mean of AVERAGE.
    // back_of_points: [points][stride]
    DeviceBuffer<Real> means, back_of_points;
    DeviceBuffer<Real> weight, norm, direct, uniform;
    DeviceBuffer<double> sums_of_blocks, sums_of_rows;
    PinnedBuffer<Real> rows_of_host;
  };

}    // namespace

std::unique_ptr<ResidentOrderParameter> make_resident_order(const OrientOrderOptions &options,
                                                            Precision precision)
{
  check_options(options);
  check_kernels();
  return make_in_precision<ResidentOrderParameter, CudaResidentOrientOrder>(precision, options,
                                                                            precision);
}

}    // namespace gpucoord
