// Part of GPUCOORD, GPL-2.0. The CUDA backend of order parameters for host arrays: copies atoms,
// evaluates the function on the host, and communicates through the host on several ranks.
//
// Pairs are kept as long as the caller's version and the types are the same, and no atom has moved
// by half the skin.

#ifndef GPUCOORD_ORDER_CUDA_H
#define GPUCOORD_ORDER_CUDA_H

#include "../gpu/device_guard.h"
#include "../gpu/staging.h"
#include "../pairs/staged_atoms.h"

#include "gpucoord/atom_function.h"
#include "gpucoord/order_parameter.h"
#include "gpucoord/resident_order_parameter.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gpucoord {

class CudaOrder : public OrderParameter {
 public:
  struct Settings {
    bool is_global;    // S is one number of all atoms, not a sum over atoms
    bool has_types;    // the engine reads types
    AtomFunctionOptions function;
    Precision precision;
    int nthreads;
  };
  explicit CudaOrder(const Settings &);

  int exchange_columns() const override { return engine().exchange_columns(); }
  std::size_t bytes() const override;
  OrderResult evaluate(const OrderInput &, unsigned want, double *peratom,
                       const OrderNumbers &) override;
  void complete_exchanges(const OrderInput &, unsigned want) override;

 protected:
  virtual ResidentOrderParameter &engine() const = 0;
  // Throws std::invalid_argument if the order parameter does not support the input.
  virtual void check_input(const OrderInput &) const {}
  // Writes results in addition to v_i and f. Called between the evaluations of the engine.
  virtual void write_further(const AtomList &, const OrderNumbers &) {}

  int nlocal() const { return staged.atoms().nlocal; }    // number of copied owned atoms
  const int nthreads;
  const Stream stream;

 private:
  void find_pairs(const CellsInput &);
  DeviceExchange exchange_of(const OrderInput &);
  void forward(const OrderInput &);
  void reduce(const OrderInput &, double *numbers, int n, AtomFunction::Reduction);
  double evaluate_function(const OrderInput &, unsigned want, OrderResult &);
  void write(const AtomList &, const OrderNumbers &, unsigned want, double *peratom);

  const bool is_global;
  const bool has_unit;    // divide weights by a power of two, so that they fit a float
  AtomFunction function;
  StagedAtoms staged;
  std::int64_t npositions = 0;
  Staged<double> v, w;
  PinnedBuffer<double> sent;        // [copied atoms][exchange_columns()]
  std::vector<double> exchanged;    // [nall][exchange_columns()]
  std::vector<double> f, dSdv;      // [owned atoms of a]
  int nexchanged = 0;               // exchanges and reductions so far in this evaluation
};

// A backend whose object is constructed, used and destroyed with one GPU current (DeviceGuard).
// Interface: OrderParameter or an interface derived from it.
template <class Interface, class Backend = Interface> class GuardedOrder : public Interface {
 public:
  template <class Make> GuardedOrder(int device, const Make &make) : backend(device, make) {}
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

 protected:
  DeviceGuard<Backend> backend;
};

std::unique_ptr<OrderParameter>
make_guarded_order(int device, const std::function<std::unique_ptr<OrderParameter>()> &make);

}    // namespace gpucoord

#endif
