// Part of GPUCOORD, GPL-2.0. Sums over charges for a row of a few points, on the host. Compiled
// once per instruction set, like ../pairs/pair_kernels_host.cpp.
//
// Charges within the cutoff of the segment of the points are kept first. A SIMD loop over these
// charges then takes POINTS_AT_A_TIME points and keeps their sums in registers.

#include "map_kernels_host.h"

#include "../pairs/pair_kernels_host.h"

#include "../pairs/compress_host.h"

#include <type_traits>

#ifndef GPUCOORD_ISA
#error "compile with -DGPUCOORD_ISA=name_of_the_instruction_set"
#endif

namespace gpucoord {

namespace {

  // Charges per chunk, which fits into the L1 cache. MIXED sums a chunk in float and adds the
  // chunks in double.
  constexpr int CHUNK = 512;
  constexpr int MARGIN = 16;    // room for one more vector

  template <class Real> struct alignas(64) KeptCharges {
    // dy, dz: from the charge to the row
    Real x[CHUNK + MARGIN], dy[CHUNK + MARGIN], dz[CHUNK + MARGIN], q[CHUNK + MARGIN];
  };

  // Adds the potential and field of a charge at one point.
  template <class Kernel, bool SOFT, bool FIELD, class Real>
  inline __attribute__((always_inline)) void add_charge(const MapConstants<Real> &c, Real dx,
                                                        Real dy, Real dz, Real q, Real &phi,
                                                        Real &ex, Real &ey, Real &ez)
  {
    const Real r_sq = dx * dx + (dy * dy + dz * dz);
    const bool counts = r_sq <= c.cutoff_sq && (SOFT || r_sq > c.tiny_sq);
    Real value, derivative;
    Kernel::template eval<SOFT>(c, bare_potential<SOFT>(c, r_sq), value, derivative);
    const Real charge = counts ? q : Real(0);
    phi += charge * value;
    if (FIELD) {
      const Real strength = charge * derivative;
      ex -= strength * dx;
      ey -= strength * dy;
      ez -= strength * dz;
    }
  }

  template <class Kernel, bool SOFT, bool FIELD, class Real>
  inline void sum_one(const MapConstants<Real> &constants, int n, const KeptCharges<Real> &kept,
                      const Real *px, Real *sums)
  {
    const MapConstants<Real> c = constants;
    const Real px0 = px[0];
    Real p0 = 0, x0 = 0, y0 = 0, z0 = 0;
#pragma omp simd reduction(+ : p0, x0, y0, z0)
    for (int k = 0; k < n; ++k)
      add_charge<Kernel, SOFT, FIELD>(c, px0 - kept.x[k], kept.dy[k], kept.dz[k], kept.q[k], p0, x0,
                                      y0, z0);
    const Real all_sums[] = {p0, x0, y0, z0};
    for (int v = 0; v < MAP_VALUES; ++v) sums[v] = all_sums[v];
  }

  constexpr int POINTS_AT_A_TIME = 4;

  template <class Kernel, bool SOFT, bool FIELD, class Real>
  inline void sum_four(const MapConstants<Real> &constants, int n, const KeptCharges<Real> &kept,
                       const Real *px, Real *sums)
  {
    const MapConstants<Real> c = constants;
    const Real px0 = px[0], px1 = px[1], px2 = px[2], px3 = px[3];
    Real p0 = 0, p1 = 0, p2 = 0, p3 = 0, x0 = 0, x1 = 0, x2 = 0, x3 = 0, y0 = 0, y1 = 0, y2 = 0,
         y3 = 0, z0 = 0, z1 = 0, z2 = 0, z3 = 0;
#pragma omp simd reduction(+ : p0, p1, p2, p3, x0, x1, x2, x3, y0, y1, y2, y3, z0, z1, z2, z3)
    for (int k = 0; k < n; ++k) {
      const Real x = kept.x[k], dy = kept.dy[k], dz = kept.dz[k], q = kept.q[k];
      add_charge<Kernel, SOFT, FIELD>(c, px0 - x, dy, dz, q, p0, x0, y0, z0);
      add_charge<Kernel, SOFT, FIELD>(c, px1 - x, dy, dz, q, p1, x1, y1, z1);
      add_charge<Kernel, SOFT, FIELD>(c, px2 - x, dy, dz, q, p2, x2, y2, z2);
      add_charge<Kernel, SOFT, FIELD>(c, px3 - x, dy, dz, q, p3, x3, y3, z3);
    }
    const Real all_sums[] = {p0, x0, y0, z0, p1, x1, y1, z1, p2, x2, y2, z2, p3, x3, y3, z3};
    for (int v = 0; v < POINTS_AT_A_TIME * MAP_VALUES; ++v) sums[v] = all_sums[v];
  }

