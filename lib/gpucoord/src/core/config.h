// Part of GPUCOORD, GPL-2.0. Qualifiers shared by every formula header.

#ifndef GPUCOORD_CONFIG_H
#define GPUCOORD_CONFIG_H

// A formula is written once and compiled for the host and for the device.
// On the host it is always inlined: the host kernels are compiled once for
// each instruction set, and an out-of-line copy made for a newer processor
// must never be the one the linker keeps for an older one.
#if defined(__CUDACC__)
#define GPUCOORD_HD __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define GPUCOORD_HD inline __attribute__((always_inline))
#else
#define GPUCOORD_HD inline
#endif

#endif
