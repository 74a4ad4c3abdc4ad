// Part of GPUCOORD, GPL-2.0. The kernels of order parameters of one l, over partners in range
// (order_partners.cu).
//
// A thread keeps all m of a partner in registers. Loads of partners' numbers limit the kernels.

#ifndef GPUCOORD_ORDER_KERNELS_CUH
#define GPUCOORD_ORDER_KERNELS_CUH

#include "../row_loops.cuh"
#include "order_arguments_cuda.h"

#include <utility>

namespace gpucoord {

// Loads a row of order numbers.
template <int L, class Real> __device__ void load_row(const Real *row, Real (&to)[ORDER_STRIDE<L>])
{
  const Four<Real> *const fours = reinterpret_cast<const Four<Real> *>(row);
#pragma unroll
  for (int k = 0; k < ORDER_STRIDE<L> / 4; ++k) {
    const Four<Real> four = fours[k];
    for (int u = 0; u < 4; ++u) to[4 * k + u] = four.v[u];
  }
}
template <int L, class Real>
__device__ void load_row(const Real *rows, int k, bool valid, Real (&to)[ORDER_STRIDE<L>])
{
  if (valid)
    load_row<L>(rows + static_cast<std::size_t>(ORDER_STRIDE<L>) * k, to);
  else
    for (Real &element : to) element = 0;
}

template <int N, class Real> __device__ Real product_of(const Real *a, const Real *b)
{
  Real sum = 0;
#pragma unroll
  for (int k = 0; k < N; ++k) sum += a[k] * b[k];
  return sum;
}

template <class Real> struct Bond {
  Real x, y, z;         // unit vector from the atom to the partner; 0 if r is 0
  Real r, inverse_r;    // distance; 0 if r is 0
};

// per_unit: 1/unit
template <class Real, class Point>
__device__ Bond<Real> bond_to(const Point &atom, const Point &partner, Real unit, Real per_unit)
{
  Real dx, dy, dz;
  difference(atom, partner, dx, dy, dz);
  const Real r_sq = dx * dx + dy * dy + dz * dz;
  const Real inverse = r_sq > 0 ? inverse_sqrt(r_sq) : Real(0);
  return {dx * inverse, dy * inverse, dz * inverse, unit * (r_sq * inverse), per_unit * inverse};
}

// Calls work(bond, index of the point, element, k) for the partners in range of this thread. k:
// number of the partner in the element
template <class Real, class Work>
__device__ void for_each_bond(const OrderArguments<Real> &arg, const RowPosition &at,
                              const Work &work)
{
  using Point = typename PointOf<Real>::Type;
  const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
  const Real unit = std::is_same<Real, float>::value ? arg.unit : 1.0,
             per_unit = std::is_same<Real, float>::value ? arg.per_unit : 1.0;
  int left = arg.partners.count[at.tile_thread];
  if (left == 0) return;
  const Point atom = points[at.point];
  for (std::int64_t element = at.element; left > 0; left -= FOUR, element += 32) {
    const int4 next_points = arg.partners.point[element];
    Point next = points[next_points.x];
    for_each_of_four(left, [&](int k) {
      const Point partner = next;
      if (k + 1 < min(left, FOUR)) next = points[part(next_points, k + 1)];
      work(bond_to(atom, partner, unit, per_unit), part(next_points, k), element, k);
    });
  }
}

// Sets p[m] for m = 0 to L (harmonics.h).
template <int L, class Real>
__device__ void set_legendre(const HarmonicTable<Real> &table, Real z, Real (&p)[L + 1])
{
  p[L] = table.last;
  Real after = 0;
#pragma unroll
  for (int m = L - 1; m >= 0; --m) {
    p[m] = table.next_factor[m] * z * p[m + 1] - table.second_factor[m] * (1 - z * z) * after;
    after = p[m + 1];
  }
}

// A smaller sum of weights counts as 0, because products with its inverse could overflow.
template <class Real>
constexpr Real SMALLEST_WEIGHT = std::is_same<Real, float>::value ? 1e-30 : 1e-290;

template <int L, class Real>
__global__ void __launch_bounds__(GATHER_THREADS)
    sum_order_harmonics(const __grid_constant__ OrderArguments<Real> arg)
{
  constexpr int SIZE = 2 * L + 1, STRIDE = ORDER_STRIDE<L>;
  Real q[SIZE], n;
  wait_for_previous_kernel();
  for_each_row(
      arg.rows,
      [&](const RowPosition &at) {
        n = 0;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) q[k] = 0;
        for_each_bond(arg, at, [&](const Bond<Real> &d, int, std::int64_t element, int k) {
          Real p[L + 1];
          set_legendre<L>(arg.harmonics, d.z, p);
          Real c = part(arg.partners.s[element], k), s = 0;    // s(r) (x + iy)^m
          n += c;
          q[0] += c * p[0];
#pragma unroll
          for (int m = 1; m <= L; ++m) {
            const Real next = c * d.x - s * d.y;
            s = c * d.y + s * d.x;
            c = next;
            q[2 * m - 1] += c * p[m];
            q[2 * m] += s * p[m];
          }
        });
      },
      [&](const RowPosition &at, int lanes) {
        n = add_row_lanes(n, lanes);
        if (!(n > SMALLEST_WEIGHT<Real>) ) n = 0;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) q[k] = add_row_lanes(q[k], lanes);
        if (!at.valid || at.lane != 0 || at.row >= arg.rows.nvalue) return;
        const int atom = atom_of(arg.rows, at);
        double norm_sq = 0.0;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) norm_sq += static_cast<double>(q[k]) * q[k];
        const double length = sqrt(norm_sq), norm = n != 0 ? length / n : 0.0;
        if (arg.value) arg.value[atom] = norm;
        arg.weight[atom] = n;
        if (n != 0 && *arg.any_partners == 0) *arg.any_partners = 1;    // same for all threads
        Real factor = n != 0 ? 1 / n : Real(0);
        if (arg.order == OrderKind::GLOBAL) factor = 1;
        if (arg.norm) {
          arg.norm[atom] = static_cast<Real>(norm);
          factor = norm > arg.floor ? static_cast<Real>(1.0 / length) : Real(0);
        }
        Real *const to = arg.numbers + static_cast<std::size_t>(STRIDE) * atom;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) to[k] = factor * q[k];
        to[SIZE] = n;
      });
}

