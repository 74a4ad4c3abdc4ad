// Part of GPUCOORD, GPL-2.0. Every build of the pair kernels that this processor can run.
//
// The library takes the newest; the tests call each one by its own name.

#ifndef GPUCOORD_TEST_INSTRUCTION_SETS_H
#define GPUCOORD_TEST_INSTRUCTION_SETS_H

#include "../../lib/gpucoord/src/host/pair_kernels.h"

#include <string>
#include <vector>

namespace gpucoord {
#define GPUCOORD_TEST_DECLARE(isa)                                          \
  namespace isa {                                                          \
    void get_pair_kernels(const Switch &, Precision, PairKernels<float> &);  \
    void get_pair_kernels(const Switch &, Precision, PairKernels<double> &); \
  }
GPUCOORD_TEST_DECLARE(isa_baseline)
#ifdef __x86_64__
GPUCOORD_TEST_DECLARE(isa_avx2)
GPUCOORD_TEST_DECLARE(isa_avx512)
#endif
#undef GPUCOORD_TEST_DECLARE
}    // namespace gpucoord

template <class Real> struct InstructionSet {
  std::string name;
  gpucoord::PairKernels<Real> kernels;
};

template <class Real>
std::vector<InstructionSet<Real>> instruction_sets(const gpucoord::Switch &function,
                                                   gpucoord::Precision precision)
{
  std::vector<InstructionSet<Real>> sets(1);
  sets[0].name = "baseline";
  gpucoord::isa_baseline::get_pair_kernels(function, precision, sets[0].kernels);
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    sets.push_back({"AVX2", {}});
    gpucoord::isa_avx2::get_pair_kernels(function, precision, sets.back().kernels);
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    sets.push_back({"AVX-512", {}});
    gpucoord::isa_avx512::get_pair_kernels(function, precision, sets.back().kernels);
  }
#endif
  return sets;
}

#endif
