// Part of GPUCOORD, GPL-2.0. The CUDA backend of order parameters for host arrays: copies atoms,
// evaluates the function on the host, and communicates through the host on several ranks. Also for
// the host compiler, and without CUDA.

#ifndef GPUCOORD_ORDER_CUDA_H
#define GPUCOORD_ORDER_CUDA_H

#include "gpucoord/atom_function.h"
#include "gpucoord/order_parameter.h"
#include "gpucoord/resident_order_parameter.h"
#include "gpucoord/types.h"

#include <functional>
#include <memory>
#include <vector>

namespace gpucoord {

// What the backend needs to know of an order parameter.
struct OrderOnCuda {
  // Makes the engine on the current GPU.
  std::function<std::unique_ptr<ResidentOrderParameter>()> make;
  Precision precision;
  AtomFunctionOptions function;
  // Throws std::invalid_argument if the order parameter does not support the input; empty: it does.
  std::function<void(const OrderInput &)> check_input = {};
  bool has_types = false;    // the engine reads types
  bool is_global = false;    // S is one number of all atoms, not a sum over atoms

  // The engine between its evaluations.
  struct Evaluated {
    ResidentOrderParameter &engine;
    int nlocal;    // owned atoms of the engine, of which the first ones are those of a
    int nthreads;
    DeviceStream stream;
    std::vector<double> &memory;    // for the results; keeps its allocation
  };
  // Writes results in addition to v_i and f; empty: there are none.
  std::function<void(const Evaluated &, const AtomList &a, const OrderNumbers &)> write_further =
      {};
};

// Makes the backend. device: -1 selects the current GPU. nthreads OpenMP threads prepare copies and
// evaluate the function. Throws DeviceError.
std::unique_ptr<OrderParameter> make_order_on_cuda(OrderOnCuda, int device, int nthreads);

}    // namespace gpucoord

#endif
