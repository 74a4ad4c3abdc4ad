// Part of GPUCOORD, GPL-2.0. Compiled, not run: every formula as device code, in both
// precisions.

#include "gpucoord/box.h"
#include "gpucoord/coordination.h"
#include "gpucoord/switching.h"

#include "common/minimum_image.h"
#include "common/switch_dispatch.h"
#include "common/switch_formulas.h"

template <class Formula, class Real>
__global__ void evaluate(gpucoord::SwitchConstants<Real> c, const Real *r_sq, Real *s, Real *dfunc)
{
  Formula::eval(c, r_sq[threadIdx.x], s[threadIdx.x], dfunc[threadIdx.x]);
}

__global__ void nearest(gpucoord::Box box, double *d)
{
  gpucoord::minimum_image(box, d[0], d[1], d[2]);
}

// as a CUDA backend chooses its kernel
template <class Real> void launch(const gpucoord::Switch &function, const Real *r_sq, Real *out)
{
  const auto c = gpucoord::make_constants<Real>(function);
  gpucoord::visit_formula(function, [&](auto formula) {
    evaluate<decltype(formula), Real><<<1, 32>>>(c, r_sq, out, out + 32);
  });
}

template void launch<float>(const gpucoord::Switch &, const float *, float *);
template void launch<double>(const gpucoord::Switch &, const double *, double *);
