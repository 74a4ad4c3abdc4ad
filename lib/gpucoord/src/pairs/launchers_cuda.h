// Part of GPUCOORD, GPL-2.0. The functions of a switching table, prepared for kernels.

#ifndef GPUCOORD_LAUNCHERS_CUDA_H
#define GPUCOORD_LAUNCHERS_CUDA_H

#include "../gpu/buffers.h"
#include "../switching/upload_program_cuda.h"
#include "launch_cuda.h"

#include <deque>
#include <vector>

namespace gpucoord {

template <class Real> struct SwitchFunction {
  double dmax;
  FormulaConstants<Real> constants = {};
  Launchers<Real> launchers = {};
  DeviceBuffer<Instruction> instructions;    // [nvalue + nderivative] of a custom expression
};

template <class Real> void upload_program(const CustomProgram &program, SwitchFunction<Real> &f)
{
  upload_program(program, f.instructions, f.constants);
}

// Makes the functions in the order of the table.
template <class Real>
void make_functions(const SwitchTable &table, Precision precision,
                    std::deque<SwitchFunction<Real>> &functions)
{
  for (const Switch &function : table.functions()) {
    SwitchFunction<Real> &f = functions.emplace_back();
    f.dmax = function.dmax();
    static_cast<SwitchConstants<Real> &>(f.constants) = make_constants<Real>(function);
    visit_form(form_of(function), [&](auto form) {
      get_launchers<form()>(precision, f.launchers);
    });
    if (function.options().kind == SwitchKind::CUSTOM)
      upload_program(compile_custom(function.options().expression), f);
  }
}

}    // namespace gpucoord

#endif
