// Part of GPUCOORD, GPL-2.0. All builds of the pair kernels that this processor supports.
//
// The library uses the newest one. The tests call each of them by its name.

#ifndef GPUCOORD_TEST_INSTRUCTION_SETS_H
#define GPUCOORD_TEST_INSTRUCTION_SETS_H

#include "each_isa.h"

#include "../../lib/gpucoord/src/pairs/pair_kernels_host.h"

#include <string>
#include <vector>

namespace gpucoord {
GPUCOORD_TEST_DECLARE_IN_EACH_ISA(void get_pair_kernels(const Switch &, Precision,
                                                        PairKernels<float> &);
                                  void get_pair_kernels(const Switch &, Precision,
                                                        PairKernels<double> &);)
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
  if (runs_avx2()) {
    sets.push_back({"AVX2", {}});
    gpucoord::isa_avx2::get_pair_kernels(function, precision, sets.back().kernels);
  }
  if (runs_avx512()) {
    sets.push_back({"AVX-512", {}});
    gpucoord::isa_avx512::get_pair_kernels(function, precision, sets.back().kernels);
  }
#endif
  return sets;
}

#endif
