// Part of GPUCOORD, GPL-2.0. The base class of order parameters of resident atoms. It has the
// pairs, the rows of per-atom numbers and their exchange, sums over ranks, results, and outputs.
//
// Kernels write a row of numbers for each atom (partners_in_range.h). send() copies these rows to
// all points, where kernels look them up by the index of a partner. Kernels of this file: 256
// threads per block, one thread per number or per four numbers, no shared memory.

#ifndef GPUCOORD_RESIDENT_ORDER_CUH
#define GPUCOORD_RESIDENT_ORDER_CUH

#include "partners_in_range.h"

#include "../core/make_in_precision.h"
#include "../gpu/buffers.h"
#include "../gpu/staging.h"
#include "../pairs/add_to_peratom.h"
#include "../pairs/resident_pairs.h"
#include "../pairs/row_outputs.cuh"

#include "gpucoord/bytes_of.h"
#include "gpucoord/resident_order_parameter.h"
#include "gpucoord/switch_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace gpucoord {

namespace resident_order {

  constexpr int THREADS = 256;

  inline unsigned blocks_of(std::int64_t n)
  {
    return static_cast<unsigned>((n + THREADS - 1) / THREADS);
  }

  // A Scale is a function of the atom, the index of an element in its row, and the element.
  struct NoScale {
    template <class Real> __device__ Four<Real> operator()(std::int64_t, int, Four<Real> four) const
    {
      return four;
    }
  };

  // Scales rows in place. n: number of rows; fours: elements per row
  template <class Real, class Scale>
  __global__ void scale_rows(Four<Real> *rows, std::int64_t n, int fours,
                             const __grid_constant__ Scale scale)
  {
    const std::int64_t t = blockIdx.x * static_cast<std::int64_t>(THREADS) + threadIdx.x;
    if (t < n * fours) rows[t] = scale(t / fours, static_cast<int>(t % fours), rows[t]);
  }

  // Copies rows of atoms to rows of points: to[point] = scale(from[atom]), or 0 from point n_of_a
  // on. row_of: row of each point; null: the first n rows. owner: see DeviceExchange.
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

  // Copies rows of atoms to [n][columns] in double. list: [n] atoms; null: the first n atoms.
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

  // Results, valid on the host after a wait.
  struct Report {
    WarpSums total;
    double value;
    DeviceStatus status;
    int any_partners;
  };

  static __global__ void write_report(const WarpSums *total, const double *value,
                                      const DeviceStatus *status, int *any_partners, Report *report)
  {
    report->total = *total;
    report->value = *value;
    report->status = *status;
    report->any_partners = *any_partners;
    *any_partners = 0;
  }

}    // namespace resident_order

// A table whose functions only give the range of pairs. ntypes: each of the types 1 to ntypes has
// its own functions, which makes it a class; 0: types are ignored.
inline SwitchTable pairs_within(double range, int ntypes = 0)
{
  SwitchOptions options;
  options.kind = SwitchKind::CUBIC;
  options.dmax = range;
  if (ntypes == 0) return Switch(options);
  SwitchTable table(ntypes);
  for (int i = 1; i <= ntypes; ++i) {
    const int index = table.add(Switch(options));
    for (int j = 1; j <= i; ++j) table.set(i, j, index);
  }
  return table;
}

