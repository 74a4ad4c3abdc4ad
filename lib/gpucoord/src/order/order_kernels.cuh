// Part of GPUCOORD, GPL-2.0. The kernels of order parameters over partner lists kept on the GPU.
//
// Launch: GATHER_THREADS threads per block and at most MAX_PARTNER_BLOCKS blocks, whose warps take
// the tiles of rows in turn, as sum_partners does. Each thread takes one partner of its row at a
// time, and all m of it. Shared memory: none but that of add_up().
//
// The formula of s is chosen at run time: loads of points and of the numbers of partners limit
// these kernels, and one kernel for each formula and each l would take hours to compile.

#ifndef GPUCOORD_ORDER_KERNELS_CUH
#define GPUCOORD_ORDER_KERNELS_CUH

#include "atom_formulas.h"
#include "order_arguments_cuda.h"

#include "../gpu/cuda_error.h"
#include "../pairs/partner_kernels.cuh"
#include "../switching/formulas.cuh"

#include <utility>

namespace gpucoord {

template <class Real> struct SwitchValue {
  Real s, dfunc;    // dfunc: (ds/dr)/r
};

// A call: inlined, all formulas would take the registers of each kernel.
template <class Real>
__device__ __noinline__ SwitchValue<Real> evaluate_form(const OrderFunction<Real> *f, Real r_sq)
{
  SwitchValue<Real> found = {};
  switch (f->form) {
#define GPUCOORD_FORM(KIND, FORM, FORMULA)                              \
  case SwitchForm::FORM:                                                \
    formula::FORM::eval_bare(f->constants, r_sq, found.s, found.dfunc); \
    found.dfunc *= formula::FORM::scale(f->constants);                  \
    break;
#include "gpucoord/switch_functions.def"
  }
  return found;
}

// A partner in range.
template <class Real> struct OrderPartner {
  int point;
  Real x, y, z;    // unit vector from the atom; 0 if r is 0
  Real r, s, ds;
};

// The rows that a thread takes part in: lanes of a warp share the partners of a row.
template <class Real, class Work, class End>
__device__ void for_each_row(const OrderArguments<Real> &arg, Work &&work, End &&end)
{
  const int lanes = arg.rows.lanes, rows_a_tile = 32 / lanes;
  const int warp = threadIdx.x / 32, thread = threadIdx.x % 32, a = thread / lanes,
            lane = thread % lanes;
  const int ntiles = (arg.rows.n + rows_a_tile - 1) / rows_a_tile;
  for (int tile = blockIdx.x * PARTNER_WARPS + warp; tile < ntiles;
       tile += gridDim.x * PARTNER_WARPS) {
    const int r = tile * rows_a_tile + a;
    const bool valid = r < arg.rows.n;
    const int point = !valid ? 0 : arg.rows.point ? arg.rows.point[r] : r;
    work(valid, r, point, tile, lane);
    end(valid && lane == 0, r, point, lanes);
  }
}

// Calls add(partner) for the partners of a row in range that this thread takes.
template <class Real, class Add>
__device__ void for_each_partner(const OrderArguments<Real> &arg, int r, int point, int tile,
                                 int lane, Add &&add)
{
  using Point = typename PointOf<Real>::Type;
  const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
  const Real unit = std::is_same<Real, float>::value ? arg.unit : 1.0;
  const int lanes = arg.rows.lanes, thread = threadIdx.x % 32;
  const Point atom = points[point];
  const std::int64_t begin = arg.rows.tile ? arg.rows.tile[tile] : tile * arg.rows.stride;
  const int4 *partner = arg.rows.partner + begin + thread;
  int left = arg.rows.count[r] - lane;
  int4 next = {};
  if (left > 0) next = load_once(partner);
  while (left > 0) {
    const int4 number = next;
    partner += 32;
    if (left > FOUR * lanes) next = load_once(partner);
    Point after = points[number.x];
#pragma unroll 1
    for (int u = 0; u < FOUR && left > 0; ++u, left -= lanes) {
      const Point at = after;
      after = points[u == 0 ? number.y : u == 1 ? number.z : number.w];
      Real dx, dy, dz;
      difference(atom, at, dx, dy, dz);
      dx *= unit;
      dy *= unit;
      dz *= unit;
      const Real r_sq = dx * dx + dy * dy + dz * dz;
      const OrderFunction<Real> &f =
          arg.by_class ? arg.by_class[class_of(atom) * arg.nclasses + class_of(at)] : arg.function;
      if (!(r_sq <= f.constants.dmax_sq)) continue;
      const SwitchValue<Real> found = evaluate_form(&f, r_sq);
      const Real r = sqrt(r_sq), inverse = r_sq > 0 ? 1 / r : Real(0);
      add(OrderPartner<Real>{u == 0       ? number.x
                                 : u == 1 ? number.y
                                 : u == 2 ? number.z
                                          : number.w,
                             dx * inverse, dy * inverse, dz * inverse, r, found.s,
                             found.dfunc * r});
    }
  }
}

template <class Real> __device__ Real add_row_lanes(Real value, int lanes)
{
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(ALL_LANES, value, distance);
  return value;
}

// Sets p[m] for m = 0 to L (harmonics.h).
template <int L, class Real>
__device__ void set_legendre(const HarmonicTable<Real> &table, Real z, Real (&p)[L + 1])
{
  p[L] = table.last;
  Real after = 0;
#pragma unroll
  for (int m = L - 1; m >= 0; --m) {
    p[m] = table.of_next[m] * z * p[m + 1] - table.of_second[m] * (1 - z * z) * after;
    after = p[m + 1];
  }
}

template <int L, class Real>
__global__ void __launch_bounds__(GATHER_THREADS)
    sum_order_harmonics(const __grid_constant__ OrderArguments<Real> arg)
{
  constexpr int SIZE = 2 * L + 1, STRIDE = ORDER_STRIDE<L>;
  Real q[SIZE], n;
  wait_for_kernel_before();
  for_each_row(
      arg,
      [&](bool valid, int r, int point, int tile, int lane) {
        n = 0;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) q[k] = 0;
        if (!valid) return;
        for_each_partner(arg, r, point, tile, lane, [&](const OrderPartner<Real> &j) {
          Real p[L + 1];
          set_legendre<L>(arg.harmonics, j.z, p);
          Real c = j.s, s = 0;    // s(r) (x + iy)^m
          n += j.s;
          q[0] += c * p[0];
#pragma unroll
          for (int m = 1; m <= L; ++m) {
            const Real next = c * j.x - s * j.y;
            s = c * j.y + s * j.x;
            c = next;
            q[2 * m - 1] += c * p[m];
            q[2 * m] += s * p[m];
          }
        });
      },
      [&](bool stores, int r, int, int lanes) {
        n = add_row_lanes(n, lanes);
#pragma unroll
        for (int k = 0; k < SIZE; ++k) q[k] = add_row_lanes(q[k], lanes);
        if (!stores || r >= arg.rows.nvalue) return;
        const int atom = arg.rows.atom ? arg.rows.atom[r] : r;
        double norm_sq = 0.0;
        for (int k = 0; k < SIZE; ++k) norm_sq += static_cast<double>(q[k]) * q[k];
        const double of_sum = sqrt(norm_sq),
                     norm = n != 0 ? of_sum / fabs(static_cast<double>(n)) : 0.0;
        arg.value[atom] = norm;
        Real factor = n != 0 ? 1 / n : Real(0);
        if (arg.order == OrderKind::GLOBAL) factor = 1;
        if (arg.norm) {
          arg.norm[atom] = static_cast<Real>(norm);
          factor = norm > arg.floor ? static_cast<Real>(1.0 / of_sum) : Real(0);
        }
        Real *const to = arg.numbers + static_cast<std::size_t>(STRIDE) * atom;
        for (int k = 0; k < SIZE; ++k) to[k] = factor * q[k];
        to[SIZE] = n;
      });
}

