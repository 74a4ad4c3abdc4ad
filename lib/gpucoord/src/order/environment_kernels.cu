// Part of GPUCOORD, GPL-2.0. The kernels of environment similarity, over partners in range. Launch:
// order_rows.cuh.
//
// A thread evaluates four partners for each vector that it loads. All threads load the same vector.
// In float, a Gaussian takes 8 instructions, one of them the exponential function, and 10 with its
// gradient: these limit the kernels, except for environments with reflections.

#include "environment_arguments_cuda.h"
#include "environment_similarity_options.h"
#include "order_rows.cuh"

#include <type_traits>

namespace gpucoord {

namespace {

  __device__ float exp2_of(float x)
  {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
  }
  __device__ double exp2_of(double x)
  {
    return exp2(x);
  }

  // Scaled vectors to four partners.
  template <class Real> struct Near {
    Real x[FOUR], y[FOUR], z[FOUR];
    int c[FOUR];    // class, if vectors have one
  };

  // Scaled distance of a partner that does not exist. Its Gaussians are 0, its square is finite.
  template <class Real>
  constexpr Real FAR_AWAY = std::is_same<Real, float>::value ? Real(1e18) : Real(1e150);

  // Calls work(near, numbers of the points) for the partners in range of this thread. Those beyond
  // the last one are far away, and have the point of the atom.
  template <class Real, class Work>
  __device__ void for_each_four(const EnvironmentArguments<Real> &arg, const RowPlace &at,
                                const Work &work)
  {
    using Point = typename PointOf<Real>::Type;
    const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
    int left = arg.partners.count[at.thread_of_tiles];
    if (left == 0) return;
    const Point atom = points[at.point];
    const int4 *element = arg.partners.point + at.element;
    int4 next = *element;
    for (; left > 0; left -= FOUR) {
      const int4 number = next;
      element += 32;
      if (left > FOUR) next = *element;
      Near<Real> near;
      int point[FOUR];
#pragma unroll
      for (int u = 0; u < FOUR; ++u) {
        point[u] = u < left ? part(number, u) : at.point;
        const Point other = points[point[u]];
        difference(atom, other, near.x[u], near.y[u], near.z[u]);
        near.x[u] = u < left ? arg.scale * near.x[u] : FAR_AWAY<Real>;
        near.y[u] *= arg.scale;
        near.z[u] *= arg.scale;
        near.c[u] = class_of(other);
      }
      work(near, point);
    }
  }

  // Calls work(x, y, z, number of the point) for each partner in range of this thread.
  template <class Real, class Work>
  __device__ void for_each_partner(const EnvironmentArguments<Real> &arg, const RowPlace &at,
                                   const Work &work)
  {
    using Point = typename PointOf<Real>::Type;
    const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
    int left = arg.partners.count[at.thread_of_tiles];
    if (left == 0) return;
    const Point atom = points[at.point];
    const int4 *element = arg.partners.point + at.element;
    int4 next_four = *element;
    for (; left > 0; left -= FOUR) {
      const int4 number = next_four;
      element += 32;
      if (left > FOUR) next_four = *element;
      Point next = points[number.x];
      for_each_of_four(left, [&](int k) {
        const Point partner = next;
        if (k + 1 < min(left, FOUR)) next = points[part(number, k + 1)];
        Real x, y, z;
        difference(atom, partner, x, y, z);
        work(arg.scale * x, arg.scale * y, arg.scale * z, part(number, k));
      });
    }
  }

  // 2^-|d - r|^2, or 0 if the partner has another class than the vector. d - r: x, y, z
  template <bool TYPED, class Real>
  __device__ Real gaussian(const Four<Real> &vector, Real x, Real y, Real z, int c)
  {
    const Real value = exp2_of(-(x * x) - y * y - z * z);
    if constexpr (TYPED)
      return vector.v[3] < 0 || vector.v[3] == static_cast<Real>(c) ? value : Real(0);
    return value;
  }

  // X_0 and X_1 of a ReflectedEnvironment, or their sums of Gaussians times the distance from the
  // center of each.
  template <class Real> struct Axis {
    Real at_0, at_h;
  };

