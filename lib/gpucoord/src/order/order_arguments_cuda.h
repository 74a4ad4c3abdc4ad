// Part of GPUCOORD, GPL-2.0. Arguments of the kernels of order parameters.
//
// A row of order numbers has 2 l + 1 real harmonics (harmonics.h), then further numbers, padded to
// order_stride(l), a multiple of 4. Kernels write the rows of atoms, and read those of points:
// Points::get_rows().

#ifndef GPUCOORD_ORDER_ARGUMENTS_CUDA_H
#define GPUCOORD_ORDER_ARGUMENTS_CUDA_H

#include "harmonics.h"

#include "../pairs/pair_arguments_cuda.h"
#include "../switching/formula_constants_cuda.h"
#include "../switching/switch_dispatch.h"

#include <cuda_runtime.h>

namespace gpucoord {

template <int L> constexpr int ORDER_STRIDE = (2 * L + 3 + 3) / 4 * 4;    // two further numbers
inline int order_stride(int l)
{
  return (2 * l + 3 + 3) / 4 * 4;
}

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

template <class Real> struct OrderArguments {
  DeviceRows rows;       // in tiles
  const void *points;    // int4 in units, or DeviceAtom
  double unit;           // distance
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
  double *value;    // [nlocal] v
  Real *norm;       // [nlocal] |q| of DOT and CONNECTIONS
  Real *direct;     // [rows][10] forces that act through s_ij, columns as in the sums; null: none
};

// Pass 4. Coefficients of points: lambda/N, and its product with q. uniform: those of all atoms of
// a, in place of the rows of points; null: none.
template <class Real> struct OrderForceArguments {
  OrderArguments<Real> order;
  PartnerArguments out;    // outputs
  const Real *uniform;
  bool has_two_groups;
  int columns;    // of out.sums
};

// Each launcher enqueues one kernel. Throws DeviceError.
template <class Real> struct OrderLaunchers {
  void (*sum_harmonics)(const OrderArguments<Real> &, cudaStream_t);
  void (*sum_over_partners)(const OrderArguments<Real> &, cudaStream_t);
  void (*sum_back)(const OrderArguments<Real> &, cudaStream_t);
  void (*sum_forces)(const OrderForceArguments<Real> &, unsigned want, cudaStream_t);
};

void get_order_launchers(int l, OrderLaunchers<float> &);
void get_order_launchers(int l, OrderLaunchers<double> &);

}    // namespace gpucoord

#endif