// 1 - sigma of CONNECTIONS, or the product itself.
template <class Real>
__device__ double connect(const OrderArguments<Real> &arg, double product, double &slope)
{
  double h = product;
  slope = 1.0;
  if (arg.order == OrderKind::CONNECTIONS)
    threshold(true, arg.connection.constants.d0, product, h, slope,
              [&](double x, double &sigma, double &derivative) {
                sigma = derivative = 0.0;
                if (!(x * x <= arg.connection.constants.dmax_sq)) return;
                const SwitchValue<double> found = evaluate_form(&arg.connection, x * x);
                sigma = found.s;
                derivative = found.dfunc * x;
              });
  return h;
}

template <int SIZE, class Real> __device__ Real product_of(const Real (&a)[SIZE], const Real *b)
{
  Real sum = 0;
#pragma unroll
  for (int k = 0; k < SIZE; ++k) sum += a[k] * b[k];
  return sum;
}

template <int L, class Real>
__global__ void __launch_bounds__(GATHER_THREADS)
    sum_order_over_partners(const __grid_constant__ OrderArguments<Real> arg)
{
  constexpr int SIZE = 2 * L + 1, STRIDE = ORDER_STRIDE<L>;
  const bool is_average = arg.order == OrderKind::AVERAGE;
  Real own[SIZE], sum[SIZE], n;
  double connected;
  wait_for_kernel_before();
  for_each_row(
      arg,
      [&](bool valid, int r, int point, int tile, int lane) {
        n = 0;
        connected = 0.0;
        const Real *const of_own = arg.of_points + static_cast<std::size_t>(STRIDE) * point;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) {
          own[k] = valid ? of_own[k] : Real(0);
          sum[k] = 0;
        }
        if (!valid) return;
        for_each_partner(arg, r, point, tile, lane, [&](const OrderPartner<Real> &j) {
          const Real *const of_j = arg.of_points + static_cast<std::size_t>(STRIDE) * j.point;
          n += j.s;
          if (is_average) {
#pragma unroll
            for (int k = 0; k < SIZE; ++k) sum[k] += j.s * of_j[k];
          } else {
            double slope;
            connected += j.s * connect(arg, product_of<SIZE>(own, of_j), slope);
          }
        });
      },
      [&](bool stores, int r, int, int lanes) {
        n = add_row_lanes(n, lanes);
        connected = add_row_lanes(connected, lanes);
#pragma unroll
        for (int k = 0; k < SIZE; ++k) sum[k] = add_row_lanes(sum[k], lanes);
        if (!stores) return;
        const int atom = arg.rows.atom ? arg.rows.atom[r] : r;
        if (!is_average) {
          arg.value[atom] = arg.order == OrderKind::DOT ? (n != 0 ? connected / n : 0.0)
                                                        : connected;
          return;
        }
        Real *const to = arg.numbers + static_cast<std::size_t>(STRIDE) * atom;
        double norm_sq = 0.0;
        for (int k = 0; k < SIZE; ++k) {
          const Real mean = (own[k] + sum[k]) / (1 + n);
          to[k] = mean;
          norm_sq += static_cast<double>(mean) * mean;
        }
        to[SIZE] = n;
        arg.value[atom] = sqrt(norm_sq);
      });
}