  template <class Real> __device__ Axis<Real> gaussians_of_axis(Real x, Real h)
  {
    const Real after = x - h, before = x + h;
    return {exp2_of(-(x * x)), exp2_of(-(after * after)) + exp2_of(-(before * before))};
  }
  template <class Real>
  __device__ void set_axis(Real x, Real h, Axis<Real> &gaussians, Axis<Real> &slopes)
  {
    const Real after = x - h, before = x + h;
    const Real here = exp2_of(-(x * x)), there = exp2_of(-(after * after)),
               opposite = exp2_of(-(before * before));
    gaussians = {here, there + opposite};
    slopes = {here * x, there * after + opposite * before};
  }

  template <class Real>
  __device__ Real product_of(const Real (&c)[8], const Axis<Real> &x, const Axis<Real> &y,
                             const Axis<Real> &z)
  {
    const auto over_z = [&](int k) {
      return c[k] * z.at_0 + c[k + 1] * z.at_h;
    };
    return x.at_0 * (y.at_0 * over_z(0) + y.at_h * over_z(2)) +
        x.at_h * (y.at_0 * over_z(4) + y.at_h * over_z(6));
  }

  // Which environments a kernel is for: those with types, all without, or only those with
  // reflections.
  enum class Kind { TYPED, UNTYPED, REFLECTED };

  template <class Real, Kind KIND>
  __global__ void __launch_bounds__(GATHER_THREADS)
      sum_gaussians(const __grid_constant__ EnvironmentArguments<Real> arg)
  {
    const Four<Real> *const __restrict__ vectors = arg.vectors;
    bool any;
    wait_for_kernel_before();
    for_each_row(
        arg.rows,
        [&](const RowPlace &at) {
          const bool is_of_a = at.valid && at.row < arg.rows.nvalue;
          any = is_of_a && arg.partners.count[at.thread_of_tiles] > 0;
          Real *const to = !is_of_a
              ? nullptr
              : arg.numbers + static_cast<std::size_t>(arg.stride) * atom_of(arg.rows, at);
          for (int e = 0; e < arg.n; ++e) {
            const int begin = arg.first[e], end = arg.first[e + 1];
            Real sum = 0;
            if (any && KIND == Kind::REFLECTED) {
              const ReflectedEnvironment<Real> r = arg.reflected[e];
              for_each_partner(arg, at, [&](Real x, Real y, Real z, int) {
                sum += product_of(r.c, gaussians_of_axis(x, r.h[0]), gaussians_of_axis(y, r.h[1]),
                                  gaussians_of_axis(z, r.h[2]));
              });
            } else if (any)
              for_each_four(arg, at, [&](const Near<Real> &near, const int(&)[FOUR]) {
                for (int k = begin; k < end; ++k) {
                  const Four<Real> r = vectors[k];
                  Real value[FOUR];
#pragma unroll
                  for (int u = 0; u < FOUR; ++u)
                    value[u] = gaussian<KIND == Kind::TYPED>(
                        r, near.x[u] - r.v[0], near.y[u] - r.v[1], near.z[u] - r.v[2], near.c[u]);
                  sum += (value[0] + value[1]) + (value[2] + value[3]);
                }
              });
            sum = add_row_lanes(sum, arg.rows.lanes);
            if (is_of_a && at.lane == 0) to[e] = sum / (end - begin);
          }
        },
        [&](const RowPlace &at, int) {
          if (any && *arg.any_partners == 0) *arg.any_partners = 1;    // by many, all the same
          if (!at.valid || at.lane != 0 || at.row >= arg.rows.nvalue) return;
          const int atom = atom_of(arg.rows, at);
          const Real *const own = arg.numbers + static_cast<std::size_t>(arg.stride) * atom;
          arg.value[atom] = joined_similarity(arg.lambda, arg.n, own);
        });
  }

  // Sums of a partner.
  template <class Real> struct Slopes {
    Real x[FOUR], y[FOUR], z[FOUR];
  };

  // Adds weight times the sum of (d - r) 2^-|d - r|^2 over the vectors from begin to end.
  template <bool TYPED, class Real>
  __device__ void add_slopes(const Four<Real> *__restrict__ vectors, int begin, int end,
                             const Near<Real> &near, const Real (&weight)[FOUR], Slopes<Real> &to)
  {
    Slopes<Real> sum = {};
    for (int k = begin; k < end; ++k) {
      const Four<Real> r = vectors[k];
#pragma unroll
      for (int u = 0; u < FOUR; ++u) {
        const Real x = near.x[u] - r.v[0], y = near.y[u] - r.v[1], z = near.z[u] - r.v[2];
        const Real value = gaussian<TYPED>(r, x, y, z, near.c[u]);
        sum.x[u] += value * x;
        sum.y[u] += value * y;
        sum.z[u] += value * z;
      }
    }
#pragma unroll
    for (int u = 0; u < FOUR; ++u) {
      to.x[u] += weight[u] * sum.x[u];
      to.y[u] += weight[u] * sum.y[u];
      to.z[u] += weight[u] * sum.z[u];
    }
  }

