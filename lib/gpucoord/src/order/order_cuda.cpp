// Part of GPUCOORD, GPL-2.0. The CUDA backend of order parameters for host arrays.
//
// Pairs are kept as long as the caller's version and the types are the same, and no atom has moved
// by half the skin.

#include "order_cuda.h"

#include "order_values.h"

#include "../core/clock.h"
#include "../gpu/device_guard.h"
#include "../gpu/staging.h"
#include "../pairs/staged_atoms.h"
#include "../pairs/weights_host.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpucoord {

namespace {

  class CudaOrder : public OrderParameter {
   public:
    CudaOrder(OrderOnCuda, int nthreads);

    int exchange_columns() const override { return engine->exchange_columns(); }
    std::size_t bytes() const override;
    std::vector<double> global_vector() const override { return engine->global_vector(); }
    OrderResult evaluate(const OrderInput &, unsigned want, double *peratom,
                         const OrderNumbers &) override;
    void complete_exchanges(const OrderInput &, unsigned want) override;

   private:
    int nlocal() const { return staged.atoms().nlocal; }    // number of copied owned atoms
    void find_pairs(const CellsInput &);
    DeviceExchange exchange_of(const OrderInput &);
    void forward(const OrderInput &);
    void reduce(const OrderInput &, double *values, int n, AtomFunction::Reduction);
    double evaluate_function(const OrderInput &, unsigned want, OrderResult &);
    void write(const AtomList &, const OrderNumbers &, unsigned want, double *peratom);

    OrderOnCuda order;
    const int nthreads;
    const Stream stream;
    const bool is_global;
    const bool has_unit;    // divide weights by a power of two, so that they fit a float
    AtomFunction function;
    StagedAtoms staged;
    std::int64_t npositions = 0;
    Staged<double> v, w;
    PinnedBuffer<double> sent;        // [copied atoms][exchange_columns()]
    std::vector<double> exchanged;    // [nall][exchange_columns()]
    std::vector<double> f, dSdv;      // [owned atoms of a]
    std::vector<double> further;      // see OrderOnCuda::Evaluated::memory
    int nexchanged = 0;               // exchanges and reductions so far in this evaluation
    const std::unique_ptr<ResidentOrderParameter> engine;
  };

  // The object is constructed, used and destroyed with one GPU current.
  class GuardedOrder : public OrderParameter {
   public:
    GuardedOrder(OrderOnCuda order, int device, int nthreads) :
        backend(device, [&] {
          return std::make_unique<CudaOrder>(std::move(order), nthreads);
        })
    {
    }
    OrderResult evaluate(const OrderInput &in, unsigned want, double *peratom,
                         const OrderNumbers &numbers) override
    {
      return backend.enter().evaluate(in, want, peratom, numbers);
    }
    void complete_exchanges(const OrderInput &in, unsigned want) override
    {
      backend->complete_exchanges(in, want);
    }
    int exchange_columns() const override { return backend->exchange_columns(); }
    std::size_t bytes() const override { return backend->bytes(); }
    std::vector<double> global_vector() const override { return backend->global_vector(); }

   private:
    DeviceGuard<CudaOrder> backend;
  };

}    // namespace

CudaOrder::CudaOrder(OrderOnCuda order_in, int nthreads_in) :
    order(std::move(order_in)), nthreads(std::max(1, nthreads_in)), is_global(order.is_global),
    has_unit(order.precision != Precision::DOUBLE), function(order.function),
    staged(order.has_types, nthreads), engine(order.make())
{
  order.make = nullptr;    // frees its copies of options and tables
}

std::size_t CudaOrder::bytes() const
{
  return bytes_of(staged, v, w, sent, exchanged, f, dSdv, further) + engine->bytes();
}

OrderResult CudaOrder::evaluate(const OrderInput &in, unsigned want, double *peratom,
                                const OrderNumbers &numbers)
{
  nexchanged = 0;
  if (order.check_input) order.check_input(in);
  if (!(want & DERIVATIVES)) peratom = nullptr;
  OrderResult result;
  const double start = seconds();
  find_pairs(in.cells);
  const double found = seconds();
  const DeviceExchange exchange = exchange_of(in);
  DeviceAtoms atoms = staged.atoms();
  atoms.volume = in.volume;
  v.reserve(atoms.nlocal);
  engine->evaluate_first(atoms, npositions, exchange, v.device.data(), stream);
  if (atoms.nlocal > 0)
    check(cudaMemcpyAsync(v.pinned.data(), v.device.data(), atoms.nlocal * sizeof(double),
                          cudaMemcpyDeviceToHost, stream),
          "copying data to the host");
  const Totals first = engine->result(stream);
  check(cudaStreamSynchronize(stream), "computing order parameters");
  result.natoms_with_partners = engine->any_partners() ? 1 : 0;
  double unit = 1.0;
  if (is_global)
    result.value = first.value;
  else
    unit = evaluate_function(in, want, result);
  write(in.cells.a, numbers, want, peratom);
  if (order.write_further)
    order.write_further({*engine, nlocal(), nthreads, stream, further}, in.cells.a, numbers);
  if (want & (DERIVATIVES | VIRIAL)) {
    engine->evaluate_second({want}, w.device.data(), unit, exchange, stream);
    std::copy_n(engine->result(stream).virial, 6, result.virial);
    if (peratom) engine->add_peratom(peratom, staged.rows().data(), nthreads, stream);
  }
  staged.keep(in.cells);
  result.timings.bins = found - start;
  result.timings.pairs = seconds() - found;
  nexchanged = 0;
  return result;
}