template <int L, class Real>
__global__ void __launch_bounds__(GATHER_THREADS)
    sum_order_back(const __grid_constant__ OrderArguments<Real> arg)
{
  constexpr int SIZE = 2 * L + 1, STRIDE = ORDER_STRIDE<L>, COLUMNS = 10;
  const bool is_average = arg.order == OrderKind::AVERAGE;
  // of AVERAGE: q, and dS/dq of the mean; of the others u, with its two numbers
  Real own[SIZE], back[SIZE], lambda[SIZE], own_a, own_b, n;
  double direct[COLUMNS];
  wait_for_kernel_before();
  for_each_row(
      arg,
      [&](bool valid, int r, int point, int tile, int lane) {
        const std::size_t place = static_cast<std::size_t>(STRIDE) * point;
        const Real *const of_back = (is_average ? arg.back : arg.of_points) + place;
        own_a = valid ? of_back[SIZE] : Real(0);
        own_b = valid ? of_back[SIZE + 1] : Real(0);
        n = 0;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) {
          own[k] = valid ? arg.of_points[place + k] : Real(0);
          back[k] = valid && is_average ? of_back[k] : Real(0);
          lambda[k] = 0;
        }
        for (double &d : direct) d = 0.0;
        if (!valid) return;
        for_each_partner(arg, r, point, tile, lane, [&](const OrderPartner<Real> &j) {
          const std::size_t place_of_j = static_cast<std::size_t>(STRIDE) * j.point;
          const Real *const of_j = arg.of_points + place_of_j;
          n += j.s;
          double of_s;    // dS/ds_ij, from both ends
          if (is_average) {
            const Real *const back_of_j = arg.back + place_of_j;
            of_s = static_cast<double>(product_of<SIZE>(back, of_j)) - own_a +
                product_of<SIZE>(own, back_of_j) - back_of_j[SIZE];
#pragma unroll
            for (int k = 0; k < SIZE; ++k) lambda[k] += j.s * back_of_j[k];
          } else {
            double slope;
            const double h = connect(arg, product_of<SIZE>(own, of_j), slope),
                         both = static_cast<double>(own_a) + of_j[SIZE];
            of_s = both * h - own_b - of_j[SIZE + 1];
            const Real factor = static_cast<Real>(both * j.s * slope);
#pragma unroll
            for (int k = 0; k < SIZE; ++k) lambda[k] += factor * of_j[k];
          }
          // dS/dx is minus the sum of the forces along d, the virial minus d (x) force
          const double force = of_s * j.ds, virial = force * j.r;
          direct[1] -= force * j.x;
          direct[2] -= force * j.y;
          direct[3] -= force * j.z;
          direct[4] -= virial * j.x * j.x;
          direct[5] -= virial * j.y * j.y;
          direct[6] -= virial * j.z * j.z;
          direct[7] -= virial * j.x * j.y;
          direct[8] -= virial * j.x * j.z;
          direct[9] -= virial * j.y * j.z;
        });
      },
      [&](bool stores, int r, int, int lanes) {
        n = add_row_lanes(n, lanes);
#pragma unroll
        for (int k = 0; k < SIZE; ++k) lambda[k] = add_row_lanes(lambda[k], lanes);
        for (int k = 1; k < COLUMNS; ++k) direct[k] = add_row_lanes(direct[k], lanes);
        if (!stores) return;
        for (int k = 0; k < COLUMNS; ++k)
          arg.direct[static_cast<std::size_t>(COLUMNS) * r + k] = static_cast<Real>(direct[k]);
        const int atom = arg.rows.atom ? arg.rows.atom[r] : r;
        Real along = 0, norm = 0;
        if (!is_average) {    // from u to q: u is normalized
          norm = arg.norm[atom];
#pragma unroll
          for (int k = 0; k < SIZE; ++k) along += lambda[k] * own[k];
        }
        const Real over_n = n != 0 ? 1 / n : Real(0);
        Real product = 0;
        Real *const to = arg.numbers + static_cast<std::size_t>(STRIDE) * atom;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) {
          const Real whole = is_average ? back[k] + lambda[k]
              : norm > arg.floor        ? (lambda[k] - along * own[k]) / norm
                                        : Real(0);
          to[k] = over_n * whole;
          product += to[k] * own[k];
        }
        to[SIZE] = is_average ? product : product * norm;
      });
}

