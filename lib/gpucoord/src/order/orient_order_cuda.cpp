// Part of GPUCOORD, GPL-2.0. The CUDA backend of order parameters for host arrays: copies atoms,
// evaluates the function on the host, and communicates through the host on several ranks.
//
// Pairs are kept as long as the caller's version is the same, types are the same, and no atom has
// moved by half the skin.

#include "gpucoord/orient_order.h"
#include "gpucoord/resident_orient_order.h"

#include "orient_order_options.h"

#include "../core/clock.h"
#include "../gpu/device_guard.h"
#include "../gpu/staging.h"
#include "../pairs/passes.h"
#include "../pairs/staged_atoms.h"
#include "../pairs/weights_host.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace gpucoord {

namespace {

  class CudaOrientOrder : public OrderParameter {
   public:
    CudaOrientOrder(const SwitchTable &table, const OrientOrderOptions &options_in,
                    Precision precision, int nthreads_in) :
        options(options_in),
        is_global(options.order == OrderKind::GLOBAL), has_unit(precision != Precision::DOUBLE),
        nthreads(std::max(1, nthreads_in)), floor(smallest_norm(precision)),
        function(options.function), engine(make_resident_orient_order(table, options, precision)),
        staged(table.ntypes() > 0, nthreads)
    {
    }

    int exchange_columns() const override { return engine->exchange_columns(); }
    std::size_t bytes() const override
    {
      return sizeof(double) *
          (exchanged.capacity() + f.capacity() + slope.capacity() + harmonics.capacity() +
           rows_of_sums.capacity());
    }

    OrderResult evaluate(const OrderInput &in, unsigned want, double *peratom,
                         const OrderNumbers &numbers) override
    {
      check_groups(options, in);
      if (!(want & DERIVATIVES)) peratom = nullptr;
      OrderResult result;
      const double start = seconds();
      find_pairs(in.cells);
      const double found = seconds();
      const DeviceExchange exchange = exchange_of(in);
      const DeviceAtoms &atoms = staged.atoms();
      v.reserve(atoms.nlocal);
      engine->evaluate_first(atoms, npositions, exchange, v.device.data(), stream);
      if (atoms.nlocal > 0)
        check(cudaMemcpyAsync(v.pinned.data(), v.device.data(), atoms.nlocal * sizeof(double),
                              cudaMemcpyDeviceToHost, stream),
              "copying from it");
      const Totals first = engine->result(stream);
      check(cudaStreamSynchronize(stream), "computing order parameters");
      result.natoms_with_partners = engine->any_partners() ? 1 : 0;
      double unit = 1.0;
      if (is_global)
        result.value = first.value;
      else
        unit = evaluate_function(in, want, result);
      write(in.cells.a, numbers, want, peratom);
      if (want & (DERIVATIVES | VIRIAL)) {
        engine->evaluate_second({want}, w.device.data(), unit, exchange, stream);
        std::copy_n(engine->result(stream).virial, 6, result.virial);
        if (peratom) add_derivatives(want, peratom);
      }
      staged.keep(in.cells);
      result.timings.bins = found - start;
      result.timings.pairs = seconds() - found;
      nmade = 0;
      return result;
    }

    void take_part(const OrderInput &in, unsigned want) override
    {
      const int columns = exchange_columns();
      make_missing_exchanges(nmade, options, function, in, want,
                             {{columns, columns, columns}, has_unit});
      nmade = 0;
    }

   private:
    // Copies positions, and finds pairs where those of the last evaluation are not valid. Waits:
    // the evaluation cannot be repeated later, because other ranks take part in its exchanges.
    void find_pairs(const CellsInput &in)
    {
      const bool has_pairs = staged.update(in, stream);
      ++npositions;
      if (has_pairs) {
        engine->read_positions(staged.atoms(), npositions, stream);
        if (!engine->result(stream).moved) return;
      }
      engine->rebuild(staged.atoms(), staged.prepare(in, stream), 0, stream);
      ++npositions;
    }

    DeviceExchange exchange_of(const OrderInput &in)
    {
      DeviceExchange exchange;
      if (in.exchange.owner) exchange.owner = staged.owners(in.exchange.owner, stream);
      exchange.forward = [this, &in] {
        forward(in);
      };
      exchange.reduce = [this, &in](double *numbers, int n, AtomFunction::Reduction by) {
        reduce(in, numbers, n, by);
      };
      return exchange;
    }

