// Part of GPUCOORD, GPL-2.0. The pass over the partners of an atom, for one formula.
//
// This file is compiled once per instruction set and form, with -DGPUCOORD_FORMULA=name. Names
// are the forms in switch_functions.def. pair_kernels_host.cpp explains the namespaces.

#include "pair_kernels_host.h"

#include "../switching/forms.h"
#include "compress_host.h"
#include "gpucoord/pairs.h"
#include "gpucoord_form.h"    // made by CMake: the formula GPUCOORD_FORMULA

#include <cstddef>
#include <utility>

#if !defined(GPUCOORD_ISA) || !defined(GPUCOORD_FORMULA)
#error "compile with -DGPUCOORD_ISA=name_of_the_instruction_set -DGPUCOORD_FORMULA=name_of_the_form"
#endif

namespace gpucoord {

namespace {

  using Formula = formula::GPUCOORD_FORMULA;

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

  // Returns a chunk of the points.
  template <class Real> PartnerPoints<Real> chunk_of(const PartnerPoints<Real> &points, int begin)
  {
    const int left = points.n - begin;
    return {left < CHUNK ? left : CHUNK, points.x + begin, points.y + begin, points.z + begin};
  }

  template <class Real, class Accumulator, unsigned WANT>
  void gather(const SwitchConstants<Real> &constants, CustomFunction *,
              const PartnerPoints<Real> &points, const OwnPoint<Real> &own, double *sums)
  {
    const SwitchConstants<Real> c = constants;
    Accumulator total[NSUMS] = {};
    Real dx[CHUNK + 16], dy[CHUNK + 16], dz[CHUNK + 16];
    for (int begin = 0; begin < points.n; begin += CHUNK) {
      const int count = keep_in_range<Real>(c.dmax_sq, chunk_of(points, begin),
                                            {own.x, own.y, own.z, own.self - begin}, {dx, dy, dz});
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
  template <class Real, std::size_t... F>
  inline void evaluate_partner(const SwitchConstants<Real> &common, const Real *const *constant,
                               int k, Real r_sq, Real &value, Real &dfunc,
                               std::index_sequence<F...>)
  {
    SwitchConstants<Real> c = common;
    ((c.*CONSTANTS_PER_FUNCTION<Real>[F] = constant[F][k]), ...);
    Formula::eval(c, r_sq, value, dfunc);
  }

  template <class Real, class Accumulator, unsigned WANT>
  void gather_classes(const ClassConstants<Real> &functions, CustomFunction *const *,
                      const PartnerPoints<Real> &points, const int *class_index,
                      const Real *weights, const OwnPoint<Real> &own, double *sums)
  {
    const SwitchConstants<Real> common = functions.common;
    Accumulator total[NSUMS] = {};
    Real dx[CHUNK + 16], dy[CHUNK + 16], dz[CHUNK + 16], weight[CHUNK + 16];
    Real values[NCONSTANTS][CHUNK + 16];
    int classes[CHUNK + 16];
    const Real *constant[NCONSTANTS];
    for (int f = 0; f < NCONSTANTS; ++f) constant[f] = functions.equal[f];
    for (int v = 0; v < functions.nvarying; ++v) constant[functions.varying[v]] = values[v];
    for (int begin = 0; begin < points.n; begin += CHUNK) {
      const int count = keep_in_ranges<Real>(
          functions, chunk_of(points, begin), class_index + begin,
          weights ? weights + begin : nullptr, {own.x, own.y, own.z, own.self - begin},
          {dx, dy, dz}, weight, classes);
      if (count == 0) continue;
      // Process whole vectors, as in gather().
      constexpr int WIDTH = 64 / sizeof(Real);
      const int padded = (count + WIDTH - 1) / WIDTH * WIDTH;
      for (int k = count; k < padded; ++k) {
        dx[k] = dy[k] = dz[k] = weight[k] = 0;
        classes[k] = 0;
      }
      if (functions.nvarying > 0)
        look_up(padded, classes, functions.width, functions.nvarying,
                functions.values + functions.width, CHUNK + 16, values[0]);
      Real s = 0, gx = 0, gy = 0, gz = 0, vxx = 0, vyy = 0, vzz = 0, vxy = 0, vxz = 0, vyz = 0;
#pragma omp simd reduction(+ : s, gx, gy, gz, vxx, vyy, vzz, vxy, vxz, vyz)
      for (int k = 0; k < padded; ++k) {
        const Real r_sq = dx[k] * dx[k] + dy[k] * dy[k] + dz[k] * dz[k];
        Real value, dfunc;
        evaluate_partner(common, constant, k, r_sq, value, dfunc,
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

}    // namespace

namespace GPUCOORD_ISA {

  template <SwitchForm, class Accumulator, class Real>
  void set_gather_kernels(PairKernels<Real> &kernels)
  {
    kernels.gather[VALUE] = gather<Real, Accumulator, VALUE>;
    kernels.gather[DERIVATIVES] = gather<Real, Accumulator, DERIVATIVES>;
    kernels.gather[VIRIAL] = gather<Real, Accumulator, VIRIAL>;
    kernels.gather[DERIVATIVES | VIRIAL] = gather<Real, Accumulator, DERIVATIVES | VIRIAL>;
    kernels.gather_windowed = gather<Real, Accumulator, DERIVATIVES | WINDOWED>;
    kernels.gather_classes = gather_classes<Real, Accumulator, DERIVATIVES>;
    kernels.gather_classes_virial = gather_classes<Real, Accumulator, DERIVATIVES | VIRIAL>;
    kernels.gather_classes_windowed = gather_classes<Real, Accumulator, DERIVATIVES | WINDOWED>;
  }

  template void set_gather_kernels<SwitchForm::GPUCOORD_FORMULA, float>(PairKernels<float> &);
  template void set_gather_kernels<SwitchForm::GPUCOORD_FORMULA, double>(PairKernels<float> &);
  template void set_gather_kernels<SwitchForm::GPUCOORD_FORMULA, double>(PairKernels<double> &);

}    // namespace GPUCOORD_ISA

}    // namespace gpucoord
