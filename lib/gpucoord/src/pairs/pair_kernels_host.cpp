// Part of GPUCOORD, GPL-2.0. Pair kernels of the host backend.
//
// This file is compiled once per instruction set. The functions at the end are in a namespace per
// instruction set. All other functions have internal linkage or are always inlined. The linker
// therefore never uses code of one instruction set for another.

#include "pair_kernels_host.h"

#include "../core/minimum_image.h"
#include "../switching/custom_function_host.h"
#include "../switching/switch_dispatch.h"
#include "compress_host.h"
#include "gpucoord/pairs.h"

#include <cstddef>
#include <utility>

#ifndef GPUCOORD_ISA
#error "compile with -DGPUCOORD_ISA=name_of_the_instruction_set"
#endif

namespace gpucoord {

namespace {

  constexpr int CHUNK = PARTNER_CHUNK;

  // Returns sum - a b, rounded once if the processor has fma. GCC's own choice would depend on
  // WANT, and forces would depend on whether the virial is computed. Clang uses fma for this
  // expression in all variants (-ffp-contract=on), and does not vectorize reductions with
  // __builtin_fma.
#if !defined(__clang__) && (defined(__FMA__) || defined(__ARM_FEATURE_FMA))
#define GPUCOORD_BUILTIN_FMA
#endif
  inline float subtract_product(float sum, float a, float b)
  {
#ifdef GPUCOORD_BUILTIN_FMA
    return __builtin_fmaf(-a, b, sum);
#else
    return sum - a * b;
#endif
  }
  inline double subtract_product(double sum, double a, double b)
  {
#ifdef GPUCOORD_BUILTIN_FMA
    return __builtin_fma(-a, b, sum);
#else
    return sum - a * b;
#endif
  }

  template <class Real> struct OnesAndZeros {
    Real value[CHUNK + 16] = {};
    constexpr OnesAndZeros()
    {
      for (int k = 0; k < CHUNK; ++k) value[k] = 1;
    }
  };
  template <class Real> constexpr OnesAndZeros<Real> ONES_AND_ZEROS;

  template <class Formula, class Real, class Accumulator, unsigned WANT>
  void gather(const SwitchConstants<Real> &constants, CustomFunction *, int n, const Real *x,
              const Real *y, const Real *z, Real xi, Real yi, Real zi, int self, double *sums)
  {
    const SwitchConstants<Real> c = constants;
    Accumulator total[NSUMS] = {};
    Real dx[CHUNK + 16], dy[CHUNK + 16], dz[CHUNK + 16];
    for (int begin = 0; begin < n; begin += CHUNK) {
      const int size = n - begin < CHUNK ? n - begin : CHUNK;
      const int count = keep_in_range(c.dmax_sq, size, x + begin, y + begin, z + begin, xi, yi, zi,
                                      self - begin, dx, dy, dz);
      if (count == 0) continue;
      // Process whole vectors: a scalar remainder would take as long. The padding has weight 0.
      constexpr int WIDTH = 64 / sizeof(Real);
      const int padded = (count + WIDTH - 1) / WIDTH * WIDTH;
      for (int k = count; k < padded; ++k) dx[k] = dy[k] = dz[k] = 0;
      const Real *const counts = ONES_AND_ZEROS<Real>.value + CHUNK - count;
      Real s = 0, gx = 0, gy = 0, gz = 0, vxx = 0, vyy = 0, vzz = 0, vxy = 0, vxz = 0, vyz = 0;
#pragma omp simd reduction(+ : s, gx, gy, gz, vxx, vyy, vzz, vxy, vxz, vyz)
      for (int k = 0; k < padded; ++k) {
        const Real r_sq = dx[k] * dx[k] + dy[k] * dy[k] + dz[k] * dz[k];
        Real value, dfunc;
        Formula::eval(c, r_sq, value, dfunc);
        if (WANT & WINDOWED)
          dfunc *= window(c, r_sq);
        else
          s += counts[k] * value;
        if (WANT & DERIVATIVES) {
          gx = subtract_product(gx, dfunc, dx[k]);
          gy = subtract_product(gy, dfunc, dy[k]);
          gz = subtract_product(gz, dfunc, dz[k]);
        }
        if (WANT & VIRIAL) {
          const Real fx = dfunc * dx[k], fy = dfunc * dy[k], fz = dfunc * dz[k];
          vxx -= fx * dx[k];
          vyy -= fy * dy[k];
          vzz -= fz * dz[k];
          vxy -= fx * dy[k];
          vxz -= fx * dz[k];
          vyz -= fy * dz[k];
        }
      }
      const Real chunk[NSUMS] = {s, gx, gy, gz, vxx, vyy, vzz, vxy, vxz, vyz};
      for (int k = 0; k < NSUMS; ++k) total[k] += chunk[k];
    }
    for (int k = 0; k < NSUMS; ++k) sums[k] += total[k];
  }

