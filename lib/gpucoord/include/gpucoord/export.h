// Part of GPUCOORD, GPL-2.0. Visibility of symbols in the shared library.

#ifndef GPUCOORD_EXPORT_H
#define GPUCOORD_EXPORT_H

// GPUCOORD_API: the interface. GPUCOORD_TEST_API: internals that tests and benches call. Everything else is
// hidden; in a static library all is.
#if defined(GPUCOORD_SHARED)
#define GPUCOORD_API __attribute__((visibility("default")))
#else
#define GPUCOORD_API
#endif
#define GPUCOORD_TEST_API GPUCOORD_API

#endif
