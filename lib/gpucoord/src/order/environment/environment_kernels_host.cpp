// Part of GPUCOORD, GPL-2.0. Sums of Gaussians over the partners of an atom and the vectors of
// environments, and their gradients, on the host. Compiled once per instruction set, like
// ../../pairs/pair_kernels_host.cpp.
//
// LANES partners are evaluated together, one per element of the vectors. Their sums are added in
// double. Lengths are in units of 2 sigma.

#include "environment_kernels_host.h"

#include "../lanes_host.h"

#include "../../core/vector_math.h"

#include "gpucoord/export.h"

#include <cstddef>

#ifndef GPUCOORD_ISA
#error "compile with -DGPUCOORD_ISA=name_of_the_instruction_set"
#endif

namespace gpucoord {

namespace {

  // The vectors to LANES partners, starting with number 'first'. Lanes without a partner have
  // weight 0.
  template <class Real> struct LoadedVectors {
    Lanes<Real> x, y, z, one;    // one: 1; 0 in lanes without a partner
    int n;
    const int *row;
    LoadedVectors(const EnvironmentTable<Real> &table, const PartnerVectors<Real> &all, int first) :
        n(lanes_of<Real>(all.n, first)), row(all.row + first)
    {
      load(n, all.x + first, x);
      load(n, all.y + first, y);
      load(n, all.z + first, z);
      FOR_EACH_LANE(w)
      {
        x.v[w] *= table.scale;
        y.v[w] *= table.scale;
        z.v[w] *= table.scale;
        one.v[w] = w < n ? Real(1) : Real(0);
      }
    }
    // Returns 1 in lanes whose partner has the type of vector k, and 0 in the others. memory:
    // storage for the result
    const Lanes<Real> &may_be_at(const EnvironmentTable<Real> &table, int k, const int *types,
                                 Lanes<Real> &memory) const
    {
      if (!table.type || table.type[k] == 0) return one;
      for (int w = 0; w < LANES<Real>; ++w)
        memory.v[w] = w < n && types[row[w]] == table.type[k] ? Real(1) : Real(0);
      return memory;
    }
  };

  // Gaussians below e^MIN_EXPONENT are far below rounding and count as 0. Their products with
  // weights would be denormal numbers, which are many times slower.
  template <class Real> constexpr Real MIN_EXPONENT = sizeof(Real) == sizeof(float) ? -40 : -300;

  template <class Real> inline __attribute__((always_inline)) Real gaussian(Real x, Real y, Real z)
  {
    const Real exponent = -(x * x + y * y + z * z), value = exponential(exponent);
    return exponent < MIN_EXPONENT<Real> ? Real(0) : value;
  }

  template <class Real>
  void sum_environments(const EnvironmentTable<Real> &table, const PartnerVectors<Real> &partners,
                        const int *types, double *sums)
  {
    for (int first = 0; first < partners.n; first += LANES<Real>) {
      const LoadedVectors<Real> at(table, partners, first);
      for (int e = 0; e < table.n; ++e) {
        Lanes<Real> sum = {}, memory;
        for (int k = table.first[e]; k < table.first[e + 1]; ++k) {
          const Lanes<Real> &weight = at.may_be_at(table, k, types, memory);
          const Real kx = table.x[k], ky = table.y[k], kz = table.z[k];
          FOR_EACH_LANE(w)
          {
            const Real x = at.x.v[w] - kx, y = at.y.v[w] - ky, z = at.z.v[w] - kz;
            sum.v[w] += weight.v[w] * gaussian(x, y, z);
          }
        }
        sums[e] += sum_of(sum);
      }
    }
  }

  // Adds the sum of weight (d - r) exp(-|d - r|^2) to hx, hy, hz.
  template <class Real>
  inline __attribute__((always_inline)) void
  add_gradients(const LoadedVectors<Real> &at, Real rx, Real ry, Real rz, const Lanes<Real> &weight,
                Lanes<Real> &hx, Lanes<Real> &hy, Lanes<Real> &hz)
  {
    FOR_EACH_LANE(w)
    {
      const Real x = at.x.v[w] - rx, y = at.y.v[w] - ry, z = at.z.v[w] - rz;
      const Real term = weight.v[w] * gaussian(x, y, z);
      hx.v[w] += term * x;
      hy.v[w] += term * y;
      hz.v[w] += term * z;
    }
  }

  template <class Real>
  void sum_environment_forces(const EnvironmentTable<Real> &table,
                              const PartnerVectors<Real> &partners, const int *types, int own_type,
                              const Real *own, const Real *row_weights, double *sums)
  {
    for (int first = 0; first < partners.n; first += LANES<Real>) {
      const LoadedVectors<Real> at(table, partners, first);
      Lanes<Real> hx = {}, hy = {}, hz = {}, other, weight, memory;
      for (int e = 0; e < table.n; ++e) {
        other = {};
        if (row_weights)
          for (int w = 0; w < at.n; ++w)
            other.v[w] = row_weights[table.n * static_cast<std::size_t>(at.row[w]) + e];
        if (table.is_symmetric[e]) {    // phi(-d) = phi(d)
          FOR_EACH_LANE(w)
          {
            weight.v[w] = own[e] * at.one.v[w] + other.v[w];
          }
          for (int k = table.first[e]; k < table.first[e + 1]; ++k)
            add_gradients(at, table.x[k], table.y[k], table.z[k], weight, hx, hy, hz);
          continue;
        }
        if (own[e] != 0)
          for (int k = table.first[e]; k < table.first[e + 1]; ++k) {
            const Lanes<Real> &selected = at.may_be_at(table, k, types, memory);
            FOR_EACH_LANE(w)
            {
              weight.v[w] = own[e] * selected.v[w];
            }
            add_gradients(at, table.x[k], table.y[k], table.z[k], weight, hx, hy, hz);
          }
        if (row_weights)
          for (int k = table.first[e]; k < table.first[e + 1]; ++k)
            if (!table.type || table.type[k] == 0 || table.type[k] == own_type)
              add_gradients(at, -table.x[k], -table.y[k], -table.z[k], other, hx, hy, hz);
      }
      // The gradient is -2 scale h, and the vector to the partner in the caller's units is x/scale,
      // so that their product is -2 x h.
      Lanes<Real> terms[NENVIRONMENT_SUMS];
      FOR_EACH_LANE(w)
      {
        const Real x = at.x.v[w], y = at.y.v[w], z = at.z.v[w];
        terms[0].v[w] = hx.v[w];
        terms[1].v[w] = hy.v[w];
        terms[2].v[w] = hz.v[w];
        terms[3].v[w] = x * hx.v[w];
        terms[4].v[w] = y * hy.v[w];
        terms[5].v[w] = z * hz.v[w];
        terms[6].v[w] = y * hx.v[w];
        terms[7].v[w] = z * hx.v[w];
        terms[8].v[w] = z * hy.v[w];
      }
      for (int k = 0; k < NENVIRONMENT_SUMS; ++k)
        sums[k] += -2.0 * (k < 3 ? static_cast<double>(table.scale) : 1.0) * sum_of(terms[k]);
    }
  }

}    // namespace

namespace GPUCOORD_ISA {

  GPUCOORD_TEST_API void get_environment_kernels(EnvironmentKernels<float> &kernels)
  {
    kernels = {sum_environments<float>, sum_environment_forces<float>};
  }
  GPUCOORD_TEST_API void get_environment_kernels(EnvironmentKernels<double> &kernels)
  {
    kernels = {sum_environments<double>, sum_environment_forces<double>};
  }

}    // namespace GPUCOORD_ISA

}    // namespace gpucoord