// Pass 2 of AVERAGE: the mean of q.
template <int L, class Real>
__global__ void __launch_bounds__(GATHER_THREADS)
    average_order(const __grid_constant__ OrderArguments<Real> arg)
{
  constexpr int SIZE = 2 * L + 1, STRIDE = ORDER_STRIDE<L>;
  Real sum[SIZE], n;
  wait_for_previous_kernel();
  for_each_row(
      arg.rows,
      [&](const RowPosition &at) {
        n = 0;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) sum[k] = 0;
        std::int64_t element = at.element;
        for (int left = arg.partners.count[at.tile_thread]; left > 0; left -= FOUR, element += 32) {
          const int4 next_points = arg.partners.point[element];
          const Four<Real> s = arg.partners.s[element];
          for_each_of_four(left, [&](int k) {
            const Real s_j = part(s, k);
            Real q[STRIDE];
            load_row<L>(arg.point_numbers, part(next_points, k), true, q);
            n += s_j;
#pragma unroll
            for (int m = 0; m < SIZE; ++m) sum[m] += s_j * q[m];
          });
        }
      },
      [&](const RowPosition &at, int lanes) {
        n = add_row_lanes(n, lanes);
#pragma unroll
        for (int k = 0; k < SIZE; ++k) sum[k] = add_row_lanes(sum[k], lanes);
        if (!at.valid || at.lane != 0) return;
        const int atom = atom_of(arg.rows, at);
        Real own[STRIDE];
        load_row<L>(arg.point_numbers, at.point, true, own);
        Real *const to = arg.numbers + static_cast<std::size_t>(STRIDE) * atom;
        double norm_sq = 0.0;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) {
          const Real mean = (own[k] + sum[k]) / (1 + n);
          to[k] = mean;
          norm_sq += static_cast<double>(mean) * mean;
        }
        arg.value[atom] = sqrt(norm_sq);
      });
}