// Interface: ResidentOrderParameter or an interface derived from it.
//
// A derived class first calls begin() in evaluate_first(), and begin_second() in evaluate_second().
// Its force kernel writes to outputs(). If there are no rows, it calls no_forces() instead.
template <class Real, class Interface> class CudaResidentOrder : public Interface {
 public:
  // The GPU may still write the report.
  ~CudaResidentOrder() override { cudaEventSynchronize(reported); }

  void rebuild(const DeviceAtoms &atoms, const DeviceSelection &selection, std::int64_t version,
               DeviceStream stream) override
  {
    DeviceSelection chosen = selection;
    chosen.neighbors = {};
    chosen.is_evaluated_once = false;
    pairs->rebuild(atoms, chosen, version, stream);
    if (is_known(version)) return;
    known_version = 0;    // stays 0 if an exception is thrown
    nlocal = atoms.nlocal;
    nall = atoms.nall;
    numbers.reserve(static_cast<std::size_t>(stride) * nall);
    reserve_more();
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

  DeviceValue device_value() const override
  {
    return {value_of_all.data(), 1.0, pairs->points().status()};
  }
  void discard_errors(DeviceStream stream) override { pairs->points().clear_status(stream); }

  void enqueue_result(DeviceStream stream) override
  {
    resident_order::write_report<<<1, 1, 0, stream>>>(
        total.data(), value_of_all.data(), pairs->points().status(), any.data(), report.data());
    check(cudaGetLastError(), "launching write_report");
    reported.record(stream);
    is_reported = true;
    copied += sizeof(resident_order::Report);
  }
  Totals result(DeviceStream stream) override
  {
    if (!is_reported) enqueue_result(stream);
    reported.wait("computing order parameters");
    is_reported = false;    // the next call reads the status again
    Totals result;
    const resident_order::Report &found = report[0];
    result.value = found.value;
    if (wanted & VIRIAL) std::copy_n(found.total.virial, 6, result.virial);
    pairs->points().report(found.status, result, stream);
    return result;
  }
  bool any_partners() const override { return report[0].any_partners != 0; }

  void add_forces(const DeviceForces &forces, const ItemFactors &factors,
                  DeviceStream stream) override
  {
    if (!has_rows) return;
    RowGradients row_gradients = {rows()};
    if (gradients_in_float)
      row_gradients.gradients = gradients.data();
    else
      row_gradients.sums = sums.data();
    row_gradients.columns = peratom_columns(wanted);
    subtract_rows(row_gradients, pairs->groups_overlap(), forces, factors.factor(), stream);
  }

  void peratom(double *peratom, DeviceStream stream) override
  {
    add_peratom(peratom, nullptr, 1, stream);
  }
  // Adds one chunk of rows while the next one is being copied. With two groups, an atom in both
  // groups has one row per group.
  void add_peratom(double *peratom, const int *row_of_atom, int nthreads,
                   DeviceStream stream) override
  {
    const int columns = peratom_columns(wanted);
    if (!has_rows || columns == 0) return;
    const std::size_t n = rows().n, nvalue = rows().nvalue;
    rows_host.reserve(n * columns);
    const int *atom = nullptr;
    if (rows().atom) {
      atoms_host.reserve(n);
      copy(atoms_host.data(), rows().atom, n, stream);
      atom = atoms_host.data();
    }
    arrivals.fetch(sums.data(), n, columns, rows_host.data(), stream);
    copied += static_cast<std::int64_t>(n * columns * sizeof(double));
    const auto add = [&](std::size_t first, std::size_t last) {
      if (first < last)
        add_to_peratom(rows_host.data(), columns, first, last, atom, row_of_atom, nthreads,
                       peratom);
    };
    arrivals.for_each("computing order parameters", [&](std::size_t first, std::size_t last) {
      const std::size_t between = std::clamp(nvalue, first, last);
      add(first, between);
      add(between, last);
    });
  }

  int exchange_columns() const override { return columns_sent; }
  void pack(const int *list, int n, double *to, DeviceStream stream) override
  {
    pack_atoms(list, n, to, stream);
  }
  void unpack(const double *from, int n, int first, DeviceStream stream) override
  {
    if (n == 0) return;
    resident_order::unpack_rows<<<blocks_of(static_cast<std::int64_t>(n) * columns_sent),
                                  resident_order::THREADS, 0, stream>>>(from, n, first,
                                                                        columns_sent, stride, sent);
    check(cudaGetLastError(), "launching unpack_rows");
  }
  void get_numbers(double *to, DeviceStream stream) override
  {
    packed.reserve(static_cast<std::size_t>(columns_sent) * nall);
    pack_atoms(nullptr, nlocal, packed.data(), stream);
    copy(to, packed.data(), static_cast<std::size_t>(columns_sent) * nlocal, stream);
    wait(stream);
  }
  void set_numbers(const double *from, DeviceStream stream) override
  {
    const std::size_t first = static_cast<std::size_t>(columns_sent) * nlocal,
                      n = static_cast<std::size_t>(columns_sent) * (nall - nlocal);
    if (n == 0) return;
    packed.reserve(n);
    copy_to_device(packed.data(), from + first, n, stream);
    unpack(packed.data(), nall - nlocal, nlocal, stream);
    wait(stream);
  }

  // The weights of the atoms, before the forces.
  std::vector<DeviceExchange::Call> exchanges(unsigned want) const override
  {
    return std::vector<DeviceExchange::Call>(want & (DERIVATIVES | VIRIAL) ? 1 : 0);
  }
  std::size_t bytes() const override
  {
    return bytes_of(*pairs, number_in_range, points_in_range, numbers, point_numbers, sums,
                    gradients, block_sums, packed, sums_host, rows_host, atoms_host);
  }
  std::int64_t bytes_copied() const override { return copied + pairs->bytes_copied(); }

 protected:
  // table: its functions only give the ranges of pairs. columns: numbers per atom that are
  // exchanged.
  CudaResidentOrder(const SwitchTable &table, Precision precision, int columns) :
      columns_sent(columns), stride((columns + 3) / 4 * 4),
      pairs(std::make_shared<ResidentPairs>(table, precision, nullptr, Listing::ALWAYS))
  {
    report.reserve(1);
    block_sums.reserve(7 * tuning::MAX_KERNEL_BLOCKS);
    // Kernels write only the requested sums, but write_report() copies all sums.
    send_table(std::vector<WarpSums>(1), total);
    send_table(std::vector<unsigned>{0}, ended);
    send_table(std::vector<int>{0}, any);
    send_table(std::vector<double>{0.0}, value_of_all);
  }

  static unsigned blocks_of(std::int64_t n) { return resident_order::blocks_of(n); }

  // Returns whether the pairs are those of this version.
  bool is_known(std::int64_t version) const { return version != 0 && version == known_version; }
  // Called in a rebuild, to reserve further memory for nlocal and nall atoms.
  virtual void reserve_more() {}
  // Sets the numbers of atoms without rows. Kernels only write those of atoms with rows, so these
  // values remain until the next rebuild.
  virtual void set_others(double *v, cudaStream_t stream)
  {
    clear(numbers.data(), static_cast<std::size_t>(stride) * nall, stream);
    if (v) clear(v, nlocal, stream);
  }

  // Reads the positions of the points. Sets 'has_rows' and the members of arg.
  void begin(const DeviceAtoms &atoms, std::int64_t positions, double *v, PointRows &arg,
             cudaStream_t stream)
  {
    clear_errors();
    wanted = VALUE;
    is_reported = false;
    if (v != known_v || pairs->nrebuilds() != known_rebuild) {
      set_others(v, stream);
      known_v = v;
      known_rebuild = pairs->nrebuilds();
    }
    pairs->update(atoms, positions, stream);
    has_rows = !pairs->rows().empty();
    if (!has_rows) return;
    arg.rows = rows();
    arg.points = pairs->points().data();
    arg.unit = pairs->points().unit();
    arg.per_unit = 1.0 / arg.unit;
  }
  // Like begin() above, and also reserves memory for the partners in range.
  void begin(const DeviceAtoms &atoms, std::int64_t positions, double *v, PartnerRows<Real> &arg,
             cudaStream_t stream)
  {
    begin(atoms, positions, v, static_cast<PointRows &>(arg), stream);
    if (!has_rows) return;
    const std::size_t rows_per_tile = 32 / arg.rows.lanes,
                      ntiles = (arg.rows.n + rows_per_tile - 1) / rows_per_tile;
    number_in_range.reserve(32 * ntiles);
    points_in_range.reserve(pairs->nelements());
    arg.partners.count = number_in_range.data();
    arg.partners.point = points_in_range.data();
  }

  void begin_second(const Request &request)
  {
    wanted = request.want;
    is_reported = false;
  }

  const DeviceRows &rows() const { return pairs->rows().front().view; }

  // Copies the rows of atoms to all points, after the exchange.
  template <class Scale = resident_order::NoScale>
  void send(DeviceBuffer<Real> &from, const DeviceExchange &exchange, DeviceBuffer<Real> &to,
            cudaStream_t stream, const Scale &scale = {})
  {
    sent = from.data();
    if (!exchange.owner && exchange.forward) exchange.forward();
    const Points &points = pairs->points();
    to.reserve(static_cast<std::size_t>(stride) * points.size());
    if (points.size() == 0) return;
    const int fours = stride / 4;
    resident_order::copy_rows<<<blocks_of(static_cast<std::int64_t>(points.size()) * fours),
                                resident_order::THREADS, 0, stream>>>(
        reinterpret_cast<const Four<Real> *>(from.data()), fours, points.row_of(), exchange.owner,
        pairs->npoints_of_a(), points.size(), scale, reinterpret_cast<Four<Real> *>(to.data()));
    check(cudaGetLastError(), "launching copy_rows");
  }

  // Like send(), with scaled rows. On one rank, only the rows of points are scaled.
  template <class Scale>
  void send_scaled(DeviceBuffer<Real> &from, const Scale &scale, const DeviceExchange &exchange,
                   DeviceBuffer<Real> &to, cudaStream_t stream)
  {
    if (exchange.owner) return send(from, exchange, to, stream, scale);
    const int fours = stride / 4;
    if (nlocal > 0)
      resident_order::scale_rows<<<blocks_of(static_cast<std::int64_t>(nlocal) * fours),
                                   resident_order::THREADS, 0, stream>>>(
          reinterpret_cast<Four<Real> *>(from.data()), nlocal, fours, scale);
    check(cudaGetLastError(), "launching scale_rows");
    send(from, exchange, to, stream);
  }

  // Sums n numbers in device memory over all ranks. Waits if there are several ranks.
  void add_ranks(double *to_add, int n, const DeviceExchange &exchange, cudaStream_t stream)
  {
    if (!exchange.reduce) return;
    sums_host.reserve(n);
    copy(sums_host.data(), to_add, n, stream);
    wait(stream);
    exchange.reduce(sums_host.data(), n, AtomFunction::Reduction::SUM);
    copy_to_device(to_add, sums_host.data(), n, stream);
  }

  // Returns the outputs of the force kernel. Its sums are multiplied by unit.
  RowArguments outputs(const Request &request, double unit)
  {
    const int columns = peratom_columns(wanted), n = rows().n;
    const bool fits_float = std::fabs(std::log2(unit)) < 60.0;    // then gradients fit a float, too
    gradients_in_float = request.for_forces_only && fits_float &&
        std::is_same<Real, float>::value && columns == peratom_columns(DERIVATIVES);
    RowArguments out = {};
    out.rows = rows();
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
    return out;
  }
  // Sets the members of the arguments of the force kernel about its outputs.
  template <class Forces> void set_outputs(const Request &request, double unit, Forces &forces)
  {
    forces.out = outputs(request, unit);
    forces.has_two_groups = pairs->has_two_groups();
    forces.columns = peratom_columns(wanted);
  }
  void no_forces(cudaStream_t stream) { clear(total.data(), 1, stream); }
  // Returns the template argument WANT of the force kernel.
  unsigned want_of_forces() const { return wanted & VIRIAL ? wanted | DERIVATIVES : wanted; }

  template <class T> static void clear(T *numbers_to_clear, std::size_t n, cudaStream_t stream)
  {
    if (n > 0)
      check(cudaMemsetAsync(numbers_to_clear, 0, n * sizeof(T), stream), "clearing numbers");
  }
  template <class T> void copy(T *to, const T *from, std::size_t n, cudaStream_t stream)
  {
    if (n == 0) return;
    copied += static_cast<std::int64_t>(n * sizeof(T));
    check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToHost, stream),
          "copying data to the host");
  }
  template <class T> void copy_to_device(T *to, const T *from, std::size_t n, cudaStream_t stream)
  {
    copied += static_cast<std::int64_t>(n * sizeof(T));
    check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyHostToDevice, stream),
          "copying data to the GPU");
  }
  static void wait(cudaStream_t stream)
  {
    check(cudaStreamSynchronize(stream), "computing order parameters");
  }

  const int columns_sent, stride;    // numbers per atom that are exchanged; length of a row
  const std::shared_ptr<ResidentPairs> pairs;
  unsigned wanted = VALUE;
  bool has_rows = false;
  int nlocal = 0, nall = 0;
  DeviceBuffer<Real> numbers, point_numbers;    // [nall][stride] by atom; [points][stride] by point
  DeviceBuffer<WarpSums> total;                 // value and virial
  DeviceBuffer<double> value_of_all;            // S, if it is one number of all atoms
  DeviceBuffer<int> any;    // 1 if an atom has had partners since the last report

 private:
  void pack_atoms(const int *list, std::int64_t n, double *to, cudaStream_t stream)
  {
    if (n == 0) return;
    resident_order::pack_rows<<<blocks_of(n * columns_sent), resident_order::THREADS, 0, stream>>>(
        sent, stride, list, n, columns_sent, to);
    check(cudaGetLastError(), "launching pack_rows");
  }

  std::int64_t known_version = 0, copied = 0;
  Real *sent = nullptr;    // numbers of the current exchange
  // Arguments of the last set_others().
  double *known_v = nullptr;
  std::int64_t known_rebuild = 0;    // ResidentPairs::nrebuilds()
  bool gradients_in_float = false;
  DeviceBuffer<int> number_in_range;
  DeviceBuffer<int4> points_in_range;
  DeviceBuffer<double> sums, block_sums;
  DeviceBuffer<double> packed;      // numbers of ghost atoms, from or for the host
  DeviceBuffer<float> gradients;    // [3][rows]
  DeviceBuffer<unsigned> ended;
  PinnedBuffer<double> sums_host, rows_host;
  PinnedBuffer<int> atoms_host;
  Arrivals arrivals;
  PinnedBuffer<resident_order::Report> report;
  Event reported;
  bool is_reported = false;    // the copy of the report for result() has been enqueued
};

}    // namespace gpucoord

#endif
