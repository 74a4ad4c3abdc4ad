// Part of GPUCOORD, GPL-2.0. A custom switching function as instructions for the GPU.

#ifndef GPUCOORD_CUSTOM_PROGRAM_CUDA_H
#define GPUCOORD_CUSTOM_PROGRAM_CUDA_H

#include "../gpu/expression_program.h"

#include <string>
#include <vector>

namespace gpucoord {

struct CustomProgram {
  std::vector<Instruction> value, derivative;    // f(x), df/dx
};

// Throws DeviceError if the expression is too deep for the stack.
CustomProgram compile_custom(const std::string &expression);

}    // namespace gpucoord

#endif