// Pass 2 of DOT and CONNECTIONS: products of u; for DOT also v.
template <int L, class Real>
__global__ void __launch_bounds__(GATHER_THREADS)
    multiply_order(const __grid_constant__ OrderArguments<Real> arg)
{
  constexpr int SIZE = 2 * L + 1, STRIDE = ORDER_STRIDE<L>;
  Real own[STRIDE], sum;
  wait_for_previous_kernel();
  for_each_row(
      arg.rows,
      [&](const RowPosition &at) {
        sum = 0;
        load_row<L>(arg.point_numbers, at.point, at.valid, own);
        std::int64_t element = at.element;
        for (int left = arg.partners.count[at.tile_thread]; left > 0; left -= FOUR, element += 32) {
          const int4 next_points = arg.partners.point[element];
          const Four<Real> s = arg.partners.s[element];
          Four<Real> products = {};
          for_each_of_four(left, [&](int k) {
            Real u[STRIDE];
            load_row<L>(arg.point_numbers, part(next_points, k), true, u);
            const Real product = product_of<SIZE>(own, u);
            sum += part(s, k) * product;
#pragma unroll
            for (int c = 0; c < FOUR; ++c)
              if (c == k) products.v[c] = product;
          });
          arg.partners.product[element] = products;
        }
      },
      [&](const RowPosition &at, int lanes) {
        if (arg.order != OrderKind::DOT) return;
        sum = add_row_lanes(sum, lanes);
        if (!at.valid || at.lane != 0) return;
        const int atom = atom_of(arg.rows, at);
        const Real n = arg.weight[atom];
        arg.value[atom] = n != 0 ? sum / n : Real(0);
      });
}

// Forces on the atom of a row that act through s_ij.
template <class Real> struct DirectForces {
  static constexpr int COLUMNS = 10;
  Real v[COLUMNS];

  __device__ void clear()
  {
    for (Real &sum : v) sum = 0;
  }
  // Adds the terms of a partner: dS/dx is minus the sum of the forces along d, and the virial is
  // minus d (x) force. dSds: dS/ds_ij, summed over both ends of the pair
  __device__ void add(const Bond<Real> &d, Real ds, Real dSds)
  {
    const Real force = dSds * ds, virial = force * d.r;
    v[1] -= force * d.x;
    v[2] -= force * d.y;
    v[3] -= force * d.z;
    v[4] -= virial * d.x * d.x;
    v[5] -= virial * d.y * d.y;
    v[6] -= virial * d.z * d.z;
    v[7] -= virial * d.x * d.y;
    v[8] -= virial * d.x * d.z;
    v[9] -= virial * d.y * d.z;
  }
  // All lanes of a warp must call this function.
  __device__ void store(const OrderArguments<Real> &arg, const RowPosition &at, int lanes)
  {
#pragma unroll
    for (int k = 1; k < COLUMNS; ++k) {
      if (k > 3 && !arg.wants_virial) break;
      v[k] = add_row_lanes(v[k], lanes);
      if (at.valid && at.lane == 0)
        arg.direct[k * static_cast<std::size_t>(arg.rows.n) + at.row] = v[k];
    }
  }
};

// Pass 3 of AVERAGE.
template <int L, class Real>
__global__ void __launch_bounds__(GATHER_THREADS)
    average_order_back(const __grid_constant__ OrderArguments<Real> arg)
{
  constexpr int SIZE = 2 * L + 1, STRIDE = ORDER_STRIDE<L>;
  Real own[STRIDE], back[STRIDE], lambda[SIZE];    // own: q; back: dS/dq of the mean
  DirectForces<Real> direct;
  wait_for_previous_kernel();
  for_each_row(
      arg.rows,
      [&](const RowPosition &at) {
        load_row<L>(arg.point_numbers, at.point, at.valid, own);
        load_row<L>(arg.back, at.point, at.valid, back);
        direct.clear();
#pragma unroll
        for (int k = 0; k < SIZE; ++k) lambda[k] = 0;
        for_each_bond(arg, at, [&](const Bond<Real> &d, int point, std::int64_t element, int k) {
          const Real s = part(arg.partners.s[element], k);
          Real numbers_j[STRIDE];
          load_row<L>(arg.point_numbers, point, true, numbers_j);
          Real dSds = product_of<SIZE>(back, numbers_j) - back[SIZE];
          load_row<L>(arg.back, point, true, numbers_j);
          dSds += product_of<SIZE>(own, numbers_j) - numbers_j[SIZE];
#pragma unroll
          for (int m = 0; m < SIZE; ++m) lambda[m] += s * numbers_j[m];
          direct.add(d, part(arg.partners.ds[element], k), dSds);
        });
      },
      [&](const RowPosition &at, int lanes) {
#pragma unroll
        for (int k = 0; k < SIZE; ++k) lambda[k] = add_row_lanes(lambda[k], lanes);
        direct.store(arg, at, lanes);
        if (!at.valid || at.lane != 0) return;
        const int atom = atom_of(arg.rows, at);
        const Real n = arg.weight[atom], over_n = n != 0 ? 1 / n : Real(0);
        Real product = 0;
        Real *const to = arg.numbers + static_cast<std::size_t>(STRIDE) * atom;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) {
          const Real whole = over_n * (back[k] + lambda[k]);
          to[k] = whole;
          product += whole * own[k];
        }
        to[SIZE] = product;
      });
}