  // Keeps the charges of a chunk that are near a row. Returns their number.
  template <class Real>
  inline int keep_near(Real range_sq, const NearCharges<Real> &all, int begin,
                       const Segment<Real> &row, KeptCharges<Real> &kept)
  {
    const int size = all.n - begin < CHUNK ? all.n - begin : CHUNK;
    return keep_near_row<Real>(range_sq, {size, all.x + begin, all.y + begin, all.z + begin},
                               all.q + begin, row, {kept.x, kept.dy, kept.dz}, kept.q);
  }

  template <class Kernel, bool SOFT, bool FIELD, bool ALONE, class Real, class Accumulator>
  double sum_row(const MapConstants<Real> &c, const NearCharges<Real> &all,
                 const RowOfPoints<Real> &row, double *sums)
  {
    static_assert(POINTS_PER_ROW % POINTS_AT_A_TIME == 0, "a row is a whole number of steps");
    constexpr int N = ALONE ? 1 : POINTS_PER_ROW, STEP = ALONE ? 1 : POINTS_AT_A_TIME,
                  WIDTH = 64 / sizeof(Real);
    constexpr Real MARGIN_OF_ROUNDING = Real(1.00001);    // keep all charges despite rounding
    const Real middle = Real(0.5) * (row.x[0] + row.x[N - 1]),
               half = Real(0.5) * (row.x[N - 1] - row.x[0]);
    KeptCharges<Real> kept;
    Accumulator total[N * MAP_VALUES] = {};
    double tested = 0.0;
    for (int begin = 0; begin < all.n; begin += CHUNK) {
      const int count = keep_near(c.cutoff_sq * MARGIN_OF_ROUNDING, all, begin,
                                  {middle, half, row.y, row.z}, kept);
      if (count == 0) continue;
      // Pad to whole vectors with zero charges.
      const int padded = (count + WIDTH - 1) / WIDTH * WIDTH;
      for (int k = count; k < padded; ++k) kept.x[k] = kept.dy[k] = kept.dz[k] = kept.q[k] = 0;
      for (int p = 0; p < N; p += STEP) {
        Real chunk[STEP * MAP_VALUES];
        if constexpr (ALONE)
          sum_one<Kernel, SOFT, FIELD>(c, padded, kept, row.x + p, chunk);
        else
          sum_four<Kernel, SOFT, FIELD>(c, padded, kept, row.x + p, chunk);
        for (int v = 0; v < STEP * MAP_VALUES; ++v) total[p * MAP_VALUES + v] += chunk[v];
      }
      tested += static_cast<double>(count) * N;
    }
    for (int v = 0; v < N * MAP_VALUES; ++v) sums[v] += total[v];
    return tested;
  }

  template <class Real>
  void find_near(Real radius_sq, const NearCharges<Real> &all, const RowOfPoints<Real> &row,
                 char *near)
  {
    const Real middle = Real(0.5) * (row.x[0] + row.x[row.n - 1]),
               half = Real(0.5) * (row.x[row.n - 1] - row.x[0]);
    KeptCharges<Real> kept;
    for (int begin = 0; begin < all.n; begin += CHUNK) {
      const int count = keep_near(radius_sq, all, begin, {middle, half, row.y, row.z}, kept);
      for (int k = 0; k < count; ++k)
        for (int p = 0; p < row.n; ++p) {
          const Real dx = row.x[p] - kept.x[k];
          if (dx * dx + (kept.dy[k] * kept.dy[k] + kept.dz[k] * kept.dz[k]) < radius_sq)
            near[p] = 1;
        }
    }
  }

  template <class Real, class Accumulator> MapKernels<Real> make(const MapOptions &options)
  {
    MapKernels<Real> kernels;
    visit_map_kernel<Real>(options, [&](auto kernel) {
      using Kernel = decltype(kernel);
      const auto set = [&](auto soft) {
        constexpr bool SOFT = decltype(soft)::value;
        kernels.row[false][false] = sum_row<Kernel, SOFT, false, false, Real, Accumulator>;
        kernels.row[false][true] = sum_row<Kernel, SOFT, true, false, Real, Accumulator>;
        kernels.row[true][false] = sum_row<Kernel, SOFT, false, true, Real, Accumulator>;
        kernels.row[true][true] = sum_row<Kernel, SOFT, true, true, Real, Accumulator>;
      };
      if (options.overlap == MapOverlap::SOFT)
        set(std::true_type());
      else
        set(std::false_type());
    });
    kernels.find_near = find_near<Real>;
    return kernels;
  }

}    // namespace

namespace GPUCOORD_ISA {

  GPUCOORD_TEST_API void get_map_kernels(const MapOptions &options, Precision precision,
                                         MapKernels<float> &kernels)
  {
    kernels = precision == Precision::SINGLE ? make<float, float>(options)
                                             : make<float, double>(options);
  }
  GPUCOORD_TEST_API void get_map_kernels(const MapOptions &options, Precision,
                                         MapKernels<double> &kernels)
  {
    kernels = make<double, double>(options);
  }

}    // namespace GPUCOORD_ISA

}    // namespace gpucoord