  // Vectors from the partners to the atom, with the class of the atom.
  template <class Real> __device__ Near<Real> inverted(const Near<Real> &near, int own_class)
  {
    Near<Real> to;
#pragma unroll
    for (int u = 0; u < FOUR; ++u) {
      to.x[u] = -near.x[u];
      to.y[u] = -near.y[u];
      to.z[u] = -near.z[u];
      to.c[u] = own_class;
    }
    return to;
  }

  // For each partner: the sum over e of own_e phi_e(d) + partner_e phi_e(-d), differentiated by d,
  // without the factor -2 ln 2. phi_e is the sum of Gaussians of e.
  template <bool TYPED, class Real>
  __device__ Slopes<Real> slopes_of(const EnvironmentForceArguments<Real> &arg, const RowPlace &at,
                                    const Near<Real> &near, const int (&point)[FOUR])
  {
    using Point = typename PointOf<Real>::Type;
    const EnvironmentArguments<Real> &all = arg.environments;
    const bool is_of_a = at.row < all.rows.nvalue, is_of_b = !arg.has_two_groups || !is_of_a;
    const auto weight_of = [&](int p, int e) {
      return arg.weights[static_cast<std::size_t>(all.stride) * p + e];
    };
    Slopes<Real> slopes = {};
    for (int e = 0; e < all.n; ++e) {
      const int begin = all.first[e], end = all.first[e + 1];
      const Real own = is_of_a ? weight_of(at.point, e) : Real(0);
      Real of_partner[FOUR] = {}, weight[FOUR];
      if (is_of_b)
#pragma unroll
        for (int u = 0; u < FOUR; ++u) of_partner[u] = weight_of(point[u], e);
      if (!TYPED && all.is_symmetric[e]) {
#pragma unroll
        for (int u = 0; u < FOUR; ++u) weight[u] = own + of_partner[u];
        add_slopes<TYPED>(all.vectors, begin, end, near, weight, slopes);
        continue;
      }
      if (is_of_a) {
#pragma unroll
        for (int u = 0; u < FOUR; ++u) weight[u] = own;
        add_slopes<TYPED>(all.vectors, begin, end, near, weight, slopes);
      }
      if (is_of_b) {
        const Point *const points = static_cast<const Point *>(all.points);
#pragma unroll
        for (int u = 0; u < FOUR; ++u) weight[u] = -of_partner[u];
        const int own_class = TYPED ? class_of(points[at.point]) : 0;
        add_slopes<TYPED>(all.vectors, begin, end, inverted(near, own_class), weight, slopes);
      }
    }
    return slopes;
  }

  // The same for one partner, in h, if all environments have reflections.
  template <class Real>
  __device__ void set_slopes(const EnvironmentForceArguments<Real> &arg, const RowPlace &at, Real x,
                             Real y, Real z, int point, Real (&h)[3])
  {
    const EnvironmentArguments<Real> &all = arg.environments;
    const bool is_of_a = at.row < all.rows.nvalue, is_of_b = !arg.has_two_groups || !is_of_a;
    h[0] = h[1] = h[2] = 0;
    for (int e = 0; e < all.n; ++e) {
      const ReflectedEnvironment<Real> &r = all.reflected[e];
      const auto weight_of = [&](int p, bool has_one) {
        return has_one ? arg.weights[static_cast<std::size_t>(all.stride) * p + e] : Real(0);
      };
      const Real weight = weight_of(at.point, is_of_a) + weight_of(point, is_of_b);
      Axis<Real> of_x, of_y, of_z, slope_x, slope_y, slope_z;
      set_axis(x, r.h[0], of_x, slope_x);
      set_axis(y, r.h[1], of_y, slope_y);
      set_axis(z, r.h[2], of_z, slope_z);
      h[0] += weight * product_of(r.c, slope_x, of_y, of_z);
      h[1] += weight * product_of(r.c, of_x, slope_y, of_z);
      h[2] += weight * product_of(r.c, of_x, of_y, slope_z);
    }
  }

