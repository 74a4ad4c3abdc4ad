// Part of GPUCOORD, GPL-2.0. Steinhardt bond-orientational order parameters, with derivatives and
// virial.
//
// q_lm(i) = sum of s(r_ij) Y_lm(d_ij) over the partners j of atom i, divided by N_i, the sum of
// s(r_ij). The norm of q_lm is sqrt(4 pi/(2 l + 1) sum of |q_lm|^2 over m). Steinhardt, Nelson and
// Ronchetti, Phys. Rev. B 28, 784 (1983).

#ifndef GPUCOORD_ORIENT_ORDER_H
#define GPUCOORD_ORIENT_ORDER_H

#include "gpucoord/atom_function.h"
#include "gpucoord/export.h"
#include "gpucoord/order_parameter.h"
#include "gpucoord/resident_order_parameter.h"
#include "gpucoord/switch_table.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace gpucoord {

// The order parameter v_i of an atom. An atom without partners has v_i = 0 and no derivatives.
// Norms of q_lm up to smallest_norm() count as 0, because rounding causes such norms in perfect
// lattices.
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
  // the same as for LOCAL.
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
  SwitchTable table = SwitchTable(0);    // s(r) >= 0 with a finite dmax
  // CONNECTIONS: sigma, a function of u(i).u(j) instead of r; 1 below d0. If dmax is not given, it
  // is infinite.
  SwitchOptions connection;
  AtomFunctionOptions function;    // S = sum of f(v_i); GLOBAL: must be SUM
};

// Throws OptionError; for the function, AtomFunctionError.
GPUCOORD_API void check_options(const OrientOrderOptions &);

// Returns one line: 'q6 average'.
GPUCOORD_API std::string description(const OrientOrderOptions &);

// Makes the backend that runs on the host with nthreads OpenMP threads. Throws OptionError,
// AtomFunctionError and std::invalid_argument.
GPUCOORD_API std::unique_ptr<OrderParameter> make_host_order(const OrientOrderOptions &, Precision,
                                                             int nthreads);

// Makes the CUDA backend. device: -1 selects the current GPU. nthreads OpenMP threads prepare
// copies and evaluate the function. Throws DeviceError, OptionError, AtomFunctionError and
// std::invalid_argument.
GPUCOORD_API std::unique_ptr<OrderParameter> make_cuda_order(const OrientOrderOptions &, Precision,
                                                             int device, int nthreads);

class GPUCOORD_API ResidentOrientOrder : public ResidentOrderParameter {
 public:
  // Call after evaluate_first(). Waits, and copies q_lm to the host, [nlocal][2 l + 1] real
  // harmonics (see set_w_hat()). For DOT and CONNECTIONS they are divided by their norm.
  virtual void copy_harmonics(double *q, DeviceStream) = 0;
};

// Makes a ResidentOrientOrder of resident atoms on the current GPU. Does not use
// OrientOrderOptions::function. Throws DeviceError and OptionError; throws std::invalid_argument if
// dmax is infinite.
GPUCOORD_API std::unique_ptr<ResidentOrderParameter> make_resident_order(const OrientOrderOptions &,
                                                                         Precision);

// Makes a backend of plain loops over all pairs in double, as a reference for testing the others.
// O(N^2).
GPUCOORD_API std::unique_ptr<OrderParameter> make_reference_order(const OrientOrderOptions &);

// Sets w_hat, [n], to w_l/|q|^3 of each atom, or to 0 if |q| <= smallest. q: [n][2 l + 1] real
// harmonics: q_l0, then for each m > 0 the real and the imaginary part of sqrt(2) q_lm
GPUCOORD_API void set_w_hat(int l, const double *q, std::int64_t n, double smallest, double *w_hat,
                            int nthreads);

}    // namespace gpucoord

#endif