// Pass 3 of DOT and CONNECTIONS.
template <int L, class Real>
__global__ void __launch_bounds__(GATHER_THREADS)
    multiply_order_back(const __grid_constant__ OrderArguments<Real> arg)
{
  constexpr int SIZE = 2 * L + 1, STRIDE = ORDER_STRIDE<L>;
  Real own[STRIDE], lambda[SIZE];    // own: u and its two further numbers
  DirectForces<Real> direct;
  wait_for_previous_kernel();
  for_each_row(
      arg.rows,
      [&](const RowPosition &at) {
        load_row<L>(arg.point_numbers, at.point, at.valid, own);
        direct.clear();
#pragma unroll
        for (int k = 0; k < SIZE; ++k) lambda[k] = 0;
        for_each_bond(arg, at, [&](const Bond<Real> &d, int point, std::int64_t element, int k) {
          Real numbers_j[STRIDE];
          load_row<L>(arg.point_numbers, point, true, numbers_j);
          const Real both = own[SIZE] + numbers_j[SIZE], h = part(arg.partners.product[element], k),
                     derivative = arg.partners.derivative
              ? part(arg.partners.derivative[element], k)
              : Real(1);
          const Real factor = both * part(arg.partners.s[element], k) * derivative;
#pragma unroll
          for (int m = 0; m < SIZE; ++m) lambda[m] += factor * numbers_j[m];
          direct.add(d, part(arg.partners.ds[element], k),
                     both * h - own[SIZE + 1] - numbers_j[SIZE + 1]);
        });
      },
      [&](const RowPosition &at, int lanes) {
#pragma unroll
        for (int k = 0; k < SIZE; ++k) lambda[k] = add_row_lanes(lambda[k], lanes);
        direct.store(arg, at, lanes);
        if (!at.valid || at.lane != 0) return;
        const int atom = atom_of(arg.rows, at);
        const Real n = arg.weight[atom], norm = arg.norm[atom];
        // Chain rule from u to q, u = q/|q|.
        const Real along = product_of<SIZE>(lambda, own);
        const Real factor = n != 0 && norm > arg.floor ? 1 / (n * norm) : Real(0);
        Real product = 0;
        Real *const to = arg.numbers + static_cast<std::size_t>(STRIDE) * atom;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) {
          const Real whole = factor * (lambda[k] - along * own[k]);
          to[k] = whole;
          product += whole * own[k];
        }
        to[SIZE] = product * norm;
      });
}

