// Part of GPUCOORD, GPL-2.0.

#ifndef GPUCOORD_FORMULA_CONSTANTS_CUDA_H
#define GPUCOORD_FORMULA_CONSTANTS_CUDA_H

#include "custom_program_cuda.h"

#include "formula.h"

namespace gpucoord {

// what a formula needs: for an expression also its instructions, in device memory
template <class Real> struct FormulaConstants : SwitchConstants<Real> {
  const Instruction *program;    // first those of the value, then those of the derivative
  int nvalue, nderivative;
};

struct InterpretedSwitch;    // the formula that runs those instructions

}    // namespace gpucoord

#endif
