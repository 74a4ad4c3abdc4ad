// Part of GPUCOORD, GPL-2.0. Selects the best build of a host kernel for this machine.

#ifndef GPUCOORD_INSTRUCTION_SET_H
#define GPUCOORD_INSTRUCTION_SET_H

namespace gpucoord {

enum class InstructionSet { BASELINE, AVX2, AVX512 };

// Returns the best instruction set that this machine supports.
InstructionSet best_instruction_set();

}    // namespace gpucoord

// GPUCOORD_SELECT_KERNELS(Kernels, get, select) defines select<Real>() in the source that calls it.
// It returns the Kernels<Real> of the best build, which get() sets.
// GPUCOORD_FOR_EACH_ISA(declarations) repeats the declarations in the namespace of each build.
// GPUCOORD_CALL_BEST(f(x)) calls f(x) from the namespace of the best build.
#ifdef GPUCOORD_X86_64
#define GPUCOORD_FOR_EACH_ISA(...) \
  namespace isa_baseline {         \
    __VA_ARGS__                    \
  }                                \
  namespace isa_avx2 {             \
    __VA_ARGS__                    \
  }                                \
  namespace isa_avx512 {           \
    __VA_ARGS__                    \
  }
#define GPUCOORD_CALL_BEST(...)     \
  switch (best_instruction_set()) { \
    case InstructionSet::AVX512:    \
      isa_avx512::__VA_ARGS__;      \
      break;                        \
    case InstructionSet::AVX2:      \
      isa_avx2::__VA_ARGS__;        \
      break;                        \
    default:                        \
      isa_baseline::__VA_ARGS__;    \
  }
#else
#define GPUCOORD_FOR_EACH_ISA(...) \
  namespace isa_baseline {         \
    __VA_ARGS__                    \
  }
#define GPUCOORD_CALL_BEST(...) isa_baseline::__VA_ARGS__;
#endif

#define GPUCOORD_SELECT_KERNELS(KERNELS, GET, SELECT)                             \
  GPUCOORD_FOR_EACH_ISA(void GET(KERNELS<float> &); void GET(KERNELS<double> &);) \
  template <class Real> static KERNELS<Real> SELECT()                             \
  {                                                                               \
    KERNELS<Real> kernels;                                                        \
    GPUCOORD_CALL_BEST(GET(kernels))                                              \
    return kernels;                                                               \
  }

#endif
