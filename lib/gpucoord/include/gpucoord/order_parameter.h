// Part of GPUCOORD, GPL-2.0. Interface of order parameters, with derivatives and virial. An order
// parameter is a per-atom number v_i that depends on the vectors to the partners of atom i. S is a
// function of the v_i.

#ifndef GPUCOORD_ORDER_PARAMETER_H
#define GPUCOORD_ORDER_PARAMETER_H

#include "gpucoord/atom_function.h"
#include "gpucoord/contribution.h"
#include "gpucoord/export.h"
#include "gpucoord/option_error.h"
#include "gpucoord/pairs.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace gpucoord {

// Communication with other ranks. All ranks make the same calls.
struct OrderExchange {
  // Copies numbers of owned atoms to their ghosts. numbers: [nall][columns], owned first.
  std::function<void(double *numbers, int columns)> forward;
  // [nall] the owned atom whose image each atom is, equal for inputs of the same version; null:
  // there are several ranks. If owner is given, the CUDA backend calls forward() only if an owner
  // is not in the group of its image.
  const int *owner = nullptr;
  AtomFunction::Reduce reduce;
};

// Atoms of one rank. With two groups: the atoms of a, with partners in b.
struct OrderInput {
  CellsInput cells;
  int nall = 0;    // number of rows of cells.x
  // Volume of the box, distance^3, the same on all ranks; 0: the box is not periodic in all
  // directions. Read only by order parameters that need a density.
  double volume = 0.0;
  OrderExchange exchange;
  // Factors of the owned atoms of a in S, [a.nowned]. S must be a sum over atoms without bins.
  // dS/dx and W lack the gradients of the factors (add_weight_gradients()).
  AtomWeights weights;
};

// Numbers of the owned atoms of a, by row, [nlocal]; null: not requested. Rows of other atoms are
// not changed.
struct OrderNumbers {
  double *order = nullptr;    // v_i
  double *f = nullptr;        // f(v_i), or v_i if S is not a function of the v_i
  // Steinhardt: w_l/|q_l|^3 of q_lm(i), with Wigner's 3j symbols; 0 for atoms without partners.
  double *w_hat = nullptr;
};

struct OrderResult : Contribution {
  std::int64_t natoms_with_partners = 0;    // owned atoms of a
  std::int64_t bad = -1;                    // smallest row whose f or f' is not finite; -1: none
  double order_of_bad = 0.0;                // v_i of the row 'bad'
};

// One order parameter on one rank. Not thread-safe. Uses OpenMP internally.
//
// want: see Want in pairs.h, without WINDOWED. Results are added to peratom,
// [nlocal][peratom_columns(want)], which may be null if want lacks DERIVATIVES:
// - column 0: v_i of the atoms of a;
// - columns 1 to 3: dS/dx, dS/dy, dS/dz of the atom, 1/distance;
// - columns 4 to 9, with ATOM_VIRIAL: virials xx yy zz xy xz yz of the terms of S whose pair
//   contains the atom. Over the atoms of all ranks, they add up to 2 W.
//
// The value is the rank's part of S. If S is not a sum over atoms (AtomFunction::is_sum();
// OrderKind::GLOBAL), the value is S itself on all ranks. Positions must be finite. Results do not
// depend on the number of threads.
class GPUCOORD_API OrderParameter {
 public:
  virtual ~OrderParameter() = default;
  virtual OrderResult evaluate(const OrderInput &, unsigned want, double *peratom,
                               const OrderNumbers &) = 0;
  // After an exception of evaluate(): performs the remaining exchanges, with zeros, because other
  // ranks wait for them. Pass the same arguments.
  virtual void complete_exchanges(const OrderInput &, unsigned want) = 0;
  // Returns the largest number of columns of an exchange.
  virtual int exchange_columns() const = 0;
  virtual std::size_t bytes() const = 0;    // memory of the last evaluation, bytes
  // Returns further results of the last evaluation, the same on all ranks.
  virtual std::vector<double> global_vector() const { return {}; }
};

}    // namespace gpucoord

#endif
