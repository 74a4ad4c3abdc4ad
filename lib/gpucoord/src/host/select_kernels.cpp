// Part of GPUCOORD, GPL-2.0. Chooses the instruction set of the host kernels.

#include "gpucoord/coordination.h"
#include "pair_kernels.h"

namespace gpucoord {

#define GPUCOORD_DECLARE(isa)                                                \
  namespace isa {                                                            \
    void get_pair_kernels(const Switch &, Precision, PairKernels<float> &);  \
    void get_pair_kernels(const Switch &, Precision, PairKernels<double> &); \
  }
GPUCOORD_DECLARE(isa_baseline)
#ifdef GPUCOORD_X86_64
GPUCOORD_DECLARE(isa_avx2)
GPUCOORD_DECLARE(isa_avx512)
#endif

namespace {

  enum class InstructionSet { BASELINE, AVX2, AVX512 };

  InstructionSet best()
  {
#ifdef GPUCOORD_X86_64
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")) {
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
          __builtin_cpu_supports("avx512vl"))
        return InstructionSet::AVX512;
      return InstructionSet::AVX2;
    }
#endif
    return InstructionSet::BASELINE;
  }

}    // namespace

template <class Real>
PairKernels<Real> select_pair_kernels(const Switch &function, Precision precision)
{
  PairKernels<Real> kernels;
  switch (best()) {
#ifdef GPUCOORD_X86_64
    case InstructionSet::AVX512: isa_avx512::get_pair_kernels(function, precision, kernels); break;
    case InstructionSet::AVX2: isa_avx2::get_pair_kernels(function, precision, kernels); break;
#endif
    default: isa_baseline::get_pair_kernels(function, precision, kernels);
  }
  return kernels;
}
template PairKernels<float> select_pair_kernels<float>(const Switch &, Precision);
template PairKernels<double> select_pair_kernels<double>(const Switch &, Precision);

const char *host_instruction_set()
{
  switch (best()) {
    case InstructionSet::AVX512: return "AVX-512";
    case InstructionSet::AVX2: return "AVX2";
    default: return "baseline";
  }
}

}    // namespace gpucoord
