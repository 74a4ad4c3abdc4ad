// Part of GPUCOORD, GPL-2.0. Arguments of the kernels of order parameters.
//
// A row of order numbers has 2 l + 1 real harmonics (harmonics.h), then further numbers, padded to
// order_stride(l), a multiple of 4. Kernels write rows by atom and read rows by point.

#ifndef GPUCOORD_ORDER_ARGUMENTS_CUDA_H
#define GPUCOORD_ORDER_ARGUMENTS_CUDA_H

#include "../partners_in_range.h"
#include "harmonics.h"

#include "../../pairs/pair_arguments_cuda.h"
#include "../../switching/forms.h"
#include "../../switching/formula_constants_cuda.h"

#include <cuda_runtime.h>

namespace gpucoord {

constexpr int order_stride(int l)
{
  return (2 * l + 1 + 2 + 3) / 4 * 4;    // includes two further numbers
}
template <int L> constexpr int ORDER_STRIDE = order_stride(L);

// A switching function. The kernel selects its formula.
template <class Real> struct OrderFunction {
  FormulaConstants<Real> constants;    // dmax_sq < 0: no function
  SwitchForm form;
};

template <class Real> struct OrderArguments : PartnerRows<Real> {
  HarmonicTable<Real> harmonics;
  OrderFunction<Real> function;           // used if there is one class
  const OrderFunction<Real> *by_class;    // [classes][classes]; null: one class
  int nclasses;
  OrderKind order;
  double floor;                        // norms of q up to this value count as 0
  OrderFunction<double> connection;    // sigma of CONNECTIONS

  // Rows by atom: input or output.
  Real *numbers;
  // Rows by point: q or u, and the numbers of partners that pass 3 reads.
  const Real *point_numbers, *back;
  double *value;        // [nlocal] v; GLOBAL: may be null
  Real *weight;         // [nlocal] N
  Real *norm;           // [nlocal] |q| of DOT and CONNECTIONS
  int *any_partners;    // set to 1 if a row of group a has partners
  // [10][rows] forces that act through s_ij, by column of the sums; null: none. Only the first 4
  // columns without the virial.
  Real *direct;
  bool wants_virial;
};

// Pass 4. Coefficients of points: lambda/N, and its product with q. uniform: the same coefficients
// for all atoms of a, instead of the rows of points; null: not used.
template <class Real> struct OrderForceArguments {
  OrderArguments<Real> order;
  RowArguments out;    // outputs
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

// Enqueues a kernel that lists the partners in range.
void find_partners_in_range(const OrderArguments<float> &, cudaStream_t);
void find_partners_in_range(const OrderArguments<double> &, cudaStream_t);
// CONNECTIONS: enqueues a kernel that replaces products by 1 - sigma, and sums v.
void connect_partners(const OrderArguments<float> &, cudaStream_t);
void connect_partners(const OrderArguments<double> &, cudaStream_t);

}    // namespace gpucoord

#endif