  // Evaluates the function of partner k. Element k of each array has its constants. GCC keeps a
  // struct declared in the loop itself in memory and then does not vectorize the loop.
  template <class Formula, class Real, std::size_t... F>
  inline void evaluate_partner(const SwitchConstants<Real> &common, const Real *const *constant,
                               int k, Real r_sq, Real &value, Real &dfunc,
                               std::index_sequence<F...>)
  {
    SwitchConstants<Real> c = common;
    ((c.*CONSTANTS_PER_FUNCTION<Real>[F] = constant[F][k]), ...);
    Formula::eval(c, r_sq, value, dfunc);
  }

  template <class Formula, class Real, class Accumulator, unsigned WANT>
  void gather_classes(const ClassConstants<Real> &functions, CustomFunction *const *, int n,
                      const Real *x, const Real *y, const Real *z, const int *class_index,
                      const Real *weights, Real xi, Real yi, Real zi, int self, double *sums)
  {
    const SwitchConstants<Real> common = functions.common;
    const int nclasses = functions.nclasses;
    Accumulator total[NSUMS] = {};
    Real dx[CHUNK + 16], dy[CHUNK + 16], dz[CHUNK + 16], weight[CHUNK + 16], kept[CHUNK + 16];
    Real values[NCONSTANTS][CHUNK + 16];
    int classes[CHUNK + 16];
    const Real *constant[NCONSTANTS];
    for (int f = 0; f < NCONSTANTS; ++f) constant[f] = functions.equal[f];
    for (int v = 0; v < functions.nvarying; ++v)
      constant[functions.varying[v]] = values[functions.varying[v]];
    for (int begin = 0; begin < n; begin += CHUNK) {
      const int size = n - begin < CHUNK ? n - begin : CHUNK;
      const Real *const range_sq = functions.range_sq, *const xj = x + begin, *const yj = y + begin,
                        *const zj = z + begin;
      const int *const cj = class_index + begin;
      const int count = weights
          ? keep_in_ranges<true>(nclasses, range_sq, size, xj, yj, zj, cj, weights + begin, xi, yi,
                                 zi, self - begin, dx, dy, dz, kept, classes)
          : keep_in_ranges<false>(nclasses, range_sq, size, xj, yj, zj, cj, weights, xi, yi, zi,
                                  self - begin, dx, dy, dz, kept, classes);
      if (count == 0) continue;
      // Process whole vectors, as in gather().
      constexpr int WIDTH = 64 / sizeof(Real);
      const int padded = (count + WIDTH - 1) / WIDTH * WIDTH;
      for (int k = count; k < padded; ++k) {
        dx[k] = dy[k] = dz[k] = 0;
        classes[k] = classes[0];
      }
      look_up(padded, classes, nclasses, functions.weight, weight);
      if (weights)
        for (int k = 0; k < count; ++k) weight[k] *= kept[k];
      for (int k = count; k < padded; ++k) weight[k] = 0;
      for (int v = 0; v < functions.nvarying; ++v)
        look_up(padded, classes, nclasses, functions.values + v * nclasses,
                values[functions.varying[v]]);
      Real s = 0, gx = 0, gy = 0, gz = 0, vxx = 0, vyy = 0, vzz = 0, vxy = 0, vxz = 0, vyz = 0;
#pragma omp simd reduction(+ : s, gx, gy, gz, vxx, vyy, vzz, vxy, vxz, vyz)
      for (int k = 0; k < padded; ++k) {
        const Real r_sq = dx[k] * dx[k] + dy[k] * dy[k] + dz[k] * dz[k];
        Real value, dfunc;
        evaluate_partner<Formula>(common, constant, k, r_sq, value, dfunc,
                                  std::make_index_sequence<NCONSTANTS>());
        dfunc *= weight[k];
        if (WANT & WINDOWED)
          dfunc *= window(common, r_sq);
        else
          s += weight[k] * value;
        gx = subtract_product(gx, dfunc, dx[k]);
        gy = subtract_product(gy, dfunc, dy[k]);
        gz = subtract_product(gz, dfunc, dz[k]);
        if (WANT & VIRIAL) {
          const Real fx = dfunc * dx[k], fy = dfunc * dy[k], fz = dfunc * dz[k];
          vxx -= fx * dx[k];
          vyy -= fy * dy[k];
          vzz -= fz * dz[k];
          vxy -= fx * dy[k];
          vxz -= fx * dz[k];
          vyz -= fy * dz[k];
        }
      }
      const Real chunk[NSUMS] = {s, gx, gy, gz, vxx, vyy, vzz, vxy, vxz, vyz};
      for (int k = 0; k < NSUMS; ++k) total[k] += chunk[k];
    }
    for (int k = 0; k < NSUMS; ++k) sums[k] += total[k];
  }

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
  void gather_custom(const SwitchConstants<Real> &c, CustomFunction *custom, int n, const Real *x,
                     const Real *y, const Real *z, Real xi, Real yi, Real zi, int self,
                     double *sums)
  {
    Accumulator total[NSUMS] = {};
    for (int k = 0; k < n; ++k)
      if (k != self)
        add_custom<IN_WINDOW>(c, custom, Real(1), x[k] - xi, y[k] - yi, z[k] - zi, total);
    for (int t = 0; t < NSUMS; ++t) sums[t] += total[t];
  }