template <int L, class Real, unsigned WANT>
__global__ void __launch_bounds__(GATHER_THREADS)
    sum_order_forces(const __grid_constant__ OrderForceArguments<Real> arg)
{
  constexpr int SIZE = 2 * L + 1, STRIDE = ORDER_STRIDE<L>;
  constexpr int NSUMS = WANT & VIRIAL ? 10 : 4;
  constexpr Real PARITY = L % 2 ? -1 : 1;
  const OrderArguments<Real> &order = arg.order;
  Real own[STRIDE], g[NSUMS];
  WarpSums mine = {};
  wait_for_previous_kernel();
  for_each_row(
      order.rows,
      [&](const RowPosition &at) {
        const bool in_a = at.row < order.rows.nvalue, in_b = !arg.has_two_groups || !in_a;
        if (arg.uniform)
          load_row<L>(arg.uniform, 0, at.valid && in_a, own);
        else
          load_row<L>(order.point_numbers, at.point, at.valid, own);
        const Real scale_j = in_b || !arg.uniform ? Real(1) : Real(0);
        for (Real &sum : g) sum = 0;
        for_each_bond(order, at, [&](const Bond<Real> &d, int point, std::int64_t element, int k) {
          Real numbers_j[STRIDE];
          load_row<L>(arg.uniform ? arg.uniform : order.point_numbers, arg.uniform ? 0 : point,
                      true, numbers_j);
          Real p[L + 1];
          set_legendre<L>(order.harmonics, d.z, p);
          const Real a_0 = own[0] + PARITY * scale_j * numbers_j[0];
          Real sum = a_0 * p[0], gx = 0, gy = 0,
               gz = a_0 * order.harmonics.derivative_factor[0] * p[1];
          Real c = 1, s = 0;    // (x + iy)^(m-1)
#pragma unroll
          for (int m = 1; m <= L; ++m) {
            const Real ac = own[2 * m - 1] + PARITY * scale_j * numbers_j[2 * m - 1],
                       as = own[2 * m] + PARITY * scale_j * numbers_j[2 * m], mp = m * p[m];
            gx += mp * (ac * c + as * s);
            gy += mp * (as * c - ac * s);
            const Real next = c * d.x - s * d.y;
            s = c * d.y + s * d.x;
            c = next;
            const Real both = ac * c + as * s;
            sum += p[m] * both;
            if (m < L) gz += order.harmonics.derivative_factor[m] * p[m + 1] * both;
          }
          const Real s_over_r = part(order.partners.s[element], k) * d.inverse_r;
          const Real along = d.x * gx + d.y * gy + d.z * gz;
          const Real radial =
              part(order.partners.ds[element], k) * (sum - own[SIZE] - scale_j * numbers_j[SIZE]) -
              s_over_r * along;
          const Real hx = s_over_r * gx + radial * d.x, hy = s_over_r * gy + radial * d.y,
                     hz = s_over_r * gz + radial * d.z;
          g[1] -= hx;
          g[2] -= hy;
          g[3] -= hz;
          if constexpr (NSUMS == 10) {
            const Real dx = d.r * d.x, dy = d.r * d.y, dz = d.r * d.z;
            g[4] -= dx * hx;
            g[5] -= dy * hy;
            g[6] -= dz * hz;
            g[7] -= Real(0.5) * (dx * hy + dy * hx);
            g[8] -= Real(0.5) * (dx * hz + dz * hx);
            g[9] -= Real(0.5) * (dy * hz + dz * hy);
          }
        });
      },
      [&](const RowPosition &at, int lanes) {
        RowSums<NSUMS> sums = {arg.columns};
        sums.v[0] = 0.0;
#pragma unroll
        for (int k = 1; k < NSUMS; ++k) sums.v[k] = add_row_lanes(g[k], lanes);
        if (!at.valid || at.lane != 0) return;
        if (order.direct)
#pragma unroll
          for (int k = 1; k < NSUMS; ++k)
            sums.v[k] += order.direct[k * static_cast<std::size_t>(order.rows.n) + at.row];
        store_row<WANT>(arg.out, at.row, sums, mine);
      });
  add_up<WANT, ORDER_WARPS>(arg.out, mine);
}

namespace order_launch {

  template <int L, class Real> OrderLaunchers<Real> launchers()
  {
    using Arguments = const OrderArguments<Real> &;
    OrderLaunchers<Real> all;
    all.sum_harmonics = [](Arguments arg, cudaStream_t stream) {
      launch_over_rows("launching sum_order_harmonics", sum_order_harmonics<L, Real>, arg, arg.rows,
                       stream);
    };
    all.average = [](Arguments arg, cudaStream_t stream) {
      launch_over_rows("launching average_order", average_order<L, Real>, arg, arg.rows, stream);
    };
    all.multiply = [](Arguments arg, cudaStream_t stream) {
      launch_over_rows("launching multiply_order", multiply_order<L, Real>, arg, arg.rows, stream);
    };
    all.average_back = [](Arguments arg, cudaStream_t stream) {
      launch_over_rows("launching average_order_back", average_order_back<L, Real>, arg, arg.rows,
                       stream);
    };
    all.multiply_back = [](Arguments arg, cudaStream_t stream) {
      launch_over_rows("launching multiply_order_back", multiply_order_back<L, Real>, arg, arg.rows,
                       stream);
    };
    all.sum_forces = [](const OrderForceArguments<Real> &arg, unsigned want, cudaStream_t stream) {
      const char *const what = "launching sum_order_forces";
      if (want & VIRIAL)
        launch_over_rows(what, sum_order_forces<L, Real, DERIVATIVES | VIRIAL>, arg, arg.order.rows,
                         stream);
      else
        launch_over_rows(what, sum_order_forces<L, Real, DERIVATIVES>, arg, arg.order.rows, stream);
    };
    return all;
  }

  template <class Real, int... INDICES>
  OrderLaunchers<Real> launchers_of(int l, std::integer_sequence<int, INDICES...>)
  {
    static const OrderLaunchers<Real> all[] = {launchers<MIN_L + INDICES, Real>()...};
    return all[l - MIN_L];
  }

}    // namespace order_launch

}    // namespace gpucoord

#endif
