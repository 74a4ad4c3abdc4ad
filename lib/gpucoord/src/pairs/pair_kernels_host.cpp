// Part of GPUCOORD, GPL-2.0. Pair kernels of the host backend, except the sums over partners by
// compiled formulas (gather_kernels_host.cpp).
//
// This file is compiled once per instruction set. The functions at the end are in a namespace per
// instruction set. All other functions have internal linkage or are always inlined. The linker
// therefore never uses code of one instruction set for another.

#include "pair_kernels_host.h"

#include "../core/minimum_image.h"
#include "../expression/custom_function_host.h"
#include "../switching/forms.h"
#include "compress_host.h"
#include "gpucoord/pairs.h"

#ifndef GPUCOORD_ISA
#error "compile with -DGPUCOORD_ISA=name_of_the_instruction_set"
#endif

namespace gpucoord {

// Sets the kernels of a form. gather_kernels_host.cpp defines this function for each form.
namespace GPUCOORD_ISA {

  template <SwitchForm FORM, class Accumulator, class Real>
  void set_gather_kernels(PairKernels<Real> &);

}    // namespace GPUCOORD_ISA

namespace {

  // Adds the terms of a partner, times its weight. A custom expression is evaluated in double, one
  // pair at a time.
  template <bool IN_WINDOW, class Real, class Accumulator>
  inline void add_custom(const SwitchConstants<Real> &c, CustomFunction *custom, Real weight,
                         Real dx, Real dy, Real dz, Accumulator *total)
  {
    const Real r_sq = dx * dx + dy * dy + dz * dz;
    if (!(r_sq <= c.dmax_sq)) return;
    const Real r = sqrt(r_sq);
    Real s = c.top, dfunc = 0;
    if (r > c.d0) {
      double value, derivative;
      custom->evaluate((r - c.d0) * c.inv_r0, value, derivative);
      s = static_cast<Real>(value) * c.stretch + c.shift;
      dfunc = static_cast<Real>(derivative) * c.stretch * c.inv_r0 / r;
    }
    s *= weight;
    dfunc *= weight;
    if (IN_WINDOW) {
      dfunc *= window(c, r_sq);
      s = 0;
    }
    const Real fx = dfunc * dx, fy = dfunc * dy, fz = dfunc * dz;
    const Real term[NSUMS] = {s,        -fx,      -fy,      -fz,      -fx * dx,
                              -fy * dy, -fz * dz, -fx * dy, -fx * dz, -fy * dz};
    for (int t = 0; t < NSUMS; ++t) total[t] += term[t];
  }

  template <class Real, class Accumulator, bool IN_WINDOW>
  void gather_custom(const SwitchConstants<Real> &c, CustomFunction *custom,
                     const PartnerPoints<Real> &points, const OwnPoint<Real> &own, double *sums)
  {
    Accumulator total[NSUMS] = {};
    for (int k = 0; k < points.n; ++k)
      if (k != own.self)
        add_custom<IN_WINDOW>(c, custom, Real(1), points.x[k] - own.x, points.y[k] - own.y,
                              points.z[k] - own.z, total);
    for (int t = 0; t < NSUMS; ++t) sums[t] += total[t];
  }

  template <class Real, class Accumulator, bool IN_WINDOW>
  void gather_custom_classes(const ClassConstants<Real> &functions, CustomFunction *const *custom,
                             const PartnerPoints<Real> &points, const int *class_index,
                             const Real *weights, const OwnPoint<Real> &own, double *sums)
  {
    Accumulator total[NSUMS] = {};
    for (int k = 0; k < points.n; ++k) {
      const int partner = class_index[k];
      const Real weight = functions.values[partner] * (weights ? weights[k] : Real(1));
      if (k != own.self && functions.range_sq[partner] >= 0)
        add_custom<IN_WINDOW>(*functions.each[partner], custom[functions.function[partner]], weight,
                              points.x[k] - own.x, points.y[k] - own.y, points.z[k] - own.z, total);
    }
    for (int t = 0; t < NSUMS; ++t) sums[t] += total[t];
  }

  template <class Real>
  void displacements(const Box &box, const double *xi, int n, const double *xj, Real *dx, Real *dy,
                     Real *dz)
  {
    for (int k = 0; k < n; ++k) {
      double x = xj[3 * k] - xi[0], y = xj[3 * k + 1] - xi[1], z = xj[3 * k + 2] - xi[2];
      minimum_image(box, x, y, z);
      dx[k] = static_cast<Real>(x);
      dy[k] = static_cast<Real>(y);
      dz[k] = static_cast<Real>(z);
    }
  }

  template <class Real, class Accumulator> PairKernels<Real> make(const Switch &function)
  {
    PairKernels<Real> kernels;
    kernels.displacements = displacements<Real>;
    kernels.keep_near_box = keep_near_box<Real>;
    kernels.neighbors = neighbors<Real>;
    visit_form(form_of(function), [&](auto form) {
      if constexpr (form() == SwitchForm::Interpreted) {
        for (auto &entry : kernels.gather) entry = gather_custom<Real, Accumulator, false>;
        kernels.gather_windowed = gather_custom<Real, Accumulator, true>;
        kernels.gather_classes = gather_custom_classes<Real, Accumulator, false>;
        kernels.gather_classes_virial = gather_custom_classes<Real, Accumulator, false>;
        kernels.gather_classes_windowed = gather_custom_classes<Real, Accumulator, true>;
      } else
        GPUCOORD_ISA::set_gather_kernels<form(), Accumulator>(kernels);
    });
    return kernels;
  }

}    // namespace

namespace GPUCOORD_ISA {

  GPUCOORD_TEST_API void get_pair_kernels(const Switch &function, Precision precision,
                                          PairKernels<float> &kernels)
  {
    kernels = precision == Precision::SINGLE ? make<float, float>(function)
                                             : make<float, double>(function);
  }

  GPUCOORD_TEST_API void get_pair_kernels(const Switch &function, Precision,
                                          PairKernels<double> &kernels)
  {
    kernels = make<double, double>(function);
  }

  void get_keep_near_box(KeepNearBoxFunction<float> &kernel)
  {
    kernel = keep_near_box<float>;
  }
  void get_keep_near_box(KeepNearBoxFunction<double> &kernel)
  {
    kernel = keep_near_box<double>;
  }

}    // namespace GPUCOORD_ISA

}    // namespace gpucoord
