// Part of GPUCOORD, GPL-2.0. The launchers of one formula in one precision.

#ifndef GPUCOORD_LAUNCH_CUDA_H
#define GPUCOORD_LAUNCH_CUDA_H

#include "../switching/forms.h"
#include "../switching/formula_constants_cuda.h"
#include "class_functions_cuda.h"
#include "pair_arguments_cuda.h"

#include "gpucoord/pairs.h"

#include <cuda_runtime.h>

#include <algorithm>

namespace gpucoord {

// Launch shape of engine 'cells'.
struct CellsShape {
  int warps_per_block;
  int multiprocessors;    // multiprocessors of the GPU
};
constexpr int MAX_WARPS_PER_BLOCK = 4;

// Returns the number of warps that share the partners of an atom. It is chosen such that there are
// enough warps.
inline int splits_of(int warps, int maximum)
{
  return std::clamp(tuning::TARGET_WARPS / warps, 1, maximum);
}

// Each launcher enqueues one kernel. Arguments with n = 0 are not allowed. Throws DeviceError.
template <class Real> struct Launchers {
  void (*cells)(const CellsArguments &, const FormulaConstants<Real> &, unsigned want,
                const CellsShape &, cudaStream_t);
  void (*list)(const ListArguments &, const FormulaConstants<Real> &, unsigned want, cudaStream_t);
  void (*allpairs)(const AllPairsArguments &, const FormulaConstants<Real> &, unsigned want,
                   cudaStream_t);
  void (*pairs)(const PairsArguments &, const FormulaConstants<Real> &, unsigned want,
                cudaStream_t);
  void (*partners)(const RowArguments &, const FormulaConstants<Real> &, unsigned want,
                   cudaStream_t);
  void (*partners_by_class)(const RowArguments &, const ClassFunctions<Real> &, unsigned want,
                            cudaStream_t);
};

// SINGLE sums the terms of one atom in float. MIXED sums them in float and double.
template <SwitchForm FORM> void get_launchers(Precision, Launchers<float> &);
template <SwitchForm FORM> void get_launchers(Precision, Launchers<double> &);

}    // namespace gpucoord

#endif