    // Rows of the caller are rows of x. Only some of them are copied.
    void forward(const OrderInput &in)
    {
      const std::size_t columns = exchange_columns();
      const std::vector<int> &rows = staged.rows();
      const int n = static_cast<int>(rows.size()), nlocal = staged.atoms().nlocal;
      sent.reserve(columns * n);
      engine->get_numbers(sent.data(), stream);
      exchanged.assign(columns * in.nall, 0.0);
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 1024)
      for (int k = 0; k < nlocal; ++k)
        std::copy_n(sent.data() + columns * k, columns, exchanged.data() + columns * rows[k]);
      in.exchange.forward(exchanged.data(), static_cast<int>(columns));
      ++nmade;
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 1024)
      for (int k = nlocal; k < n; ++k)
        std::copy_n(exchanged.data() + columns * rows[k], columns, sent.data() + columns * k);
      engine->set_numbers(sent.data(), stream);
    }

    void reduce(const OrderInput &in, double *numbers, int n, AtomFunction::Reduction by)
    {
      in.exchange.reduce(numbers, n, by);
      ++nmade;
    }

    // Evaluates f, and enqueues the copy of dS/dv, if it is wanted. Returns the unit of these
    // weights.
    double evaluate_function(const OrderInput &in, unsigned want, OrderResult &result)
    {
      const int n = in.cells.a.nowned, nlocal = staged.atoms().nlocal;
      f.resize(n);
      slope.resize(n);
      const auto reduce_all = [&](double *numbers, int count, AtomFunction::Reduction by) {
        reduce(in, numbers, count, by);
      };
      const auto sum =
          function.evaluate(n, v.pinned.data(), f.data(), slope.data(), reduce_all, nthreads);
      result.value = sum.value;
      if (sum.bad >= 0) set_bad(in.cells.a, v.pinned.data(), f.data(), slope.data(), result);
      double unit = 1.0;
      if (!(want & (DERIVATIVES | VIRIAL))) return unit;
      if (has_unit) {    // the same on all ranks, which exchange numbers in it
        double largest = unit_of(slope.data(), n, nthreads);
        reduce_all(&largest, 1, AtomFunction::Reduction::MAX);
        if (largest > 0.0 && std::isfinite(largest)) unit = largest;
      }
      send(w, nlocal, stream, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k)
          w.pinned[k] = k < static_cast<std::size_t>(n) ? slope[k] / unit : 0.0;
      });
      return unit;
    }

    void write(const AtomList &a, const OrderNumbers &numbers, unsigned want, double *peratom)
    {
      const int columns = peratom_columns(want), size = 2 * options.l + 1;
      std::vector<double> of_atoms;
      if (numbers.w_hat) {
        harmonics.resize(static_cast<std::size_t>(size) * staged.atoms().nlocal);
        of_atoms.resize(a.nowned);
        engine->copy_harmonics(harmonics.data(), stream);
        set_w_hat(options.l, harmonics.data(), a.nowned, floor, of_atoms.data(), nthreads);
      }
#pragma omp parallel for schedule(static) num_threads(nthreads) if (a.nowned > 1024)
      for (int k = 0; k < a.nowned; ++k) {
        const int row = a.index[k];
        if (peratom) peratom[columns * static_cast<std::size_t>(row)] += v.pinned[k];
        if (numbers.order) numbers.order[row] = v.pinned[k];
        if (numbers.f) numbers.f[row] = is_global ? v.pinned[k] : f[k];
        if (numbers.w_hat) numbers.w_hat[row] = of_atoms[k];
      }
    }

    // Adds the columns behind the first one, which write() has added.
    void add_derivatives(unsigned want, double *peratom)
    {
      const int columns = peratom_columns(want), nlocal = staged.atoms().nlocal;
      const std::vector<int> &rows = staged.rows();
      rows_of_sums.assign(static_cast<std::size_t>(columns) * nlocal, 0.0);
      engine->peratom(rows_of_sums.data(), stream);
#pragma omp parallel for schedule(static) num_threads(nthreads) if (nlocal > 1024)
      for (int k = 0; k < nlocal; ++k)
        for (int c = 1; c < columns; ++c)
          peratom[columns * static_cast<std::size_t>(rows[k]) + c] +=
              rows_of_sums[columns * static_cast<std::size_t>(k) + c];
    }

    const OrientOrderOptions options;
    const bool is_global;
    const bool has_unit;    // weights are divided by a power of two, so that they fit a float
    const int nthreads;
    const double floor;
    AtomFunction function;
    Stream stream;
    const std::unique_ptr<ResidentOrientOrder> engine;
    StagedAtoms staged;
    std::int64_t npositions = 0;
    Staged<double> v, w;
    PinnedBuffer<double> sent;           // [copied atoms][exchange_columns()]
    std::vector<double> exchanged;       // [nall][exchange_columns()]
    std::vector<double> f, slope;        // [owned atoms of a]
    std::vector<double> harmonics;       // [copied owned atoms][2 l + 1]
    std::vector<double> rows_of_sums;    // [copied owned atoms][columns]
    int nmade = 0;    // number of exchanges and sums over ranks that an evaluation has made
  };

  class GuardedOrientOrder : public OrderParameter {
   public:
    GuardedOrientOrder(const SwitchTable &table, const OrientOrderOptions &options,
                       Precision precision, int device, int nthreads) :
        backend(device, [&] {
          return std::make_unique<CudaOrientOrder>(table, options, precision, nthreads);
        })
    {
    }
    OrderResult evaluate(const OrderInput &in, unsigned want, double *peratom,
                         const OrderNumbers &numbers) override
    {
      return backend.enter().evaluate(in, want, peratom, numbers);
    }
    void take_part(const OrderInput &in, unsigned want) override { backend->take_part(in, want); }
    int exchange_columns() const override { return backend->exchange_columns(); }
    std::size_t bytes() const override { return backend->bytes(); }

   private:
    DeviceGuard<CudaOrientOrder> backend;
  };

}    // namespace

std::unique_ptr<OrderParameter> make_cuda_orient_order(const SwitchTable &table,
                                                       const OrientOrderOptions &options,
                                                       Precision precision, int device,
                                                       int nthreads)
{
  check_options(options);
  need_end(table, "cells");
  return std::make_unique<GuardedOrientOrder>(table, options, precision, device, nthreads);
}

}    // namespace gpucoord
