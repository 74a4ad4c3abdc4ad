// Part of GPUCOORD, GPL-2.0. The kernels of order parameters that evaluate switching functions:
// they do not depend on l.
//
// With several classes of types, and in sigma of CONNECTIONS, the formula is chosen at run time, by
// a call: inlined, all formulas would take the registers of each kernel.

#include "atom_formulas.h"
#include "order_rows.cuh"

#include "../switching/formulas.cuh"

namespace gpucoord {

namespace {

  template <class Real> struct SwitchValue {
    Real s, dfunc;    // dfunc: (ds/dr)/r
  };

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

  // One function, by its formula.
  template <class Formula, class Real> struct OneForm {
    static __device__ const OrderFunction<Real> &of(const OrderArguments<Real> &arg, int, int)
    {
      return arg.function;
    }
    static __device__ SwitchValue<Real> evaluate(const OrderFunction<Real> &f, Real r_sq)
    {
      SwitchValue<Real> found;
      Formula::eval_bare(f.constants, r_sq, found.s, found.dfunc);
      found.dfunc *= Formula::scale(f.constants);
      return found;
    }
  };
  // Functions of pairs of classes.
  template <class Real> struct AnyForm {
    static __device__ const OrderFunction<Real> &of(const OrderArguments<Real> &arg, int ci, int cj)
    {
      return arg.by_class[ci * arg.nclasses + cj];
    }
    static __device__ SwitchValue<Real> evaluate(const OrderFunction<Real> &f, Real r_sq)
    {
      return evaluate_form(&f, r_sq);
    }
  };

  // The partners in range of a thread that has a row of its own, which are stored by fours.
  template <class Real> class Found {
   public:
    int count = 0;

    __device__ Found(const PartnersInRange<Real> &to_in, std::int64_t element_in) :
        to(to_in), element(element_in)
    {
    }
    __device__ void add(int point, const SwitchValue<Real> &value, Real r)
    {
      const int k = count % FOUR;
#pragma unroll
      for (int u = 0; u < FOUR; ++u)
        if (u >= k) {    // later ones are overwritten
          points[u] = point;
          of_s.v[u] = value.s;
          of_ds.v[u] = value.dfunc * r;
        }
      if (++count % FOUR == 0) store();
    }
    __device__ void finish()
    {
      if (count % FOUR != 0) store();
    }

   private:
    __device__ void store()
    {
      to.point[element] = make_int4(points[0], points[1], points[2], points[3]);
      to.s[element] = of_s;
      to.ds[element] = of_ds;
      element += 32;
    }

    const PartnersInRange<Real> &to;
    std::int64_t element;
    int points[FOUR];
    Four<Real> of_s, of_ds;
  };

  // A loaded partner.
  template <class Real> struct Candidate {
    Real r_sq;
    const OrderFunction<Real> *function;
    bool in_range;
  };

  template <class Form, class Real, class Point>
  __device__ Candidate<Real> candidate_of(const OrderArguments<Real> &arg, const Point &atom,
                                          const Point &other, Real unit_sq, bool exists)
  {
    Real dx, dy, dz;
    difference(atom, other, dx, dy, dz);
    Candidate<Real> found;
    found.r_sq = length_sq(dx * dx + dy * dy + dz * dz, unit_sq);
    found.function = &Form::of(arg, class_of(atom), class_of(other));
    found.in_range = exists && found.r_sq <= found.function->constants.dmax_sq;
    return found;
  }

  // Rows of one thread.
  template <class Form, class Real>
  __device__ void list_alone(const OrderArguments<Real> &arg, const RowPlace &at, Real unit_sq)
  {
    using Point = typename PointOf<Real>::Type;
    const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
    Found<Real> found(arg.partners, at.element);
    if (at.valid) {
      const Point atom = points[at.point];
      const int4 *partner = arg.rows.partner + at.element;
      int left = arg.rows.count[at.row];
      int4 next = {};
      if (left > 0) next = load_once(partner);
      for (; left > 0; left -= FOUR) {
        const int number[FOUR] = {next.x, next.y, next.z, next.w};
        Point other[FOUR];
#pragma unroll
        for (int u = 0; u < FOUR; ++u) other[u] = points[number[u]];
        partner += 32;
        if (left > FOUR) next = load_once(partner);
#pragma unroll
        for (int u = 0; u < FOUR; ++u) {
          const auto c = candidate_of<Form, Real>(arg, atom, other[u], unit_sq, u < left);
          if (c.in_range) found.add(number[u], Form::evaluate(*c.function, c.r_sq), sqrt(c.r_sq));
        }
      }
    }
    found.finish();
    arg.partners.count[at.thread_of_tiles] = found.count;
  }

