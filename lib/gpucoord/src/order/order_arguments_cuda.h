// Part of GPUCOORD, GPL-2.0. Arguments of the kernels of order parameters.
//
// A row of order numbers has 2 l + 1 real harmonics (harmonics.h), then further numbers, padded to
// order_stride(l), a multiple of 4. Kernels write the rows of atoms, and read those of points.

#ifndef GPUCOORD_ORDER_ARGUMENTS_CUDA_H
#define GPUCOORD_ORDER_ARGUMENTS_CUDA_H

#include "harmonics.h"
#include "partner_rows_cuda.h"

#include "../pairs/pair_arguments_cuda.h"
#include "../switching/formula_constants_cuda.h"
#include "../switching/switch_dispatch.h"

#include <cuda_runtime.h>

namespace gpucoord {

constexpr int order_stride(int l)
{
  return (2 * l + 1 + 2 + 3) / 4 * 4;    // with two further numbers
}
template <int L> constexpr int ORDER_STRIDE = order_stride(L);

enum class SwitchForm {
#define GPUCOORD_FORM(KIND, FORM, FORMULA) FORM,
#include "gpucoord/switch_functions.def"
};

inline SwitchForm form_of(const Switch &function)
{
  const SwitchOptions &o = function.options();
#define GPUCOORD_FORM(KIND, FORM, FORMULA) \
  if (o.kind == SwitchKind::KIND && FORMULA::fits(o)) return SwitchForm::FORM;
#define GPUCOORD_EXPRESSION(KIND, FORM, FORMULA)
#include "gpucoord/switch_functions.def"
  return SwitchForm::Interpreted;
}

// A switching function, whose formula is chosen in the kernel.
template <class Real> struct OrderFunction {
  FormulaConstants<Real> constants;    // dmax_sq < 0: no function
  SwitchForm form;
};

template <class Real> struct OrderArguments : PartnerRows<Real> {
  HarmonicTable<Real> harmonics;
  OrderFunction<Real> function;           // if there is one class
  const OrderFunction<Real> *by_class;    // [classes][classes]; null: one class
  int nclasses;
  OrderKind order;
  double floor;                        // norms of q that are not above it count as 0
  OrderFunction<double> connection;    // sigma of CONNECTIONS

  // Rows of atoms: read or written.
  Real *numbers;
  // Rows of points: q or u, and what the partners give to pass 3.
  const Real *of_points, *back;
  double *value;        // [nlocal] v; GLOBAL: may be null
  Real *weight;         // [nlocal] N
  Real *norm;           // [nlocal] |q| of DOT and CONNECTIONS
  int *any_partners;    // set to 1 if a row of a has partners
  // [10][rows] forces that act through s_ij, by columns of the sums; null: none. Only 4 of them if
  // no virial is wanted.
  Real *direct;
  bool wants_virial;
};

// Pass 4. Coefficients of points: lambda/N, and its product with q. uniform: those of all atoms of
// a, in place of the rows of points; null: none.
template <class Real> struct OrderForceArguments {
  OrderArguments<Real> order;
  PartnerArguments out;    // outputs
  const Real *uniform;
  bool has_two_groups;
  int columns;    // number of columns of out.sums
};

// Each launcher enqueues one kernel. Throws DeviceError.
template <class Real> struct OrderLaunchers {
  void (*sum_harmonics)(const OrderArguments<Real> &, cudaStream_t);
  void (*average)(const OrderArguments<Real> &, cudaStream_t);
  void (*multiply)(const OrderArguments<Real> &, cudaStream_t);
  void (*average_back)(const OrderArguments<Real> &, cudaStream_t);
  void (*multiply_back)(const OrderArguments<Real> &, cudaStream_t);
  void (*sum_forces)(const OrderForceArguments<Real> &, unsigned want, cudaStream_t);
};

void get_order_launchers(int l, OrderLaunchers<float> &);
void get_order_launchers(int l, OrderLaunchers<double> &);

// Enqueue a kernel that lists the partners in range.
void find_partners_in_range(const OrderArguments<float> &, cudaStream_t);
void find_partners_in_range(const OrderArguments<double> &, cudaStream_t);
// CONNECTIONS: enqueue a kernel that replaces products by 1 - sigma, and sums v.
void connect_partners(const OrderArguments<float> &, cudaStream_t);
void connect_partners(const OrderArguments<double> &, cudaStream_t);

}    // namespace gpucoord

#endif
