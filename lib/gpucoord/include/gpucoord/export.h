// Part of GPUCOORD, GPL-2.0. Visibility of symbols in the shared library.

#ifndef GPUCOORD_EXPORT_H
#define GPUCOORD_EXPORT_H

// GPUCOORD_API marks the public interface. GPUCOORD_TEST_API marks internals that tests and
// benchmarks call. All other symbols are hidden in a shared library. A static library needs no
// marks.
#if defined(GPUCOORD_SHARED)
#define GPUCOORD_API __attribute__((visibility("default")))
#else
#define GPUCOORD_API
#endif
#define GPUCOORD_TEST_API GPUCOORD_API

#endif
