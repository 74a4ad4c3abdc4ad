// Part of GPUCOORD, GPL-2.0. Chooses the instruction set of the host kernels.

#include "../map/map_kernels.h"
#include "../multisite/site_kernels.h"
#include "gpucoord/coordination.h"
#include "pair_kernels.h"

namespace gpucoord {

#define GPUCOORD_DECLARE(isa)                                                    \
  namespace isa {                                                                \
    void get_pair_kernels(const Switch &, Precision, PairKernels<float> &);      \
    void get_pair_kernels(const Switch &, Precision, PairKernels<double> &);     \
    void get_keep_near_box(KeepNearBoxFunction<float> &);                        \
    void get_keep_near_box(KeepNearBoxFunction<double> &);                       \
    void get_site_kernels(SiteKernels<float> &);                                 \
    void get_site_kernels(SiteKernels<double> &);                                \
    void get_map_kernels(const MapOptions &, Precision, MapKernels<float> &);    \
    void get_map_kernels(const MapOptions &, Precision, MapKernels<double> &);   \
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

#ifdef GPUCOORD_X86_64
#define GPUCOORD_CALL(...)                                              \
  switch (best()) {                                                     \
    case InstructionSet::AVX512: isa_avx512::__VA_ARGS__; break;        \
    case InstructionSet::AVX2: isa_avx2::__VA_ARGS__; break;            \
    default: isa_baseline::__VA_ARGS__;                                 \
  }
#else
#define GPUCOORD_CALL(...) isa_baseline::__VA_ARGS__;
#endif

template <class Real> PairKernels<Real> select_pair_kernels(const Switch &function, Precision precision)
{
  PairKernels<Real> kernels;
  GPUCOORD_CALL(get_pair_kernels(function, precision, kernels))
  return kernels;
}
template PairKernels<float> select_pair_kernels<float>(const Switch &, Precision);
template PairKernels<double> select_pair_kernels<double>(const Switch &, Precision);

template <class Real> KeepNearBoxFunction<Real> select_keep_near_box()
{
  KeepNearBoxFunction<Real> kernel;
  GPUCOORD_CALL(get_keep_near_box(kernel))
  return kernel;
}
template KeepNearBoxFunction<float> select_keep_near_box<float>();
template KeepNearBoxFunction<double> select_keep_near_box<double>();

template <class Real> SiteKernels<Real> select_site_kernels()
{
  SiteKernels<Real> kernels;
  GPUCOORD_CALL(get_site_kernels(kernels))
  return kernels;
}
template SiteKernels<float> select_site_kernels<float>();
template SiteKernels<double> select_site_kernels<double>();

template <class Real> MapKernels<Real> select_map_kernels(const MapOptions &options, Precision precision)
{
  MapKernels<Real> kernels;
  GPUCOORD_CALL(get_map_kernels(options, precision, kernels))
  return kernels;
}
template MapKernels<float> select_map_kernels<float>(const MapOptions &, Precision);
template MapKernels<double> select_map_kernels<double>(const MapOptions &, Precision);

const char *host_instruction_set()
{
  switch (best()) {
    case InstructionSet::AVX512: return "AVX-512";
    case InstructionSet::AVX2: return "AVX2";
    default: return "baseline";
  }
}

}    // namespace gpucoord