  // Rows that several threads share: each gets every lanes-th partner in range. All threads of a
  // warp must call.
  template <class Form, class Real>
  __device__ void list_together(const OrderArguments<Real> &arg, const RowPlace &at, Real unit_sq)
  {
    using Point = typename PointOf<Real>::Type;
    const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
    const int lanes = arg.rows.lanes, first_lane = threadIdx.x % 32 - at.lane;
    const unsigned others = lanes == 32 ? ALL_LANES : (1u << lanes) - 1u;
    const Point atom = points[at.point];
    int left = (at.valid ? arg.rows.count[at.row] : 0) - at.lane, total = 0;
    const int4 *partner = arg.rows.partner + at.element;
    auto *const to_point = reinterpret_cast<int *>(arg.partners.point);
    auto *const to_s = reinterpret_cast<Real *>(arg.partners.s);
    auto *const to_ds = reinterpret_cast<Real *>(arg.partners.ds);
    for (; __any_sync(ALL_LANES, left > 0); left -= FOUR * lanes, partner += 32) {
      int number[FOUR] = {};
      if (left > 0) {
        const int4 four = load_once(partner);
        number[0] = four.x;
        number[1] = four.y;
        number[2] = four.z;
        number[3] = four.w;
      }
#pragma unroll
      for (int u = 0; u < FOUR; ++u) {
        const bool exists = u * lanes < left;
        const Point other = points[exists ? number[u] : at.point];
        const auto c = candidate_of<Form, Real>(arg, atom, other, unit_sq, exists);
        const unsigned found = __ballot_sync(ALL_LANES, c.in_range) >> first_lane & others;
        if (c.in_range) {
          const auto value = Form::evaluate(*c.function, c.r_sq);
          const int k = total + __popc(found & ((1u << at.lane) - 1u)), turn = k / lanes;
          const std::int64_t place =
              FOUR * (at.element - at.lane + k % lanes + 32 * (turn / FOUR)) + turn % FOUR;
          to_point[place] = number[u];
          to_s[place] = value.s;
          to_ds[place] = value.dfunc * sqrt(c.r_sq);
        }
        total += __popc(found);
      }
    }
    arg.partners.count[at.thread_of_tiles] = (total - at.lane + lanes - 1) / lanes;
  }

  template <class Form, class Real>
  __global__ void __launch_bounds__(GATHER_THREADS)
      list_partners_in_range(const __grid_constant__ OrderArguments<Real> arg)
  {
    const Real unit = std::is_same<Real, float>::value ? arg.unit : 1.0;
    wait_for_kernel_before();
    for_each_row(
        arg.rows,
        [&](const RowPlace &at) {
          if (arg.rows.lanes == 1)
            list_alone<Form>(arg, at, unit * unit);
          else
            list_together<Form>(arg, at, unit * unit);
        },
        [](const RowPlace &, int) {
        });
  }

  template <class Form, class Real>
  void list_by(const OrderArguments<Real> &arg, cudaStream_t stream)
  {
    launch_over_rows("launching list_partners_in_range", list_partners_in_range<Form, Real>, arg,
                     arg.rows, stream);
  }

  template <class Real> void list_partners(const OrderArguments<Real> &arg, cudaStream_t stream)
  {
    if (arg.by_class) return list_by<AnyForm<Real>>(arg, stream);
    switch (arg.function.form) {
#define GPUCOORD_FORM(KIND, FORM, FORMULA) \
  case SwitchForm::FORM:                   \
    return list_by<OneForm<formula::FORM, Real>>(arg, stream);
#include "gpucoord/switch_functions.def"
    }
  }

  // Replaces a product by 1 - sigma, and returns it.
  template <class Real>
  __device__ double connect(const OrderArguments<Real> &arg, Real &product, Real &slope_of_h)
  {
    double h, slope = 1.0;
    threshold(true, arg.connection.constants.d0, static_cast<double>(product), h, slope,
              [&](double x, double &sigma, double &derivative) {
                sigma = derivative = 0.0;
                if (!(x * x <= arg.connection.constants.dmax_sq)) return;
                const SwitchValue<double> found = evaluate_form(&arg.connection, x * x);
                sigma = found.s;
                derivative = found.dfunc * x;
              });
    product = static_cast<Real>(h);
    slope_of_h = static_cast<Real>(slope);
    return h;
  }

  template <class Real>
  __global__ void __launch_bounds__(GATHER_THREADS)
      sum_connections(const __grid_constant__ OrderArguments<Real> arg)
  {
    double sum;
    wait_for_kernel_before();
    for_each_row(
        arg.rows,
        [&](const RowPlace &at) {
          sum = 0.0;
          std::int64_t element = at.element;
          for (int left = arg.partners.count[at.thread_of_tiles]; left > 0;
               left -= FOUR, element += 32) {
            Four<Real> product = arg.partners.product[element], slope;
            const Four<Real> s = arg.partners.s[element];
#pragma unroll
            for (int u = 0; u < FOUR; ++u)
              if (u < left) sum += s.v[u] * connect(arg, product.v[u], slope.v[u]);
            arg.partners.product[element] = product;
            arg.partners.slope[element] = slope;
          }
        },
        [&](const RowPlace &at, int lanes) {
          sum = add_row_lanes(sum, lanes);
          if (!at.valid || at.lane != 0) return;
          arg.value[atom_of(arg.rows, at)] = sum;
        });
  }

}    // namespace

void find_partners_in_range(const OrderArguments<float> &arg, cudaStream_t stream)
{
  list_partners(arg, stream);
}
void find_partners_in_range(const OrderArguments<double> &arg, cudaStream_t stream)
{
  list_partners(arg, stream);
}

void connect_partners(const OrderArguments<float> &arg, cudaStream_t stream)
{
  launch_over_rows("launching sum_connections", sum_connections<float>, arg, arg.rows, stream);
}
void connect_partners(const OrderArguments<double> &arg, cudaStream_t stream)
{
  launch_over_rows("launching sum_connections", sum_connections<double>, arg, arg.rows, stream);
}

}    // namespace gpucoord
