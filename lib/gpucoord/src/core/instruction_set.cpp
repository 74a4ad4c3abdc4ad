// Part of GPUCOORD, GPL-2.0. Selects the instruction set of the host kernels.

#include "instruction_set.h"

#include "gpucoord/types.h"

namespace gpucoord {

InstructionSet best_instruction_set()
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

const char *host_instruction_set()
{
  switch (best_instruction_set()) {
    case InstructionSet::AVX512:
      return "AVX-512";
    case InstructionSet::AVX2:
      return "AVX2";
    default:
      return "baseline";
  }
}

}    // namespace gpucoord
