// Part of GPUCOORD, GPL-2.0. Moments of the distances of an atom to its partners, and forces along
// them, on the host. Compiled once per instruction set, like ../../pairs/pair_kernels_host.cpp.

#include "pair_entropy_kernels_host.h"

#include "../../pairs/compress_host.h"

#ifndef GPUCOORD_ISA
#error "compile with -DGPUCOORD_ISA=name_of_the_instruction_set"
#endif

namespace gpucoord {

namespace {

  constexpr int CHUNK = PARTNER_CHUNK;

  inline float root(float x)
  {
    return __builtin_sqrtf(x);
  }
  inline double root(double x)
  {
    return __builtin_sqrt(x);
  }

  // Vectors to the partners in range in one chunk of the candidates.
  template <class Real> struct Chunk {
    Real dx[CHUNK + 16], dy[CHUNK + 16], dz[CHUNK + 16];
    int count;

    Chunk(Real range_sq, const PairEntropyCandidates<Real> &all, int begin)
    {
      const int size = all.n - begin < CHUNK ? all.n - begin : CHUNK;
      count = keep_in_range<Real>(range_sq, {size, all.x + begin, all.y + begin, all.z + begin},
                                  {all.xi, all.yi, all.zi, all.self - begin}, {dx, dy, dz});
    }
  };

  // Adds 1, t, ..., t^7 as products of 1 or t, 1 or t^2, and 1 or t^4, which takes three steps of
  // vectors.
  inline __attribute__((always_inline)) void add_powers(double t, double *row)
  {
    static_assert(NMOMENTS == 8);
    constexpr double ones[3][8] = {
        {1, 0, 1, 0, 1, 0, 1, 0}, {1, 1, 0, 0, 1, 1, 0, 0}, {1, 1, 1, 1, 0, 0, 0, 0}};
    constexpr double powers[3][8] = {
        {0, 1, 0, 1, 0, 1, 0, 1}, {0, 0, 1, 1, 0, 0, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1}};
    const double t_2 = t * t, t_4 = t_2 * t_2;
#pragma omp simd
    for (int n = 0; n < 8; ++n)
      row[n] += (ones[0][n] + powers[0][n] * t) * (ones[1][n] + powers[1][n] * t_2) *
          (ones[2][n] + powers[2][n] * t_4);
  }

  template <class Real>
  int sum_moments(const PairEntropyConstants<Real> &c, const PairEntropyCandidates<Real> &all,
                  PowerRow<double> *moments)
  {
    int npartners = 0;
    for (int begin = 0; begin < all.n; begin += CHUNK) {
      const Chunk<Real> chunk(c.reach_sq, all, begin);
      Real t[CHUNK];
      int cell[CHUNK];
#pragma omp simd reduction(+ : npartners)
      for (int k = 0; k < chunk.count; ++k) {
        const Real r_sq =
            chunk.dx[k] * chunk.dx[k] + chunk.dy[k] * chunk.dy[k] + chunk.dz[k] * chunk.dz[k];
        const Real u = root(r_sq) * c.cells_per_distance;
        cell[k] = static_cast<int>(u);
        t[k] = (u - static_cast<Real>(cell[k])) - Real(0.5);
        npartners += r_sq <= c.cutoff_sq ? 1 : 0;
      }
      for (int k = 0; k < chunk.count; ++k) add_powers(t[k], moments[cell[k]].v);
    }
    return npartners;
  }

  template <class Real>
  void sum_forces(const PairEntropyConstants<Real> &c, const PairEntropyCandidates<Real> &all,
                  const PowerRow<Real> *coefficients, double *sums)
  {
    const Real *const table = coefficients->v;
    for (int begin = 0; begin < all.n; begin += CHUNK) {
      Chunk<Real> chunk(c.reach_sq, all, begin);
      // Whole vectors, because a scalar remainder would take as long. Vectors of length 0 add 0.
      constexpr int WIDTH = 64 / sizeof(Real);
      const int padded = (chunk.count + WIDTH - 1) / WIDTH * WIDTH;
      for (int k = chunk.count; k < padded; ++k) chunk.dx[k] = chunk.dy[k] = chunk.dz[k] = 0;
      Real gx = 0, gy = 0, gz = 0, vxx = 0, vyy = 0, vzz = 0, vxy = 0, vxz = 0, vyz = 0;
#pragma omp simd reduction(+ : gx, gy, gz, vxx, vyy, vzz, vxy, vxz, vyz)
      for (int k = 0; k < padded; ++k) {
        const Real dx = chunk.dx[k], dy = chunk.dy[k], dz = chunk.dz[k];
        const Real r_sq = dx * dx + dy * dy + dz * dz, r = root(r_sq);
        const Real u = r * c.cells_per_distance;
        const int cell = static_cast<int>(u);
        const Real t = (u - static_cast<Real>(cell)) - Real(0.5);
        const int row = NMOMENTS * cell;
        Real derivative = table[row + NMOMENTS - 2];
        for (int n = NMOMENTS - 3; n >= 0; --n) derivative = derivative * t + table[row + n];
        const Real over_r = derivative / (r > 0 ? r : Real(1));
        const Real fx = over_r * dx, fy = over_r * dy, fz = over_r * dz;
        gx += fx;
        gy += fy;
        gz += fz;
        vxx += fx * dx;
        vyy += fy * dy;
        vzz += fz * dz;
        vxy += fx * dy;
        vxz += fx * dz;
        vyz += fy * dz;
      }
      const Real chunk_sums[NDISTANCE_SUMS] = {gx, gy, gz, vxx, vyy, vzz, vxy, vxz, vyz};
      for (int k = 0; k < NDISTANCE_SUMS; ++k) sums[k] += chunk_sums[k];
    }
  }

}    // namespace

namespace GPUCOORD_ISA {

  void get_pair_entropy_kernels(PairEntropyKernels<float> &kernels)
  {
    kernels = {sum_moments<float>, sum_forces<float>};
  }
  void get_pair_entropy_kernels(PairEntropyKernels<double> &kernels)
  {
    kernels = {sum_moments<double>, sum_forces<double>};
  }

}    // namespace GPUCOORD_ISA

}    // namespace gpucoord