  template <class Real, class Accumulator, bool IN_WINDOW>
  void gather_custom_classes(const ClassConstants<Real> &functions, CustomFunction *const *custom,
                             int n, const Real *x, const Real *y, const Real *z,
                             const int *class_index, const Real *weights, Real xi, Real yi, Real zi,
                             int self, double *sums)
  {
    Accumulator total[NSUMS] = {};
    for (int k = 0; k < n; ++k) {
      const int partner = class_index[k];
      const Real weight = functions.weight[partner] * (weights ? weights[k] : Real(1));
      if (k != self && functions.range_sq[partner] >= 0)
        add_custom<IN_WINDOW>(*functions.each[partner], custom[functions.function[partner]], weight,
                              x[k] - xi, y[k] - yi, z[k] - zi, total);
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

  template <class Formula, class Real, class Accumulator> void fill(PairKernels<Real> &kernels)
  {
    kernels.gather[VALUE] = gather<Formula, Real, Accumulator, VALUE>;
    kernels.gather[DERIVATIVES] = gather<Formula, Real, Accumulator, DERIVATIVES>;
    kernels.gather[VIRIAL] = gather<Formula, Real, Accumulator, VIRIAL>;
    kernels.gather[DERIVATIVES | VIRIAL] = gather<Formula, Real, Accumulator, DERIVATIVES | VIRIAL>;
    kernels.gather_windowed = gather<Formula, Real, Accumulator, DERIVATIVES | WINDOWED>;
    kernels.gather_classes = gather_classes<Formula, Real, Accumulator, DERIVATIVES>;
    kernels.gather_classes_virial =
        gather_classes<Formula, Real, Accumulator, DERIVATIVES | VIRIAL>;
    kernels.gather_classes_windowed =
        gather_classes<Formula, Real, Accumulator, DERIVATIVES | WINDOWED>;
  }

  template <class Real, class Accumulator> PairKernels<Real> make(const Switch &function)
  {
    PairKernels<Real> kernels;
    kernels.displacements = displacements<Real>;
    kernels.keep_near_box = keep_near_box<Real>;
    kernels.neighbors = neighbors<Real>;
    if (function.options().kind == SwitchKind::CUSTOM) {
      for (auto &entry : kernels.gather) entry = gather_custom<Real, Accumulator, false>;
      kernels.gather_windowed = gather_custom<Real, Accumulator, true>;
      kernels.gather_classes = gather_custom_classes<Real, Accumulator, false>;
      kernels.gather_classes_virial = gather_custom_classes<Real, Accumulator, false>;
      kernels.gather_classes_windowed = gather_custom_classes<Real, Accumulator, true>;
    } else
      visit_formula(function, [&kernels](auto formula) {
        fill<decltype(formula), Real, Accumulator>(kernels);
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
