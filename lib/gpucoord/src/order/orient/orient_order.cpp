// Part of GPUCOORD, GPL-2.0. Options of the bond-orientational order parameter, and its CUDA
// backend for host arrays.

#include "gpucoord/orient_order.h"

#include "../order_cuda.h"
#include "orient_order_options.h"
#include "wigner.h"

#include "../../pairs/passes.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace gpucoord {

void check_options(const OrientOrderOptions &options)
{
  if (options.l < MIN_L || options.l > MAX_L)
    throw OptionError("l",
                      "l is " + std::to_string(options.l) + " but must be " +
                          std::to_string(MIN_L) + " to " + std::to_string(MAX_L));
  if (options.order == OrderKind::CONNECTIONS) try {
      make_endless_switch(options.connection);
    } catch (const SwitchError &e) {
      throw OptionError(e.field, e.what());
    }
  const AtomFunction function(options.function);
  if (options.order == OrderKind::GLOBAL && options.function.kind != AtomFunctionKind::SUM)
    throw OptionError("function",
                      "order global has one value for all atoms, but function " +
                          function.description() + " needs one for each atom - use order local");
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

void set_w_hat(int l, const double *q, std::int64_t n, double smallest, double *w_hat, int nthreads)
{
  const Wigner wigner(l);
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 1024)
  for (std::int64_t i = 0; i < n; ++i) w_hat[i] = wigner.w_hat(q + (2 * l + 1) * i, smallest);
}

std::unique_ptr<OrderParameter> make_cuda_order(const OrientOrderOptions &options,
                                                Precision precision, int device, int nthreads)
{
  check_options(options);
  need_end(options.table, "cells");
  OrderOnCuda order = {[=] {
                         return make_resident_order(options, precision);
                       },
                       precision, options.function};
  order.check_input = [=](const OrderInput &in) {
    check_groups(options, in);
  };
  order.has_types = options.table.ntypes() > 0;
  order.is_global = options.order == OrderKind::GLOBAL;
  order.write_further = [=](const OrderOnCuda::Evaluated &evaluated, const AtomList &a,
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
  return make_order_on_cuda(std::move(order), device, nthreads);
}

}    // namespace gpucoord
