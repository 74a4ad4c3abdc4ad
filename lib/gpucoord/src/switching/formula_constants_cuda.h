// Part of GPUCOORD, GPL-2.0. Constants of formulas in kernels.

#ifndef GPUCOORD_FORMULA_CONSTANTS_CUDA_H
#define GPUCOORD_FORMULA_CONSTANTS_CUDA_H

#include "../expression/expression_program.h"
#include "formula.h"

namespace gpucoord {

// Constants of a formula; for an expression also its instructions, in device memory.
template <class Real> struct FormulaConstants : SwitchConstants<Real> {
  const Instruction *program;    // instructions of the value, then of the derivative
  int nvalue, nderivative;
};

}    // namespace gpucoord

#endif
