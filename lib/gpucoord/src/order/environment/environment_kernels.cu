// Part of GPUCOORD, GPL-2.0. The kernels of environment similarity, over partners in range. Launch:
// see row_loops.cuh.
//
// A thread evaluates four partners for each vector that it loads. All threads load the same vector.
// Arithmetic limits the kernels: in float, a Gaussian takes 8 instructions, including one
// exponential function, and 10 with its gradient. The 12 Gaussians of fcc together take 4
// exponential functions.

#include "../partners_in_range.cuh"
#include "environment_arguments_cuda.h"
#include "environment_similarity_options.h"

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
    int c[FOUR];    // classes, if vectors have classes
  };

  // Scaled distance of a missing partner. Its Gaussians are 0, and its square is finite.
  template <class Real>
  constexpr Real FAR_AWAY = std::is_same<Real, float>::value ? Real(1e18) : Real(1e150);

  // Calls work(near, indices of the points) for the partners in range of this thread, four at a
  // time. Missing partners are far away and have the index of the atom's own point.
  template <class Real, class Work>
  __device__ void for_each_four(const EnvironmentArguments<Real> &arg, const RowPosition &at,
                                const Work &work)
  {
    using Point = typename PointOf<Real>::Type;
    const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
    int left = arg.partners.count[at.tile_thread];
    if (left == 0) return;
    const Point atom = points[at.point];
    const int4 *element = arg.partners.point + at.element;
    int4 next = *element;
    for (; left > 0; left -= FOUR) {
      const int4 next_points = next;
      element += 32;
      if (left > FOUR) next = *element;
      Near<Real> near;
      int point[FOUR];
#pragma unroll
      for (int u = 0; u < FOUR; ++u) {
        point[u] = u < left ? part(next_points, u) : at.point;
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

  // Returns 2^-|d - r|^2, or 0 if the classes of partner and vector differ. x, y, z: d - r
  template <bool TYPED, class Real>
  __device__ Real gaussian(const Four<Real> &vector, Real x, Real y, Real z, int c)
  {
    const Real value = exp2_of(-(x * x) - y * y - z * z);
    if constexpr (TYPED)
      return vector.v[3] < 0 || vector.v[3] == static_cast<Real>(c) ? value : Real(0);
    return value;
  }

  // The sum of Gaussians of the vectors (+-h, +-h, 0), (+-h, 0, +-h) and (0, +-h, +-h) is
  // X_h Y_h Z_0 + X_h Y_0 Z_h + X_0 Y_h Z_h, where X_0 = 2^-x^2 and
  // X_h = 2^-(x - h)^2 + 2^-(x + h)^2. With q = 2^-2h|x|, X_0 and X_h are 2^(h^2) q and 1 + q^2
  // times 2^-(|x| - h)^2. Each term has one X_0, so the other powers of 2 are a common factor.
  template <class Real> struct FccGaussians {
    Real common;
    Real q[3], both[3];    // by axis; both: 1 + q^2

    __device__ FccGaussians(Real h, Real x, Real y, Real z)
    {
      const Real from_x = fabs(x) - h, from_y = fabs(y) - h, from_z = fabs(z) - h;
      common = exp2_of(h * h - from_x * from_x - from_y * from_y - from_z * from_z);
      const Real length[3] = {x, y, z};
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        q[axis] = exp2_of(-2 * h * fabs(length[axis]));
        both[axis] = q[axis] * q[axis] + 1;
      }
    }
    __device__ Real without_common() const
    {
      return q[0] * (both[1] * both[2]) + both[0] * mixed(1, 2);
    }
    // Adds weight times the sum of (d - r) 2^-|d - r|^2 over the 12 vectors.
    __device__ void add_gradients(Real h, Real x, Real y, Real z, Real weight, Real &to_x,
                                  Real &to_y, Real &to_z) const
    {
      const Real factor = weight * common, sum = without_common();
      to_x += factor * (x * sum + copysign(h, x) * (q[0] * q[0] - 1) * mixed(1, 2));
      to_y += factor * (y * sum + copysign(h, y) * (q[1] * q[1] - 1) * mixed(0, 2));
      to_z += factor * (z * sum + copysign(h, z) * (q[2] * q[2] - 1) * mixed(0, 1));
    }

   private:
    __device__ Real mixed(int a, int b) const
    {
      return q[a] * both[b] + both[a] * q[b];
    }
  };

  // Environments of a kernel. TYPED: at least one has types. UNTYPED: no types. FCC: fcc alone.
  enum class Kind { TYPED, UNTYPED, FCC };

  template <class Real, Kind KIND>
  __global__ void __launch_bounds__(GATHER_THREADS)
      sum_gaussians(const __grid_constant__ EnvironmentArguments<Real> arg)
  {
    const Four<Real> *const __restrict__ vectors = arg.vectors;
    bool any;
    wait_for_previous_kernel();
    for_each_row(
        arg.rows,
        [&](const RowPosition &at) {
          const bool is_of_a = at.valid && at.row < arg.rows.nvalue;
          any = is_of_a && arg.partners.count[at.tile_thread] > 0;
          Real *const to = !is_of_a
              ? nullptr
              : arg.numbers + static_cast<std::size_t>(arg.stride) * atom_of(arg.rows, at);
          for (int e = 0; e < arg.n; ++e) {
            const int begin = arg.first[e], end = arg.first[e + 1];
            Real sum = 0;
            if (any)
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
        [&](const RowPosition &at, int) {
          if (any && *arg.any_partners == 0) *arg.any_partners = 1;    // same for all threads
          if (!at.valid || at.lane != 0 || at.row >= arg.rows.nvalue) return;
          const int atom = atom_of(arg.rows, at);
          const Real *const own = arg.numbers + static_cast<std::size_t>(arg.stride) * atom;
          arg.value[atom] = joined_similarity(arg.lambda, arg.n, own);
        });
  }

  // Lists partners in range and sums the Gaussians of fcc, so that positions are read only once.
  template <class Real> struct ListFcc : OneRange<Real, EnvironmentArguments<Real>> {
    class Sum {
     public:
      __device__ void clear(const EnvironmentArguments<Real> &arg)
      {
        h = arg.half_fcc;
        scale = arg.scale;
        value = 0;
        any = false;
      }
      __device__ void add(Real dx, Real dy, Real dz, bool in_range)
      {
        const FccGaussians<Real> g(h, scale * dx, scale * dy, scale * dz);
        value += in_range ? g.common * g.without_common() : Real(0);
        any |= in_range;
      }
      __device__ void store(const EnvironmentArguments<Real> &arg, const RowPosition &at, int lanes)
      {
        value = add_row_lanes(value, lanes) / FCC_VECTORS;
        if (!at.valid || at.row >= arg.rows.nvalue) return;
        if (any && *arg.any_partners == 0) *arg.any_partners = 1;    // same for all threads
        if (at.lane != 0) return;
        const int atom = atom_of(arg.rows, at);
        arg.numbers[static_cast<std::size_t>(arg.stride) * atom] = value;
        arg.value[atom] = value;
      }

     private:
      Real h, scale, value;
      bool any;
    };
  };

  // Gradients of four partners.
  template <class Real> struct Gradients {
    Real x[FOUR], y[FOUR], z[FOUR];
  };

  // Adds weight times the sum of (d - r) 2^-|d - r|^2 over the vectors from begin to end.
  template <bool TYPED, class Real>
  __device__ void add_gradients(const Four<Real> *__restrict__ vectors, int begin, int end,
                                const Near<Real> &near, const Real (&weight)[FOUR],
                                Gradients<Real> &to)
  {
    Gradients<Real> sum = {};
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

  // Returns the vectors from the partners to the atom, with the class of the atom.
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

  // Sets, for each partner, the gradient of the sum over e of own_e phi_e(d) + partner_e phi_e(-d)
  // with respect to d, without the factor -2 ln 2. phi_e(d) is the sum of the Gaussians of
  // environment e.
  template <bool TYPED, class Real>
  __device__ Gradients<Real> gradients_of(const EnvironmentForceArguments<Real> &arg,
                                          const RowPosition &at, const Near<Real> &near,
                                          const int (&point)[FOUR])
  {
    using Point = typename PointOf<Real>::Type;
    const EnvironmentArguments<Real> &all = arg.environments;
    const bool is_of_a = at.row < all.rows.nvalue, is_of_b = !arg.has_two_groups || !is_of_a;
    const auto weight_of = [&](int p, int e) {
      return arg.weights[static_cast<std::size_t>(all.stride) * p + e];
    };
    Gradients<Real> gradients = {};
    for (int e = 0; e < all.n; ++e) {
      const int begin = all.first[e], end = all.first[e + 1];
      const Real own = is_of_a ? weight_of(at.point, e) : Real(0);
      Real partner_weight[FOUR] = {}, weight[FOUR];
      if (is_of_b)
#pragma unroll
        for (int u = 0; u < FOUR; ++u) partner_weight[u] = weight_of(point[u], e);
      if (!TYPED && all.is_symmetric[e]) {
#pragma unroll
        for (int u = 0; u < FOUR; ++u) weight[u] = own + partner_weight[u];
        add_gradients<TYPED>(all.vectors, begin, end, near, weight, gradients);
        continue;
      }
      if (is_of_a) {
#pragma unroll
        for (int u = 0; u < FOUR; ++u) weight[u] = own;
        add_gradients<TYPED>(all.vectors, begin, end, near, weight, gradients);
      }
      if (is_of_b) {
        const Point *const points = static_cast<const Point *>(all.points);
#pragma unroll
        for (int u = 0; u < FOUR; ++u) weight[u] = -partner_weight[u];
        const int own_class = TYPED ? class_of(points[at.point]) : 0;
        add_gradients<TYPED>(all.vectors, begin, end, inverted(near, own_class), weight, gradients);
      }
    }
    return gradients;
  }

  // Like gradients_of(), for fcc.
  template <class Real>
  __device__ Gradients<Real> gradients_of_fcc(const EnvironmentForceArguments<Real> &arg,
                                              const RowPosition &at, const Near<Real> &near,
                                              const int (&point)[FOUR])
  {
    using Point = typename PointOf<Real>::Type;
    const EnvironmentArguments<Real> &all = arg.environments;
    const bool is_of_a = at.row < all.rows.nvalue, is_of_b = !arg.has_two_groups || !is_of_a;
    const Real h = all.half_fcc;
    const auto weight_of = [&](int p, int word_of_point) {
      return arg.weights ? arg.weights[static_cast<std::size_t>(all.stride) * p]
                         : static_cast<Real>(__int_as_float(word_of_point));
    };
    const int own_word = class_of(static_cast<const Point *>(all.points)[at.point]);
    const Real own = is_of_a ? weight_of(at.point, own_word) : Real(0);
    Gradients<Real> gradients = {};
#pragma unroll
    for (int u = 0; u < FOUR; ++u) {
      const Real weight = own + (is_of_b ? weight_of(point[u], near.c[u]) : Real(0));
      FccGaussians<Real>(h, near.x[u], near.y[u], near.z[u])
          .add_gradients(h, near.x[u], near.y[u], near.z[u], weight, gradients.x[u], gradients.y[u],
                         gradients.z[u]);
    }
    return gradients;
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
    wait_for_previous_kernel();
    for_each_row(
        all.rows,
        [&](const RowPosition &at) {
          for (Real &sum : g) sum = 0;
          for_each_four(all, at, [&](const Near<Real> &near, const int(&point)[FOUR]) {
            const auto h = KIND == Kind::FCC
                ? gradients_of_fcc(arg, at, near, point)
                : gradients_of<KIND == Kind::TYPED>(arg, at, near, point);
#pragma unroll
            for (int u = 0; u < FOUR; ++u)
              add_partner<NSUMS>(near.x[u], near.y[u], near.z[u], h.x[u], h.y[u], h.z[u], g);
          });
        },
        [&](const RowPosition &at, int lanes) {
          RowSums<NSUMS> sums = {arg.columns};
          sums.v[0] = 0.0;
#pragma unroll
          for (int k = 1; k < NSUMS; ++k)
            sums.v[k] =
                (k < 4 ? arg.gradient_scale : arg.virial_scale) * add_row_lanes(g[k], lanes);
          if (at.valid && at.lane == 0) store_row<WANT>(arg.out, at.row, sums, mine);
        });
    add_up<WANT, ORDER_WARPS>(arg.out, mine);
  }

  // Calls f(kind) with the Kind of the environments.
  template <class Real, class F> void with_kind(const EnvironmentArguments<Real> &arg, const F &f)
  {
    if (arg.has_types)
      f(std::integral_constant<Kind, Kind::TYPED>());
    else if (arg.half_fcc > 0)
      f(std::integral_constant<Kind, Kind::FCC>());
    else
      f(std::integral_constant<Kind, Kind::UNTYPED>());
  }

  template <class Real> void launch(const EnvironmentArguments<Real> &arg, cudaStream_t stream)
  {
    with_kind(arg, [&](auto kind) {
      if constexpr (kind() == Kind::FCC)
        launch_listing<ListFcc<Real>>(arg, stream);
      else
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
