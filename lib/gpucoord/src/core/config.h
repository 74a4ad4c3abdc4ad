// Part of GPUCOORD, GPL-2.0. Qualifiers shared by every formula header.

#ifndef GPUCOORD_CONFIG_H
#define GPUCOORD_CONFIG_H

// Each formula is written once and compiled for host and device. Host formulas are always inlined.
// The host kernels are compiled once per instruction set, and the linker must never pick an
// out-of-line copy for a newer processor.
#if defined(__CUDACC__)
#define GPUCOORD_HD __host__ __device__ __forceinline__
#define GPUCOORD_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define GPUCOORD_HD inline __attribute__((always_inline))
#else
#define GPUCOORD_HD inline
#endif

// Before a loop of few iterations: a GPU then indexes no array at run time, which would put it in
// memory.
#if !defined(GPUCOORD_UNROLL)
#define GPUCOORD_UNROLL
#endif

#endif