void CudaOrder::complete_exchanges(const OrderInput &in, unsigned want)
{
  int nexchange = 0;
  std::vector<double> zeros;
  const auto reduce_zeros = [&](double *values, int n, AtomFunction::Reduction by) {
    if (nexchange++ >= nexchanged) in.exchange.reduce(values, n, by);
  };
  const auto make = [&](const DeviceExchange::Call &call) {
    if (call.kind == DeviceExchange::Kind::REDUCE) {
      zeros.assign(call.n, 0.0);
      reduce_zeros(zeros.data(), call.n, AtomFunction::Reduction::SUM);
    } else if (nexchange++ >= nexchanged) {
      zeros.assign(static_cast<std::size_t>(exchange_columns()) * in.nall, 0.0);
      in.exchange.forward(zeros.data(), exchange_columns());
    }
  };
  const auto calls = engine->exchanges(want);
  const std::size_t before_function = engine->exchanges(VALUE).size();
  for (std::size_t k = 0; k < before_function; ++k) make(calls[k]);
  if (!is_global) {
    function.evaluate(0, nullptr, nullptr, nullptr, reduce_zeros, 1);
    double largest = 0.0;
    if (has_unit && want & (DERIVATIVES | VIRIAL))
      reduce_zeros(&largest, 1, AtomFunction::Reduction::MAX);
  }
  for (std::size_t k = before_function; k < calls.size(); ++k) make(calls[k]);
  nexchanged = 0;
}

// Copies positions, and rebuilds the pairs if those of the last evaluation are not valid. Waits for
// the check of atom moves: the evaluation cannot be repeated later, because other ranks take part
// in its exchanges.
void CudaOrder::find_pairs(const CellsInput &in)
{
  const bool has_pairs = staged.update(in, stream);
  ++npositions;
  if (has_pairs) {
    engine->read_positions(staged.atoms(), npositions, stream);
    if (!engine->result(stream).moved) return;
  }
  const DeviceSelection selection = staged.prepare(in, stream);
  engine->rebuild(staged.atoms(), selection, 0, stream);
  ++npositions;
}

DeviceExchange CudaOrder::exchange_of(const OrderInput &in)
{
  DeviceExchange exchange;
  const bool is_alone = in.exchange.owner;    // only one rank
  if (is_alone) exchange.owner = staged.owners(in.exchange.owner, stream);
  exchange.forward = [this, &in] {
    forward(in);
  };
  if (!is_alone)
    exchange.reduce = [this, &in](double *values, int n, AtomFunction::Reduction by) {
      reduce(in, values, n, by);
    };
  return exchange;
}

// The caller's rows are rows of x. The engine has copies of some of these atoms.
void CudaOrder::forward(const OrderInput &in)
{
  const std::size_t columns = exchange_columns();
  const std::vector<int> &rows = staged.rows();
  const int n = static_cast<int>(rows.size());
  sent.reserve(columns * n);
  engine->get_numbers(sent.data(), stream);
  exchanged.assign(columns * in.nall, 0.0);
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 1024)
  for (int k = 0; k < nlocal(); ++k)
    std::copy_n(sent.data() + columns * k, columns, exchanged.data() + columns * rows[k]);
  in.exchange.forward(exchanged.data(), static_cast<int>(columns));
  ++nexchanged;
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 1024)
  for (int k = nlocal(); k < n; ++k)
    std::copy_n(exchanged.data() + columns * rows[k], columns, sent.data() + columns * k);
  engine->set_numbers(sent.data(), stream);
}

void CudaOrder::reduce(const OrderInput &in, double *values, int n, AtomFunction::Reduction by)
{
  in.exchange.reduce(values, n, by);
  ++nexchanged;
}

// Evaluates f and, if requested, enqueues the copy of dS/dv. Returns the unit of these weights.
double CudaOrder::evaluate_function(const OrderInput &in, unsigned want, OrderResult &result)
{
  const int n = in.cells.a.nowned;
  f.resize(n);
  dSdv.resize(n);
  const auto reduce_all = [&](double *values, int count, AtomFunction::Reduction by) {
    reduce(in, values, count, by);
  };
  const auto sum = function.evaluate(n, v.pinned.data(), f.data(), dSdv.data(), reduce_all,
                                     nthreads, in.weights);
  result.value = sum.value;
  if (sum.bad >= 0) set_bad(in.cells.a, v.pinned.data(), f.data(), dSdv.data(), result);
  double unit = 1.0;
  if (!(want & (DERIVATIVES | VIRIAL))) return unit;
  if (has_unit) {    // all ranks use the same unit, because they exchange numbers in it
    double largest = unit_of(dSdv.data(), n, nthreads);
    reduce_all(&largest, 1, AtomFunction::Reduction::MAX);
    if (largest > 0.0 && std::isfinite(largest)) unit = largest;
  }
  send(w, nlocal(), stream, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
      w.pinned[k] = k < static_cast<std::size_t>(n) ? dSdv[k] / unit : 0.0;
  });
  return unit;
}

void CudaOrder::write(const AtomList &a, const OrderNumbers &numbers, unsigned want,
                      double *peratom)
{
  const int columns = peratom_columns(want);
#pragma omp parallel for schedule(static) num_threads(nthreads) if (a.nowned > 1024)
  for (int k = 0; k < a.nowned; ++k) {
    const int row = a.index[k];
    if (peratom) peratom[columns * static_cast<std::size_t>(row)] += v.pinned[k];
    if (numbers.order) numbers.order[row] = v.pinned[k];
    if (numbers.f) numbers.f[row] = is_global ? v.pinned[k] : f[k];
  }
}

std::unique_ptr<OrderParameter> make_order_on_cuda(OrderOnCuda order, int device, int nthreads)
{
  return std::make_unique<GuardedOrder>(std::move(order), device, nthreads);
}

}    // namespace gpucoord
