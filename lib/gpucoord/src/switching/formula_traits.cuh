// Part of GPUCOORD, GPL-2.0. Properties of a formula that kernels choose their algorithm by.

#ifndef GPUCOORD_FORMULA_TRAITS_CUH
#define GPUCOORD_FORMULA_TRAITS_CUH

#include <type_traits>

namespace gpucoord {

// True if a formula is as cheap as finding the partners that need it.
template <class Formula> constexpr bool CHEAP = Formula::CHEAP;

// True if a formula of r^2 uses lengths in units of r0, which saves a factor. Not in double,
// because dmax would not be exact.
template <class Formula, class Real>
constexpr bool IN_R0 = Formula::IN_R0 &&std::is_same<Real, float>::value;

}    // namespace gpucoord

#endif
