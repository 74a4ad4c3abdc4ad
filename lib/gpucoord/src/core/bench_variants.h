// Part of GPUCOORD, GPL-2.0. Whether to compile variants that no backend selects. Benchmarks
// compare with them (CMake option GPUCOORD_BENCH_VARIANTS).

#ifndef GPUCOORD_BENCH_VARIANTS_H
#define GPUCOORD_BENCH_VARIANTS_H

namespace gpucoord {

#ifdef GPUCOORD_BENCH_VARIANTS
constexpr bool BENCH_VARIANTS = true;
#else
constexpr bool BENCH_VARIANTS = false;
#endif

}    // namespace gpucoord

#endif
