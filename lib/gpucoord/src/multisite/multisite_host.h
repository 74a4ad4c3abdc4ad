// Part of GPUCOORD, GPL-2.0. Rigid molecules on the host, with a choice of the traversal, for tests
// and benchmarks.

#ifndef GPUCOORD_MULTISITE_HOST_H
#define GPUCOORD_MULTISITE_HOST_H

#include "gpucoord/multisite.h"

#include <memory>

namespace gpucoord {

// Traversal of pairs of molecules. TWICE: from both molecules; each molecule sums its own terms.
// ONCE: terms are stored to both molecules; cells have colors, so that no two threads store to the
// same molecule at the same time. ONCE exists only with BENCH_VARIANTS.
#ifdef GPUCOORD_BENCH_VARIANTS
enum class Traversal { TWICE, ONCE };
#else
enum class Traversal { TWICE };
#endif

GPUCOORD_TEST_API std::unique_ptr<Multisite> make_host_multisite(const MultisiteModel &, Precision,
                                                                 int nthreads, Traversal);

}    // namespace gpucoord

#endif
