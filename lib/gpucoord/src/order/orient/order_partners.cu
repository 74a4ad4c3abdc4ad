// Part of GPUCOORD, GPL-2.0. The kernels of order parameters that evaluate switching functions.
// They do not depend on l.
//
// With several classes of types, and for sigma of CONNECTIONS, the formula is selected at run time
// by a function call. Inlining all formulas would increase the number of registers of each kernel.

#include "../partners_in_range.cuh"
#include "order_arguments_cuda.h"

#include "../../atom_functions/threshold.h"
#include "../../switching/interpreted.cuh"
#include "../../switching/switch_dispatch.h"

namespace gpucoord {

namespace {

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

  template <class RealType> struct ListedForm {
    using Real = RealType;
    using Arguments = OrderArguments<Real>;
    using Function = OrderFunction<Real>;
    using Sum = NoSum;
    static constexpr bool HAS_FUNCTIONS = true;
    static __device__ Real range_sq(const Function &f) { return f.constants.dmax_sq; }
  };

  // One function with this formula.
  template <class Formula, class Real> struct OneForm : ListedForm<Real> {
    static __device__ const OrderFunction<Real> &function(const OrderArguments<Real> &arg, int, int)
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
  // Functions by pair of classes.
  template <class Real> struct AnyForm : ListedForm<Real> {
    static __device__ const OrderFunction<Real> &function(const OrderArguments<Real> &arg, int ci,
                                                          int cj)
    {
      return arg.by_class[ci * arg.nclasses + cj];
    }
    static __device__ SwitchValue<Real> evaluate(const OrderFunction<Real> &f, Real r_sq)
    {
      return evaluate_form(&f, r_sq);
    }
  };

  template <class Real> void list_partners(const OrderArguments<Real> &arg, cudaStream_t stream)
  {
    if (arg.by_class) return launch_listing<AnyForm<Real>>(arg, stream);
    switch (arg.function.form) {
#define GPUCOORD_FORM(KIND, FORM, FORMULA) \
  case SwitchForm::FORM:                   \
    return launch_listing<OneForm<formula::FORM, Real>>(arg, stream);
#include "gpucoord/switch_functions.def"
    }
  }

  // Replaces a product by 1 - sigma, and returns 1 - sigma. Sets its derivative.
  template <class Real>
  __device__ double connect(const OrderArguments<Real> &arg, Real &product, Real &derivative_of_h)
  {
    double h, derivative = 1.0;
    threshold(true, arg.connection.constants.d0, static_cast<double>(product), h, derivative,
              [&](double x, double &sigma, double &dsigma) {
                sigma = dsigma = 0.0;
                if (!(x * x <= arg.connection.constants.dmax_sq)) return;
                const SwitchValue<double> found = evaluate_form(&arg.connection, x * x);
                sigma = found.s;
                dsigma = found.dfunc * x;
              });
    product = static_cast<Real>(h);
    derivative_of_h = static_cast<Real>(derivative);
    return h;
  }

  template <class Real>
  __global__ void __launch_bounds__(GATHER_THREADS)
      sum_connections(const __grid_constant__ OrderArguments<Real> arg)
  {
    double sum;
    wait_for_previous_kernel();
    for_each_row(
        arg.rows,
        [&](const RowPosition &at) {
          sum = 0.0;
          std::int64_t element = at.element;
          for (int left = arg.partners.count[at.tile_thread]; left > 0;
               left -= FOUR, element += 32) {
            Four<Real> product = arg.partners.product[element], derivative;
            const Four<Real> s = arg.partners.s[element];
#pragma unroll
            for (int u = 0; u < FOUR; ++u)
              if (u < left) sum += s.v[u] * connect(arg, product.v[u], derivative.v[u]);
            arg.partners.product[element] = product;
            arg.partners.derivative[element] = derivative;
          }
        },
        [&](const RowPosition &at, int lanes) {
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