  // x, y, z: scaled vector to the partner
  template <int NSUMS, class Real>
  __device__ void add_partner(Real x, Real y, Real z, Real hx, Real hy, Real hz, Real (&g)[NSUMS])
  {
    g[1] += hx;
    g[2] += hy;
    g[3] += hz;
    if constexpr (NSUMS == 10) {
      g[4] += x * hx;
      g[5] += y * hy;
      g[6] += z * hz;
      g[7] += y * hx;
      g[8] += z * hx;
      g[9] += z * hy;
    }
  }

  template <class Real, Kind KIND, unsigned WANT>
  __global__ void __launch_bounds__(GATHER_THREADS)
      sum_forces(const __grid_constant__ EnvironmentForceArguments<Real> arg)
  {
    constexpr int NSUMS = WANT & VIRIAL ? 10 : 4;
    const EnvironmentArguments<Real> &all = arg.environments;
    Real g[NSUMS];
    WarpSums mine = {};
    wait_for_kernel_before();
    for_each_row(
        all.rows,
        [&](const RowPlace &at) {
          for (Real &sum : g) sum = 0;
          if constexpr (KIND == Kind::REFLECTED)
            for_each_partner(all, at, [&](Real x, Real y, Real z, int point) {
              Real h[3];
              set_slopes(arg, at, x, y, z, point, h);
              add_partner<NSUMS>(x, y, z, h[0], h[1], h[2], g);
            });
          else
            for_each_four(all, at, [&](const Near<Real> &near, const int(&point)[FOUR]) {
              const auto h = slopes_of<KIND == Kind::TYPED>(arg, at, near, point);
#pragma unroll
              for (int u = 0; u < FOUR; ++u)
                add_partner<NSUMS>(near.x[u], near.y[u], near.z[u], h.x[u], h.y[u], h.z[u], g);
            });
        },
        [&](const RowPlace &at, int lanes) {
          RowSums<NSUMS> sums = {arg.columns};
          sums.v[0] = 0.0;
#pragma unroll
          for (int k = 1; k < NSUMS; ++k)
            sums.v[k] = (k < 4 ? arg.slope_scale : arg.virial_scale) * add_row_lanes(g[k], lanes);
          if (at.valid && at.lane == 0) store_row<WANT>(arg.out, at.row, sums, mine);
        });
    add_up<WANT, PARTNER_WARPS>(arg.out, mine);
  }

  // Calls f(kind) with the kind of kernel for the environments.
  template <class Real, class F> void with_kind(const EnvironmentArguments<Real> &arg, const F &f)
  {
    if (arg.has_types)
      f(std::integral_constant<Kind, Kind::TYPED>());
    else if (arg.reflected)
      f(std::integral_constant<Kind, Kind::REFLECTED>());
    else
      f(std::integral_constant<Kind, Kind::UNTYPED>());
  }

  template <class Real> void launch(const EnvironmentArguments<Real> &arg, cudaStream_t stream)
  {
    with_kind(arg, [&](auto kind) {
      launch_over_rows("launching sum_gaussians", sum_gaussians<Real, kind()>, arg, arg.rows,
                       stream);
    });
  }

  template <class Real>
  void launch(const EnvironmentForceArguments<Real> &arg, unsigned want, cudaStream_t stream)
  {
    with_kind(arg.environments, [&](auto kind) {
      launch_over_rows("launching sum_forces",
                       want & VIRIAL ? sum_forces<Real, kind(), DERIVATIVES | VIRIAL>
                                     : sum_forces<Real, kind(), DERIVATIVES>,
                       arg, arg.environments.rows, stream);
    });
  }

}    // namespace

void sum_environments(const EnvironmentArguments<float> &arg, cudaStream_t stream)
{
  launch(arg, stream);
}
void sum_environments(const EnvironmentArguments<double> &arg, cudaStream_t stream)
{
  launch(arg, stream);
}

void sum_environment_forces(const EnvironmentForceArguments<float> &arg, unsigned want,
                            cudaStream_t stream)
{
  launch(arg, want, stream);
}
void sum_environment_forces(const EnvironmentForceArguments<double> &arg, unsigned want,
                            cudaStream_t stream)
{
  launch(arg, want, stream);
}

}    // namespace gpucoord
