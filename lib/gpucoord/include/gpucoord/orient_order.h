// Part of GPUCOORD, GPL-2.0. Bond-orientational order parameters of Steinhardt, with derivatives
// and virial.
//
// q_lm(i) = sum of s(r_ij) Y_lm(d_ij) over the partners j of atom i, divided by N_i, the sum of
// s(r_ij). The norm of q_lm is sqrt(4 pi/(2 l + 1) sum of |q_lm|^2 over m). Steinhardt, Nelson and
// Ronchetti, Phys. Rev. B 28, 784 (1983).

#ifndef GPUCOORD_ORIENT_ORDER_H
#define GPUCOORD_ORIENT_ORDER_H

#include "gpucoord/atom_function.h"
#include "gpucoord/contribution.h"
#include "gpucoord/export.h"
#include "gpucoord/pairs.h"
#include "gpucoord/switch_table.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace gpucoord {

// The order parameter v_i of an atom. An atom without partners has 0 and no derivatives. Norms of
// q_lm below smallest_norm() count as 0: rounding leaves such norms in perfect lattices.
enum class OrderKind {
  LOCAL,    // q_l(i), the norm of q_lm(i)
  // The norm of (q_lm(i) + sum of s_ij q_lm(j))/(1 + N_i). Lechner and Dellago, J. Chem. Phys. 129,
  // 114707 (2008).
  AVERAGE,
  // Sum of s_ij u(i).u(j), divided by N_i, where u = q_lm/|q_lm|. ten Wolde, Ruiz-Montero and
  // Frenkel, J. Chem. Phys. 104, 9932 (1996).
  DOT,
  CONNECTIONS,    // sum of s_ij (1 - sigma(u(i).u(j))): the number of solid-like bonds
  // S is the norm of the sum of s_ij Y_lm(d_ij) over all i and j, divided by the sum of N_i. v_i is
  // that of LOCAL.
  GLOBAL
};

constexpr int MIN_L = 2, MAX_L = 12;

constexpr double smallest_norm(Precision precision)
{
  return precision == Precision::DOUBLE ? 1e-12 : 1e-6;
}

struct OrientOrderOptions {
  int l = 6;    // MIN_L to MAX_L
  OrderKind order = OrderKind::LOCAL;
  // CONNECTIONS: sigma, a function of u(i).u(j) in place of r; 1 below d0. A dmax that is not given
  // is infinite.
  SwitchOptions connection;
  AtomFunctionOptions function;    // S = sum of f(v_i); GLOBAL: must be SUM
};

// A bad option: field is the member of OrientOrderOptions, or of its connection or function; what()
// names the value, the limit and the way out.
class GPUCOORD_API OrientOrderError : public std::invalid_argument {
 public:
  OrientOrderError(std::string field_in, const std::string &message) :
      std::invalid_argument(message), field(std::move(field_in))
  {
  }
  const std::string field;
};

// Throws OrientOrderError, and AtomFunctionError for the function.
GPUCOORD_API void check_options(const OrientOrderOptions &);

// One line: 'q6 average'.
GPUCOORD_API std::string description(const OrientOrderOptions &);

// Number of exchanges of an evaluation without those of the function: the order parameters of atoms
// need forward(), GLOBAL a sum over ranks.
GPUCOORD_API int number_of_exchanges(const OrientOrderOptions &, unsigned want);

// Communication with other ranks. All ranks make the same calls.
struct OrderExchange {
  // Copies numbers of owned atoms to their ghosts, [nall][columns], owned first.
  std::function<void(double *numbers, int columns)> forward;
  // [nall] the owned atom whose image each atom is, equal for inputs of the same version; null:
  // there are several ranks. The CUDA backend then calls forward() only if an owner is not in the
  // group of its image.
  const int *owner = nullptr;
  AtomFunction::Reduce reduce;
};

// Atoms of one rank. Two groups: the atoms of a, with partners in b; only LOCAL and GLOBAL.
struct OrientOrderInput {
  CellsInput cells;
  int nall = 0;    // number of rows of cells.x
  OrderExchange exchange;
};

// Numbers of the owned atoms of a, by row, [nlocal]; null: not wanted. Rows of other atoms are not
// changed.
struct OrderNumbers {
  double *order = nullptr;    // v_i
  double *f = nullptr;        // f(v_i); GLOBAL: v_i
  // w_l/|q_l|^3 of q_lm(i), with Wigner's 3j symbols; 0 without partners.
  double *w_hat = nullptr;
};

struct OrientOrderResult : Contribution {
  std::int64_t natoms_with_partners = 0;    // owned atoms of a
  std::int64_t bad = -1;                    // smallest row whose f or f' is not finite; -1: none
  double order_of_bad = 0.0;                // v_i of that row
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
// The value is the share of the rank in S, which is S itself on all ranks where S is not a sum over
// atoms (GLOBAL; AtomFunction::is_sum()). Positions must be finite. Results do not depend on the
// number of threads.
class GPUCOORD_API OrientOrder {
 public:
  virtual ~OrientOrder() = default;
  virtual OrientOrderResult evaluate(const OrientOrderInput &, unsigned want, double *peratom,
                                     const OrderNumbers &) = 0;
  // After an exception of evaluate(): makes the exchanges that it had not made, with zeros, because
  // other ranks wait for them. Takes the same arguments.
  virtual void take_part(const OrientOrderInput &, unsigned want) = 0;
  // The largest number of columns of an exchange.
  virtual int exchange_columns() const = 0;
  virtual std::size_t bytes() const = 0;    // memory of the last evaluation
};

// Makes the backend that runs on the host with nthreads OpenMP threads. table: s(r) >= 0, with an
// end. Throws OrientOrderError, AtomFunctionError and std::invalid_argument.
GPUCOORD_API std::unique_ptr<OrientOrder>
make_host_orient_order(const SwitchTable &, const OrientOrderOptions &, Precision, int nthreads);

// Makes the backend of the GPU 'device'; -1: the current one. nthreads OpenMP threads prepare
// copies and evaluate the function. Throws DeviceError, OrientOrderError, AtomFunctionError and
// std::invalid_argument.
GPUCOORD_API std::unique_ptr<OrientOrder> make_cuda_orient_order(const SwitchTable &,
                                                                 const OrientOrderOptions &,
                                                                 Precision, int device,
                                                                 int nthreads);

// Sets w_l/|q|^3 of n atoms, or 0 where |q| is not above smallest. q: [n][2 l + 1] real harmonics:
// q_l0, then for each m > 0 the real and the imaginary part of sqrt(2) q_lm.
GPUCOORD_API void set_w_hat(int l, const double *q, std::int64_t n, double smallest, double *w_hat,
                            int nthreads);

// Makes a backend of plain loops over all pairs in double, to check others against. O(N^2).
GPUCOORD_API std::unique_ptr<OrientOrder> make_reference_orient_order(const SwitchTable &,
                                                                      const OrientOrderOptions &);

}    // namespace gpucoord

#endif
