// Part of GPUCOORD, GPL-2.0. Lists partners within one range.

#include "partner_lists.cuh"

namespace gpucoord {

namespace {

  template <class RealType> struct OneRange {
    using Real = RealType;
    using Arguments = PartnersWithin<Real>;
    using Function = Real;    // its range
    static constexpr bool HAS_FUNCTIONS = false;
    static __device__ const Real &of(const Arguments &arg, int, int) { return arg.range_sq; }
    static __device__ Real range_sq(Real range) { return range; }
    static __device__ SwitchValue<Real> evaluate(Real, Real) { return {}; }
  };

}    // namespace

void list_partners_within(const PartnersWithin<float> &arg, cudaStream_t stream)
{
  launch_listing<OneRange<float>>(arg, stream);
}
void list_partners_within(const PartnersWithin<double> &arg, cudaStream_t stream)
{
  launch_listing<OneRange<double>>(arg, stream);
}

}    // namespace gpucoord
