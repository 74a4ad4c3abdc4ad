// Part of GPUCOORD, GPL-2.0. Translates a custom switching function for the GPU.

#include "custom_program_cuda.h"

#include "../core/parsed_function.h"

#include "gpucoord/switch_table.h"

#include <stdexcept>

namespace gpucoord {

CustomProgram compile_custom(const std::string &expression)
{
  const ParsedFunction parsed(expression);
  try {
    return {translate(parsed.value, {"x"}), translate(parsed.derivative, {"x"})};
  } catch (const std::length_error &error) {
    throw DeviceError("the expression '" + expression + "' " + error.what());
  }
}

}    // namespace gpucoord