// Sums of a row in the columns of the per-atom output.
struct OrderSums {
  int columns;    // that are stored
  double v[10];
  __device__ double column(int k) const { return v[k]; }
  __device__ void store(const SumsOut &out, std::size_t row) const
  {
    for (int k = 0; k < columns; ++k) out.sums[columns * row + k] = out.weight * v[k];
  }
};

template <int L, class Real, unsigned WANT>
__global__ void __launch_bounds__(GATHER_THREADS)
    sum_order_forces(const __grid_constant__ OrderForceArguments<Real> arg)
{
  constexpr int SIZE = 2 * L + 1, STRIDE = ORDER_STRIDE<L>;
  constexpr int NSUMS = WANT & VIRIAL ? 10 : 4;
  constexpr Real PARITY = L % 2 ? -1 : 1;
  const OrderArguments<Real> &order = arg.order;
  Real own[SIZE + 1];
  OrderSums sums = {arg.columns};
  WarpSums mine = {};
  wait_for_kernel_before();
  for_each_row(
      order,
      [&](bool valid, int r, int point, int tile, int lane) {
        const bool of_a = r < order.rows.nvalue, of_b = !arg.has_two_groups || !of_a;
        const Real *const of_own =
            arg.uniform ? arg.uniform : order.of_points + static_cast<std::size_t>(STRIDE) * point;
#pragma unroll
        for (int k = 0; k <= SIZE; ++k)
          own[k] = valid && (of_a || !arg.uniform) ? of_own[k] : Real(0);
        for (double &v : sums.v) v = 0.0;
        if (!valid) return;
        for_each_partner(order, r, point, tile, lane, [&](const OrderPartner<Real> &j) {
          const Real *const of_j = arg.uniform
              ? arg.uniform
              : order.of_points + static_cast<std::size_t>(STRIDE) * j.point;
          const Real share = of_b || !arg.uniform ? Real(1) : Real(0);
          Real p[L + 1];
          set_legendre<L>(order.harmonics, j.z, p);
          const Real a_0 = own[0] + PARITY * share * of_j[0];
          Real sum = a_0 * p[0], gx = 0, gy = 0, gz = a_0 * order.harmonics.of_derivative[0] * p[1];
          Real c = 1, s = 0;    // (x + iy)^(m-1)
#pragma unroll
          for (int m = 1; m <= L; ++m) {
            const Real ac = own[2 * m - 1] + PARITY * share * of_j[2 * m - 1],
                       as = own[2 * m] + PARITY * share * of_j[2 * m], mp = m * p[m];
            gx += mp * (ac * c + as * s);
            gy += mp * (as * c - ac * s);
            const Real next = c * j.x - s * j.y;
            s = c * j.y + s * j.x;
            c = next;
            const Real both = ac * c + as * s;
            sum += p[m] * both;
            if (m < L) gz += order.harmonics.of_derivative[m] * p[m + 1] * both;
          }
          const Real s_over_r = j.r > 0 ? j.s / j.r : Real(0);
          const Real along = j.x * gx + j.y * gy + j.z * gz;
          const Real radial = j.ds * (sum - own[SIZE] - share * of_j[SIZE]) - s_over_r * along;
          const Real hx = s_over_r * gx + radial * j.x, hy = s_over_r * gy + radial * j.y,
                     hz = s_over_r * gz + radial * j.z;
          sums.v[1] -= hx;
          sums.v[2] -= hy;
          sums.v[3] -= hz;
          if constexpr (NSUMS == 10) {
            const Real dx = j.r * j.x, dy = j.r * j.y, dz = j.r * j.z;
            sums.v[4] -= dx * hx;
            sums.v[5] -= dy * hy;
            sums.v[6] -= dz * hz;
            sums.v[7] -= Real(0.5) * (dx * hy + dy * hx);
            sums.v[8] -= Real(0.5) * (dx * hz + dz * hx);
            sums.v[9] -= Real(0.5) * (dy * hz + dz * hy);
          }
        });
      },
      [&](bool stores, int r, int, int lanes) {
        for (int k = 1; k < NSUMS; ++k) sums.v[k] = add_row_lanes(sums.v[k], lanes);
        if (!stores) return;
        if (order.direct)
          for (int k = 1; k < NSUMS; ++k)
            sums.v[k] += order.direct[static_cast<std::size_t>(10) * r + k];
        store_row<WANT>(arg.out, r, sums, mine);
      });
  add_up<WANT, PARTNER_WARPS>(arg.out, mine);
}

