// Part of GPUCOORD, GPL-2.0. Sums of spherical harmonics over the partners of an atom, and their
// gradients, on the host. Compiled once per instruction set, like
// ../../pairs/pair_kernels_host.cpp.
//
// LANES partners are evaluated together, one per element of the vectors. Their sums are added in
// double.

#include "order_kernels_host.h"

#include "../lanes_host.h"

#include <cstddef>

#ifndef GPUCOORD_ISA
#error "compile with -DGPUCOORD_ISA=name_of_the_instruction_set"
#endif

namespace gpucoord {

namespace {

  // Loads the next partners. Lanes without a partner have s = ds = 0.
  template <class Real> struct Loaded {
    Lanes<Real> x, y, z, s;
    int n;
    Loaded(const Partners<Real> &all, int first)
    {
      n = lanes_of<Real>(all.n, first);
      load(n, all.x + first, x);
      load(n, all.y + first, y);
      load(n, all.z + first, z);
      load(n, all.s + first, s);
    }
  };

  // Sets p[m] for m = 0 to l; p[l + 1] is 0.
  template <class Real>
  inline __attribute__((always_inline)) void set_legendre(const HarmonicTable<Real> &table,
                                                          const Lanes<Real> &z, Lanes<Real> *p)
  {
    FOR_EACH_LANE(w)
    {
      p[table.l + 1].v[w] = 0;
      p[table.l].v[w] = table.last;
    }
    for (int m = table.l - 1; m >= 0; --m) {
      FOR_EACH_LANE(w)
      {
        p[m].v[w] = table.next_factor[m] * z.v[w] * p[m + 1].v[w] -
            table.second_factor[m] * (1 - z.v[w] * z.v[w]) * p[m + 2].v[w];
      }
    }
  }

  template <class Real>
  void sum_harmonics(const HarmonicTable<Real> &table, const Partners<Real> &partners, double *q)
  {
    for (int first = 0; first < partners.n; first += LANES<Real>) {
      const Loaded<Real> at(partners, first);
      Lanes<Real> p[MAX_L + 2], term, c, s;
      set_legendre(table, at.z, p);
      FOR_EACH_LANE(w)
      {
        term.v[w] = at.s.v[w] * p[0].v[w];
        c.v[w] = at.s.v[w];    // s (x + iy)^m
        s.v[w] = 0;
      }
      q[0] += sum_of(term);
      for (int m = 1; m <= table.l; ++m) {
        Lanes<Real> sine_terms;
        FOR_EACH_LANE(w)
        {
          const Real next = c.v[w] * at.x.v[w] - s.v[w] * at.y.v[w];
          s.v[w] = c.v[w] * at.y.v[w] + s.v[w] * at.x.v[w];
          c.v[w] = next;
          term.v[w] = c.v[w] * p[m].v[w];
          sine_terms.v[w] = s.v[w] * p[m].v[w];
        }
        q[2 * m - 1] += sum_of(term);
        q[2 * m] += sum_of(sine_terms);
      }
    }
  }

  template <class Real>
  void sum_forces(const HarmonicTable<Real> &table, const Partners<Real> &partners, const Real *own,
                  const Real *row_numbers, double *sums)
  {
    const int columns = 2 * table.l + 2;
    const Real parity = table.l % 2 ? -1 : 1;
    for (int first = 0; first < partners.n; first += LANES<Real>) {
      const Loaded<Real> at(partners, first);
      Lanes<Real> a[2 * MAX_L + 2], r, ds;
      load(at.n, partners.r + first, r);
      load(at.n, partners.ds + first, ds);
      for (int k = 0; k < columns; ++k) {
        FOR_EACH_LANE(w)
        {
          a[k].v[w] = own[k];
        }
      }
      if (row_numbers)
        for (int w = 0; w < at.n; ++w) {
          const Real *const values =
              row_numbers + columns * static_cast<std::size_t>(partners.row[first + w]);
          for (int k = 0; k < columns - 1; ++k) a[k].v[w] += parity * values[k];
          a[columns - 1].v[w] += values[columns - 1];
        }

      Lanes<Real> p[MAX_L + 2], sum, gx, gy, gz, c, s;
      set_legendre(table, at.z, p);
      FOR_EACH_LANE(w)
      {
        sum.v[w] = a[0].v[w] * p[0].v[w];
        gx.v[w] = gy.v[w] = 0;
        gz.v[w] = a[0].v[w] * table.derivative_factor[0] * p[1].v[w];
        c.v[w] = 1;    // (x + iy)^(m-1)
        s.v[w] = 0;
      }
      for (int m = 1; m <= table.l; ++m) {
        FOR_EACH_LANE(w)
        {
          const Real ac = a[2 * m - 1].v[w], as = a[2 * m].v[w], mp = m * p[m].v[w];
          gx.v[w] += mp * (ac * c.v[w] + as * s.v[w]);
          gy.v[w] += mp * (as * c.v[w] - ac * s.v[w]);
          const Real next = c.v[w] * at.x.v[w] - s.v[w] * at.y.v[w];
          s.v[w] = c.v[w] * at.y.v[w] + s.v[w] * at.x.v[w];
          c.v[w] = next;
          const Real both = ac * c.v[w] + as * s.v[w];
          sum.v[w] += p[m].v[w] * both;
          gz.v[w] += table.derivative_factor[m] * p[m + 1].v[w] * both;
        }
      }
      // s/r multiplies the part of the gradient across d, and ds/dr is the gradient along d.
      Lanes<Real> terms[NFORCE_SUMS];
      FOR_EACH_LANE(w)
      {
        const Real x = at.x.v[w], y = at.y.v[w], z = at.z.v[w];
        const Real s_over_r = r.v[w] > 0 ? at.s.v[w] / r.v[w] : Real(0);
        const Real along = x * gx.v[w] + y * gy.v[w] + z * gz.v[w];
        const Real radial = ds.v[w] * (sum.v[w] - a[columns - 1].v[w]) - s_over_r * along;
        const Real hx = s_over_r * gx.v[w] + radial * x, hy = s_over_r * gy.v[w] + radial * y,
                   hz = s_over_r * gz.v[w] + radial * z;
        const Real dx = r.v[w] * x, dy = r.v[w] * y, dz = r.v[w] * z;
        terms[0].v[w] = hx;
        terms[1].v[w] = hy;
        terms[2].v[w] = hz;
        terms[3].v[w] = dx * hx;
        terms[4].v[w] = dy * hy;
        terms[5].v[w] = dz * hz;
        terms[6].v[w] = Real(0.5) * (dx * hy + dy * hx);
        terms[7].v[w] = Real(0.5) * (dx * hz + dz * hx);
        terms[8].v[w] = Real(0.5) * (dy * hz + dz * hy);
      }
      for (int k = 0; k < NFORCE_SUMS; ++k) sums[k] += sum_of(terms[k]);
    }
  }

}    // namespace

namespace GPUCOORD_ISA {

  void get_order_kernels(OrderKernels<float> &kernels)
  {
    kernels = {sum_harmonics<float>, sum_forces<float>};
  }
  void get_order_kernels(OrderKernels<double> &kernels)
  {
    kernels = {sum_harmonics<double>, sum_forces<double>};
  }

}    // namespace GPUCOORD_ISA

}    // namespace gpucoord
