// Part of GPUCOORD, GPL-2.0. Four numbers that kernels load and store together.

#ifndef GPUCOORD_FOUR_CUH
#define GPUCOORD_FOUR_CUH

namespace gpucoord {

template <class Real> struct alignas(4 * sizeof(Real)) Four {
  Real v[4];
};

}    // namespace gpucoord

#endif
