// Part of GPUCOORD, GPL-2.0. Options of the bond-orientational order parameter, and its CUDA
// backend for host arrays.

#include "gpucoord/orient_order.h"

#include "../order_cuda.h"
#include "orient_order_options.h"
#include "wigner.h"

#include "../../pairs/passes.h"

#include <cstddef>
#include <vector>

namespace gpucoord {

void check_options(const OrientOrderOptions &options)
{
  if (options.l < MIN_L || options.l > MAX_L)
    throw OrientOrderError("l",
                           "l is " + std::to_string(options.l) + " but must be " +
                               std::to_string(MIN_L) + " to " + std::to_string(MAX_L));
  if (options.order == OrderKind::CONNECTIONS) try {
      make_endless_switch(options.connection);
    } catch (const SwitchError &e) {
      throw OrientOrderError(e.field, e.what());
    }
  const AtomFunction function(options.function);
  if (options.order == OrderKind::GLOBAL && options.function.kind != AtomFunctionKind::SUM)
    throw OrientOrderError("function",
                           "order global has one value for all atoms, but function " +
                               function.description() +
                               " needs one for each atom - use order local");
}

std::string description(const OrientOrderOptions &options)
{
  static const char *const orders[] = {"local", "average", "dot", "connections", "global"};
  std::string text =
      "q" + std::to_string(options.l) + " " + orders[static_cast<int>(options.order)];
  if (options.order == OrderKind::CONNECTIONS)
    text += " " + make_endless_switch(options.connection).description();
  return text;
}

void check_groups(const OrientOrderOptions &options, const OrderInput &in)
{
  if (in.cells.b.index && options.order != OrderKind::LOCAL && options.order != OrderKind::GLOBAL)
    throw std::invalid_argument("order average, dot and connections need q of all partners: two "
                                "groups are only supported by order local and global");
}

void make_missing_exchanges(int nexchanged, const OrientOrderOptions &options,
                            AtomFunction &function, const OrderInput &in, unsigned want,
                            const OrderExchanges &exchanges)
{
  std::vector<double> zeros;
  int nexchange = 0;
  const auto forward = [&](int ncolumns) {
    if (nexchange++ < nexchanged) return;
    zeros.assign(static_cast<std::size_t>(in.nall) * ncolumns, 0.0);
    in.exchange.forward(zeros.data(), ncolumns);
  };
  const auto reduce = [&](double *values, int n, AtomFunction::Reduction by) {
    if (nexchange++ >= nexchanged) in.exchange.reduce(values, n, by);
  };
  const bool has_second = want & (DERIVATIVES | VIRIAL);
  if (options.order == OrderKind::GLOBAL) {
    zeros.assign(2 * options.l + 2, 0.0);
    reduce(zeros.data(), 2 * options.l + 2, AtomFunction::Reduction::SUM);
    return;
  }
  if (uses_q_of_partners(options.order)) forward(exchanges.columns[0]);
  function.evaluate(0, nullptr, nullptr, nullptr, reduce, 1);
  if (!has_second) return;
  double largest = 0.0;
  if (exchanges.reduces_unit) reduce(&largest, 1, AtomFunction::Reduction::MAX);
  if (uses_q_of_partners(options.order)) forward(exchanges.columns[1]);
  forward(exchanges.columns[2]);
}

void set_w_hat(int l, const double *q, std::int64_t n, double smallest, double *w_hat, int nthreads)
{
  const Wigner wigner(l);
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 1024)
  for (std::int64_t i = 0; i < n; ++i) w_hat[i] = wigner.w_hat(q + (2 * l + 1) * i, smallest);
}

std::unique_ptr<OrderParameter> make_cuda_orient_order(const SwitchTable &table,
                                                       const OrientOrderOptions &options,
                                                       Precision precision, int device,
                                                       int nthreads)
{
  check_options(options);
  need_end(table, "cells");
  const auto write_w_hat = [=](const OrderOnCuda::Evaluated &evaluated, const AtomList &a,
                               const OrderNumbers &numbers) {
    if (!numbers.w_hat) return;
    // The harmonics, then W_hat.
    const std::size_t nharmonics = (2 * options.l + 1) * static_cast<std::size_t>(evaluated.nlocal);
    evaluated.memory.resize(nharmonics + a.nowned);
    double *const harmonics = evaluated.memory.data(), *const w_hat = harmonics + nharmonics;
    static_cast<ResidentOrientOrder &>(evaluated.engine)
        .copy_harmonics(harmonics, evaluated.stream);
    set_w_hat(options.l, harmonics, a.nowned, smallest_norm(precision), w_hat, evaluated.nthreads);
    for (int k = 0; k < a.nowned; ++k) numbers.w_hat[a.index[k]] = w_hat[k];
  };
  return make_cuda_order({[=] {
                            return make_resident_orient_order(table, options, precision);
                          },
                          precision, options.function, options.order == OrderKind::GLOBAL,
                          table.ntypes() > 0,
                          [=](const OrderInput &in) {
                            check_groups(options, in);
                          },
                          write_w_hat},
                         device, nthreads);
}

}    // namespace gpucoord