namespace order_launch {

  template <class Real> unsigned blocks_of(const DeviceRows &rows)
  {
    const int rows_a_block = PARTNER_WARPS * (32 / rows.lanes);
    return std::min((rows.n + rows_a_block - 1) / rows_a_block, tuning::MAX_PARTNER_BLOCKS);
  }

  template <class Real, class Kernel, class Arguments>
  void launch(const char *what, Kernel *kernel, const Arguments &arg, const DeviceRows &rows,
              cudaStream_t stream)
  {
    launch_kernel(what, kernel, true, {blocks_of<Real>(rows), GATHER_THREADS}, stream, arg);
  }

  template <int L, class Real> OrderLaunchers<Real> launchers()
  {
    OrderLaunchers<Real> all;
    all.sum_harmonics = [](const OrderArguments<Real> &arg, cudaStream_t stream) {
      launch<Real>("launching sum_order_harmonics", sum_order_harmonics<L, Real>, arg, arg.rows,
                   stream);
    };
    all.sum_over_partners = [](const OrderArguments<Real> &arg, cudaStream_t stream) {
      launch<Real>("launching sum_order_over_partners", sum_order_over_partners<L, Real>, arg,
                   arg.rows, stream);
    };
    all.sum_back = [](const OrderArguments<Real> &arg, cudaStream_t stream) {
      launch<Real>("launching sum_order_back", sum_order_back<L, Real>, arg, arg.rows, stream);
    };
    all.sum_forces = [](const OrderForceArguments<Real> &arg, unsigned want, cudaStream_t stream) {
      const char *const what = "launching sum_order_forces";
      if (want & VIRIAL)
        launch<Real>(what, sum_order_forces<L, Real, DERIVATIVES | VIRIAL>, arg, arg.order.rows,
                     stream);
      else
        launch<Real>(what, sum_order_forces<L, Real, DERIVATIVES>, arg, arg.order.rows, stream);
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
