// Part of GPUCOORD, GPL-2.0. Host kernels are compiled once for each instruction set, in a
// namespace with its name. Tests call all that this processor supports.

#ifndef GPUCOORD_TEST_EACH_ISA_H
#define GPUCOORD_TEST_EACH_ISA_H

// Puts declarations into each of these namespaces. Use it within namespace gpucoord.
#ifdef __x86_64__
#define GPUCOORD_TEST_DECLARE_IN_EACH_ISA(...) \
  namespace isa_baseline {                     \
  __VA_ARGS__                                  \
  }                                            \
  namespace isa_avx2 {                         \
  __VA_ARGS__                                  \
  }                                            \
  namespace isa_avx512 {                       \
  __VA_ARGS__                                  \
  }
#else
#define GPUCOORD_TEST_DECLARE_IN_EACH_ISA(...) \
  namespace isa_baseline {                     \
  __VA_ARGS__                                  \
  }
#endif

#ifdef __x86_64__
inline bool runs_avx2()
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2");
}

inline bool runs_avx512()
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl");
}
#endif

#endif
