// Part of GPUCOORD, GPL-2.0. Order parameters of Steinhardt of atoms that are resident on the GPU.
//
// The passes are those of orient_order_host.cpp. Between them, rows of order numbers
// (order_arguments_cuda.h) of atoms become those of points, so that kernels find them by the number
// of a partner. Kernels of this file: 256 threads per block, one thread per atom, row or number, no
// shared memory but that of sum_rows.

#include "gpucoord/resident_orient_order.h"

#include "order_arguments_cuda.h"
#include "orient_order_options.h"

#include "../gpu/buffers.h"
#include "../gpu/staging.h"
#include "../pairs/launchers_cuda.h"
#include "../pairs/resident_pairs.h"
#include "../pairs/row_outputs.cuh"
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

  // LOCAL: from q to lambda/N, and its product with q in element 'size'. AVERAGE: from the mean to
  // dS/dq of it over 1 + N, and its product with the mean.
  template <class Real> struct RowScale {
    OrderKind order;
    int size;
    double floor;
    const double *value, *slope;    // v and dS/dv
    const Real *weight;             // N

    __device__ Four<Real> operator()(std::int64_t atom, int part, Four<Real> four) const
    {
      const double v = value[atom],
                   over = order == OrderKind::AVERAGE ? 1.0 + weight[atom] : weight[atom];
      const double factor = v > floor && over != 0.0 ? slope[atom] / (v * over) : 0.0;
      for (int k = 0; k < 4; ++k)
        four.v[k] = static_cast<Real>(factor * (4 * part + k == size ? v * v : four.v[k]));
      return four;
    }
  };
  struct NoScale {
    template <class Real> __device__ Four<Real> operator()(std::int64_t, int, Four<Real> four) const
    {
      return four;
    }
  };

  // fours: elements of a row.
  template <class Real>
  __global__ void scale_rows(Four<Real> *rows, std::int64_t n, int fours,
                             const __grid_constant__ RowScale<Real> scale)
  {
    const std::int64_t t = blockIdx.x * static_cast<std::int64_t>(THREADS) + threadIdx.x;
    if (t < n * fours) rows[t] = scale(t / fours, static_cast<int>(t % fours), rows[t]);
  }

  // Rows of atoms to those of points: to[point] = scale(from[atom]), or 0 from point n_of_a on.
  // row_of: null: the first rows; owner: as in DeviceExchange.
  template <class Real, class Scale>
  __global__ void copy_rows(const Four<Real> *from, int fours, const int *row_of, const int *owner,
                            int n_of_a, std::int64_t n, const __grid_constant__ Scale scale,
                            Four<Real> *to)
  {
    const std::int64_t t = blockIdx.x * static_cast<std::int64_t>(THREADS) + threadIdx.x;
    if (t >= n * fours) return;
    const auto k = static_cast<int>(t / fours), part = static_cast<int>(t % fours);
    Four<Real> four = {};
    if (k < n_of_a) {
      int row = row_of ? row_of[k] : k;
      if (owner) row = owner[row];
      four = scale(row, part, from[static_cast<std::int64_t>(row) * fours + part]);
    }
    to[t] = four;
  }

  // DOT and CONNECTIONS: what pass 3 needs of the partners, behind u. An atom without partners has
  // no part in any v.
  template <class Real>
  __global__ void add_slopes(OrderKind order, Real *numbers, int n, int size, int stride,
                             const double *value, const double *slope, const Real *weight)
  {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    Real *const row = numbers + static_cast<std::size_t>(stride) * i;
    double own = weight[i] != 0 ? slope[i] : 0.0;
    if (order == OrderKind::DOT && own != 0.0) own /= weight[i];
    row[size] = static_cast<Real>(own);
    row[size + 1] = order == OrderKind::DOT ? static_cast<Real>(own * value[i]) : Real(0);
  }

  constexpr int SUM_BLOCKS = 128;

  // Sums of the columns of rows, [blocks][stride], in an order that depends on n alone. Adjacent
  // threads take adjacent numbers.
  template <class Real>
  __global__ void sum_rows(const Real *numbers, int n, int stride, double *sums)
  {
    __shared__ double of_threads[THREADS];
    const int rows_at_once = THREADS / stride, first = threadIdx.x / stride,
              column = threadIdx.x % stride;
    double sum = 0.0;
    if (first < rows_at_once)
      for (int i = blockIdx.x * rows_at_once + first; i < n; i += gridDim.x * rows_at_once)
        sum += numbers[static_cast<std::size_t>(stride) * i + column];
    of_threads[threadIdx.x] = sum;
    __syncthreads();
    if (first != 0) return;
    for (int k = 1; k < rows_at_once; ++k) sum += of_threads[k * stride + column];
    sums[blockIdx.x * stride + column] = sum;
  }

  // One thread for each column.
  __global__ void add_sums(const double *sums, int stride, double *total)
  {
    double sum = 0.0;
    for (int k = 0; k < SUM_BLOCKS; ++k) sum += sums[k * stride + threadIdx.x];
    total[threadIdx.x] = sum;
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

  // Numbers of atoms as [n][columns] in double. list: null: of the first n atoms.
  template <class Real>
  __global__ void pack_rows(const Real *numbers, int stride, const int *list, std::int64_t n,
                            int columns, double *to)
  {
    const std::int64_t t = blockIdx.x * static_cast<std::int64_t>(THREADS) + threadIdx.x;
    if (t >= n * columns) return;
    const std::int64_t k = t / columns, atom = list ? list[k] : k;
    to[t] = numbers[stride * atom + t % columns];
  }

  template <class Real>
  __global__ void unpack_rows(const double *from, std::int64_t n, int first, int columns,
                              int stride, Real *numbers)
  {
    const std::int64_t t = blockIdx.x * static_cast<std::int64_t>(THREADS) + threadIdx.x;
    if (t >= n * columns) return;
    numbers[stride * (first + t / columns) + t % columns] = static_cast<Real>(from[t]);
  }

  // Results on the host after a wait.
  struct Report {
    WarpSums total;
    double value;
    DeviceStatus status;
    int any_partners;
  };

  __global__ void write_report(const WarpSums *total, const double *value,
                               const DeviceStatus *status, int *any_partners, Report *report)
  {
    report->total = *total;
    report->value = *value;
    report->status = *status;
    report->any_partners = *any_partners;
    *any_partners = 0;
  }

  template <class Real> class CudaResidentOrientOrder : public ResidentOrientOrder {
   public:
    CudaResidentOrientOrder(const SwitchTable &table, const OrientOrderOptions &options,
                            Precision precision) :
        order(options.order),
        size(2 * options.l + 1), stride(order_stride(options.l)),
        pairs(std::make_shared<ResidentPairs>(table, precision, nullptr, Listing::ALWAYS))
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
      sums_of_blocks.reserve(SUM_BLOCKS * stride);
      sums_of_rows.reserve(size + 1);
      sums_host.reserve(size + 1);
      uniform.reserve(stride);
      report.reserve(1);
      block_sums.reserve(7 * tuning::MAX_PARTNER_BLOCKS);
      send_table(std::vector<unsigned>{0}, ended);
      send_table(std::vector<int>{0}, any);
      send_table(std::vector<double>{0.0}, value_of_all);
      arg.any_partners = any.data();
    }

    // The GPU may still write the report.
    ~CudaResidentOrientOrder() override { cudaEventSynchronize(reported); }

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
      const std::size_t n = static_cast<std::size_t>(stride) * nall;
      numbers.reserve(n);
      if (order == OrderKind::AVERAGE) means.reserve(n);
      weight.reserve(nlocal);
      if (has_norm()) norm.reserve(nlocal);
      known_version = version;
    }
    std::int64_t natoms_a() const override { return pairs->natoms(0); }
    std::int64_t natoms_b() const override { return pairs->natoms(1); }

    void read_positions(const DeviceAtoms &atoms, std::int64_t positions,
                        DeviceStream stream) override
    {
      clear_errors();
      pairs->update(atoms, positions, stream);
      is_reported = false;
    }

    void evaluate_first(const DeviceAtoms &atoms, std::int64_t positions,
                        const DeviceExchange &exchange, double *v, DeviceStream stream) override
    {
      clear_errors();
      wanted = VALUE;
      is_reported = false;
      clear_others(v, stream);
      pairs->update(atoms, positions, stream);
      take_pairs();
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
      send(numbers, exchange, of_points, stream);
      arg.of_points = of_points.data();
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
      wanted = request.want;
      is_reported = false;
      if (uses_q_of_partners(order))
        find_lambda(w, exchange, stream);
      else if (order == OrderKind::LOCAL)
        send_scaled(numbers, w, exchange, of_points, stream);
      if (uses_q_of_partners(order)) send(numbers, exchange, of_points, stream);
      if (has_rows)
        sum_forces(request, unit, stream);
      else
        clear(total.data(), 1, stream);
    }

    DeviceValue device_value() const override
    {
      return {value_of_all.data(), 1.0, pairs->points().status()};
    }
    void forget_errors(DeviceStream stream) override { pairs->points().clear_status(stream); }

    void enqueue_result(DeviceStream stream) override
    {
      write_report<<<1, 1, 0, stream>>>(total.data(), value_of_all.data(), pairs->points().status(),
                                        any.data(), report.data());
      check(cudaGetLastError(), "launching write_report");
      reported.record(stream);
      is_reported = true;
      copied += sizeof(Report);
    }
    Totals result(DeviceStream stream) override
    {
      if (!is_reported) enqueue_result(stream);
      reported.wait("computing order parameters");
      is_reported = false;    // a further call reads the status again
      Totals result;
      const Report &found = report[0];
      result.value = found.value;
      if (wanted & VIRIAL) std::copy_n(found.total.virial, 6, result.virial);
      pairs->points().report(found.status, result, stream);
      return result;
    }
    bool any_partners() const override { return report[0].any_partners != 0; }

    void add_forces(const DeviceForces &forces, Factor factor, DeviceStream stream) override
    {
      if (!has_rows) return;
      RowGradients of = {arg.rows};
      if (gradients_in_float)
        of.gradients = gradients.data();
      else
        of.sums = sums.data();
      of.columns = peratom_columns(wanted);
      subtract_rows(of, pairs->groups_overlap(), forces, factor, stream);
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
      wait(stream);
      for (std::size_t r = 0; r < n; ++r)
        for (int c = 0; c < columns; ++c)
          peratom[columns * static_cast<std::size_t>(atoms_host[r]) + c] +=
              rows_host[columns * r + c];
    }

    void copy_harmonics(double *q, DeviceStream stream) override
    {
      rows_of_host.reserve(static_cast<std::size_t>(stride) * nlocal);
      copy(rows_of_host.data(), numbers.data(), static_cast<std::size_t>(stride) * nlocal, stream);
      wait(stream);
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
      const int before = uses_q_of_partners(order) ? 1 : 0;    // of q, before v
      return std::vector<DeviceExchange::Call>(before + (has_second ? before + 1 : 0));
    }
    int exchange_columns() const override { return size + 2; }
    void pack(const int *list, int n, double *to, DeviceStream stream) override
    {
      pack(list, static_cast<std::int64_t>(n), to, stream);
    }
    void unpack(const double *from, int n, int first, DeviceStream stream) override
    {
      if (n == 0) return;
      unpack_rows<<<blocks_of(static_cast<std::int64_t>(n) * exchange_columns()), THREADS, 0,
                    stream>>>(from, n, first, exchange_columns(), stride, sent);
      check(cudaGetLastError(), "launching unpack_rows");
    }
    void get_numbers(double *to, DeviceStream stream) override
    {
      const std::size_t n = static_cast<std::size_t>(exchange_columns()) * nlocal;
      packed.reserve(static_cast<std::size_t>(exchange_columns()) * nall);
      pack(nullptr, static_cast<std::int64_t>(nlocal), packed.data(), stream);
      copy(to, packed.data(), n, stream);
      wait(stream);
    }
    void set_numbers(const double *from, DeviceStream stream) override
    {
      const std::size_t first = static_cast<std::size_t>(exchange_columns()) * nlocal,
                        n = static_cast<std::size_t>(exchange_columns()) * (nall - nlocal);
      if (n == 0) return;
      packed.reserve(n);
      check(cudaMemcpyAsync(packed.data(), from + first, n * sizeof(double), cudaMemcpyHostToDevice,
                            stream),
            "copying to it");
      copied += static_cast<std::int64_t>(n * sizeof(double));
      unpack(packed.data(), nall - nlocal, nlocal, stream);
      wait(stream);
    }

    std::size_t bytes() const override
    {
      return pairs->bytes() + number_in_range.bytes() + points_in_range.bytes() + of_s.bytes() +
          of_ds.bytes() + of_product.bytes() + of_slope.bytes() + numbers.bytes() + means.bytes() +
          of_points.bytes() + back_of_points.bytes() + weight.bytes() + norm.bytes() +
          direct.bytes() + sums.bytes() + gradients.bytes() + by_class.bytes() +
          block_sums.bytes() + packed.bytes();
    }
    std::int64_t bytes_copied() const override { return copied + pairs->bytes_copied(); }

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

    bool has_norm() const { return order == OrderKind::DOT || order == OrderKind::CONNECTIONS; }

    // Partners in range take as much room as all that are listed.
    void take_pairs()
    {
      has_rows = !pairs->rows().empty();
      if (!has_rows) return;
      arg.rows = pairs->rows().front().view;
      arg.points = pairs->points().data();
      arg.unit = pairs->points().unit();
      arg.per_unit = 1.0 / arg.unit;
      const std::size_t n = pairs->nelements(), rows_a_tile = 32 / arg.rows.lanes,
                        ntiles = (arg.rows.n + rows_a_tile - 1) / rows_a_tile;
      number_in_range.reserve(32 * ntiles);
      points_in_range.reserve(n);
      for (DeviceBuffer<Four<Real>> *fours : {&of_s, &of_ds}) fours->reserve(n);
      if (has_norm()) of_product.reserve(n);
      if (order == OrderKind::CONNECTIONS) of_slope.reserve(n);
      arg.partners = {number_in_range.data(), points_in_range.data(), of_s.data(),
                      of_ds.data(),           of_product.data(),      of_slope.data()};
    }

    // Kernels write the numbers of atoms with rows. Those of other atoms stay 0 until the next
    // rebuild.
    void clear_others(double *v, cudaStream_t stream)
    {
      if (v == cleared_v && pairs->nrebuilds() == cleared_at) return;
      const std::size_t n = static_cast<std::size_t>(stride) * nall;
      clear(numbers.data(), n, stream);
      if (order == OrderKind::AVERAGE) clear(means.data(), n, stream);
      clear(v, nlocal, stream);
      clear(weight.data(), nlocal, stream);
      cleared_v = v;
      cleared_at = pairs->nrebuilds();
    }

    // Brings the rows of atoms to all points.
    template <class Scale = NoScale>
    void send(DeviceBuffer<Real> &from, const DeviceExchange &exchange, DeviceBuffer<Real> &to,
              cudaStream_t stream, const Scale &scale = {})
    {
      sent = from.data();
      if (!exchange.owner && exchange.forward) exchange.forward();
      const Points &points = pairs->points();
      to.reserve(static_cast<std::size_t>(stride) * points.size());
      if (points.size() == 0) return;
      const int fours = stride / 4;
      copy_rows<<<blocks_of(static_cast<std::int64_t>(points.size()) * fours), THREADS, 0,
                  stream>>>(reinterpret_cast<const Four<Real> *>(from.data()), fours,
                            points.row_of(), exchange.owner, pairs->npoints_of_a(), points.size(),
                            scale, reinterpret_cast<Four<Real> *>(to.data()));
      check(cudaGetLastError(), "launching copy_rows");
    }

    // The same, scaled. On one rank, only the rows of points are.
    void send_scaled(DeviceBuffer<Real> &from, const double *w, const DeviceExchange &exchange,
                     DeviceBuffer<Real> &to, cudaStream_t stream)
    {
      const RowScale<Real> scale = {order, size, arg.floor, arg.value, w, weight.data()};
      if (exchange.owner) return send(from, exchange, to, stream, scale);
      const int fours = stride / 4;
      if (nlocal > 0)
        scale_rows<<<blocks_of(static_cast<std::int64_t>(nlocal) * fours), THREADS, 0, stream>>>(
            reinterpret_cast<Four<Real> *>(from.data()), nlocal, fours, scale);
      check(cudaGetLastError(), "launching scale_rows");
      send(from, exchange, to, stream);
    }

    // Pass 3.
    void find_lambda(const double *w, const DeviceExchange &exchange, cudaStream_t stream)
    {
      if (order == OrderKind::AVERAGE) {
        send_scaled(means, w, exchange, back_of_points, stream);
        arg.back = back_of_points.data();
      } else {
        if (nlocal > 0)
          add_slopes<<<blocks_of(nlocal), THREADS, 0, stream>>>(
              order, numbers.data(), nlocal, size, stride, arg.value, w, weight.data());
        check(cudaGetLastError(), "launching add_slopes");
        send(numbers, exchange, of_points, stream);
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
      if (exchange.reduce) {
        copy(sums_host.data(), sums_of_rows.data(), size + 1, stream);
        wait(stream);
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

    void sum_forces(const Request &request, double unit, cudaStream_t stream)
    {
      const int columns = peratom_columns(wanted), n = arg.rows.n;
      const bool fits_float = std::fabs(std::log2(unit)) < 60.0;    // gradients do, too
      gradients_in_float = request.for_forces_only && fits_float &&
          std::is_same<Real, float>::value && columns == peratom_columns(DERIVATIVES);
      OrderForceArguments<Real> forces = {};
      arg.of_points = of_points.data();
      forces.order = arg;
      forces.uniform = order == OrderKind::GLOBAL ? uniform.data() : nullptr;
      forces.has_two_groups = pairs->has_two_groups();
      forces.columns = columns;
      PartnerArguments &out = forces.out;
      out.rows = arg.rows;
      out.weight = unit;
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
    }

    void pack(const int *list, std::int64_t n, double *to, cudaStream_t stream)
    {
      if (n == 0) return;
      pack_rows<<<blocks_of(n * exchange_columns()), THREADS, 0, stream>>>(sent, stride, list, n,
                                                                           exchange_columns(), to);
      check(cudaGetLastError(), "launching pack_rows");
    }

    template <class T> void clear(T *numbers_to_clear, std::size_t n, cudaStream_t stream)
    {
      if (n > 0)
        check(cudaMemsetAsync(numbers_to_clear, 0, n * sizeof(T), stream), "clearing numbers");
    }
    template <class T> void copy(T *to, const T *from, std::size_t n, cudaStream_t stream)
    {
      if (n == 0) return;
      copied += static_cast<std::int64_t>(n * sizeof(T));
      check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToHost, stream),
            "copying from it");
    }
    static void wait(cudaStream_t stream)
    {
      check(cudaStreamSynchronize(stream), "computing order parameters");
    }

    const OrderKind order;
    const int size, stride;    // 2 l + 1; numbers of a row
    const std::shared_ptr<ResidentPairs> pairs;
    OrderLaunchers<Real> launchers;
    std::deque<SwitchFunction<Real>> functions;
    SwitchFunction<double> connection;    // its program
    DeviceBuffer<OrderFunction<Real>> by_class;
    OrderArguments<Real> arg = {};
    unsigned wanted = VALUE;
    bool has_rows = false, gradients_in_float = false;
    int nlocal = 0, nall = 0;
    std::int64_t known_version = 0, copied = 0;
    // Partners in range.
    DeviceBuffer<int> number_in_range;
    DeviceBuffer<int4> points_in_range;
    DeviceBuffer<Four<Real>> of_s, of_ds, of_product, of_slope;
    // [nall][stride] of atoms: q, or u, or lambda/N; the mean of AVERAGE. [points][stride]
    DeviceBuffer<Real> numbers, means, of_points, back_of_points;
    Real *sent = nullptr;    // the numbers of atoms that are being exchanged
    // clear_others()
    double *cleared_v = nullptr;
    std::int64_t cleared_at = 0;    // ResidentPairs::nrebuilds()
    DeviceBuffer<Real> weight, norm, direct, uniform;
    DeviceBuffer<double> sums_of_blocks, sums_of_rows, value_of_all, sums, block_sums;
    DeviceBuffer<double> packed;      // numbers of ghosts from or for the host
    DeviceBuffer<float> gradients;    // [3][rows]
    DeviceBuffer<WarpSums> total;
    DeviceBuffer<unsigned> ended;
    DeviceBuffer<int> any;    // whether an atom has partners, since the last report
    PinnedBuffer<Real> rows_of_host;
    PinnedBuffer<double> sums_host, rows_host;
    PinnedBuffer<int> atoms_host;
    PinnedBuffer<Report> report;
    Event reported;
    bool is_reported = false;    // its copy has been enqueued for result()
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
