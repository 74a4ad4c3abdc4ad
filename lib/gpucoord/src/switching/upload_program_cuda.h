// Part of GPUCOORD, GPL-2.0. Copies the instructions of an expression to the GPU.

#ifndef GPUCOORD_UPLOAD_PROGRAM_CUDA_H
#define GPUCOORD_UPLOAD_PROGRAM_CUDA_H

#include "../gpu/buffers.h"
#include "formula_constants_cuda.h"

#include <vector>

namespace gpucoord {

// Copies the program to instructions, [nvalue + nderivative], and sets the constants that refer to
// it. Throws DeviceError.
template <class Real>
void upload_program(const CustomProgram &program, DeviceBuffer<Instruction> &instructions,
                    FormulaConstants<Real> &constants)
{
  std::vector<Instruction> both = program.value;
  both.insert(both.end(), program.derivative.begin(), program.derivative.end());
  instructions.reserve(both.size());
  check(cudaMemcpy(instructions.data(), both.data(), both.size() * sizeof(Instruction),
                   cudaMemcpyHostToDevice),
        "copying the expression");
  constants.program = instructions.data();
  constants.nvalue = static_cast<int>(program.value.size());
  constants.nderivative = static_cast<int>(program.derivative.size());
}

}    // namespace gpucoord

#endif
