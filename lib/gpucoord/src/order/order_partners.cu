// Part of GPUCOORD, GPL-2.0. The kernels of order parameters that evaluate switching functions:
// they do not depend on l.
//
// The formula of s is chosen at run time, by a call: inlined, all formulas would take the registers
// of each kernel. A call makes a kernel save its registers, which is cheap here, and expensive in
// kernels with sums over all m.

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

  // Partners in range of a thread, which are stored by fours.
  template <class Real> class Found {
   public:
    int count = 0;

    __device__ Found(const PartnersInRange<Real> &to_in, std::int64_t element_in) :
        to(to_in), element(element_in)
    {
    }
    __device__ void add(int point, Real s, Real ds)
    {
      const int k = count % FOUR;
#pragma unroll
      for (int u = 0; u < FOUR; ++u)
        if (u >= k) {    // later ones are overwritten
          points[u] = point;
          of_s.v[u] = s;
          of_ds.v[u] = ds;
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

  template <class Real>
  __global__ void __launch_bounds__(GATHER_THREADS)
      list_partners_in_range(const __grid_constant__ OrderArguments<Real> arg)
  {
    using Point = typename PointOf<Real>::Type;
    const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
    const Real unit = std::is_same<Real, float>::value ? arg.unit : 1.0, unit_sq = unit * unit;
    wait_for_kernel_before();
    for_each_row(
        arg.rows,
        [&](const RowPlace &at) {
          Found<Real> found(arg.partners, at.element);
          if (at.valid) {
            const Point atom = points[at.point];
            const int4 *partner = arg.rows.partner + at.element;
            const int lanes = arg.rows.lanes;
            for (int left = arg.rows.count[at.row] - at.lane; left > 0;
                 left -= FOUR * lanes, partner += 32) {
              const int4 four = load_once(partner);
              const int number[FOUR] = {four.x, four.y, four.z, four.w};
              Point other[FOUR];
#pragma unroll
              for (int u = 0; u < FOUR; ++u) other[u] = points[number[u]];
#pragma unroll
              for (int u = 0; u < FOUR; ++u) {
                Real dx, dy, dz;
                difference(atom, other[u], dx, dy, dz);
                const Real r_sq = length_sq(dx * dx + dy * dy + dz * dz, unit_sq);
                const OrderFunction<Real> &f = arg.by_class
                    ? arg.by_class[class_of(atom) * arg.nclasses + class_of(other[u])]
                    : arg.function;
                if (u * lanes >= left || !(r_sq <= f.constants.dmax_sq)) continue;
                const SwitchValue<Real> value = evaluate_form(&f, r_sq);
                found.add(number[u], value.s, value.dfunc * sqrt(r_sq));
              }
            }
          }
          found.finish();
          arg.partners.count[at.thread_of_tiles] = found.count;
        },
        [](const RowPlace &, int) {
        });
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
          arg.value[arg.rows.atom ? arg.rows.atom[at.row] : at.row] = sum;
        });
  }

}    // namespace

void find_partners_in_range(const OrderArguments<float> &arg, cudaStream_t stream)
{
  launch_over_rows("launching list_partners_in_range", list_partners_in_range<float>, arg, arg.rows,
                   stream);
}
void find_partners_in_range(const OrderArguments<double> &arg, cudaStream_t stream)
{
  launch_over_rows("launching list_partners_in_range", list_partners_in_range<double>, arg,
                   arg.rows, stream);
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
