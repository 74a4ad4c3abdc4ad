// Part of GPUCOORD, GPL-2.0. Qualifiers shared by every formula header.

#ifndef GPUCOORD_CONFIG_H
#define GPUCOORD_CONFIG_H

// Each formula is written once and compiled for the host and for the device. Host formulas are
// always inlined: the host kernels are compiled once for each instruction set, and the linker must
// never pick an out-of-line copy compiled for a newer processor.
#if defined(__CUDACC__)
#define GPUCOORD_HD __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define GPUCOORD_HD inline __attribute__((always_inline))
#else
#define GPUCOORD_HD inline
#endif

#endif
