// Part of GPUCOORD, GPL-2.0. All pair kernels of one formula. This file is compiled once for each
// form in switch_functions.def, with -DGPUCOORD_FORMULA=name. Each included kernel file documents
// its launch.

#include "cell_processor.cuh"
#include "gather_kernels.cuh"
#include "launch_cuda.h"
#include "row_block_kernels.cuh"
#include "row_kernels.cuh"

#include "gpucoord_form.h"    // made by CMake: the formula GPUCOORD_FORMULA

#include <algorithm>
#include <type_traits>

#ifndef GPUCOORD_FORMULA
#error "compile with -DGPUCOORD_FORMULA=name, a form in switch_functions.def"
#endif

namespace gpucoord {

namespace {

  using Formula = formula::GPUCOORD_FORMULA;

  // The virial is rarely requested without derivatives. The kernels compute both, and do not store
  // derivatives that are not requested.
  constexpr unsigned ALL = DERIVATIVES | VIRIAL;
  // The per-atom virial needs more stores per atom. It has a separate kernel, so that the other
  // kernels need fewer registers.
  constexpr unsigned ALL_OF_ATOMS = ALL | ATOM_VIRIAL;
  constexpr unsigned IN_WINDOW = DERIVATIVES | WINDOWED;

  // Calls f with 'want' as a compile-time constant: one of WANTS, or ALL if 'want' is not one of
  // them.
  template <unsigned... WANTS, class F> void with_want(unsigned want, F f)
  {
    const bool is_found =
        ((want == WANTS && (f(std::integral_constant<unsigned, WANTS>()), true)) || ...);
    if (!is_found) f(std::integral_constant<unsigned, ALL>());
  }

  template <class Real, class Accumulator, unsigned WANT, bool WEIGHTED>
  void launch_cells(const CellsArguments &arg, const FormulaConstants<Real> &c,
                    const CellsShape &shape, cudaStream_t stream)
  {
    const int threads = 32 * shape.warps_per_block;
    const int warps = (arg.i.nowned + 31) / 32 * arg.out.splits;
    // Launch as many threads as fit on the multiprocessors. Further threads would find the queue
    // empty.
    const int blocks = std::min((warps + shape.warps_per_block - 1) / shape.warps_per_block,
                                shape.multiprocessors * (2048 / threads));
    using Memory = PartnerMemory<!CHEAP<Formula>, Real, WEIGHTED>;
    static_assert(MAX_WARPS_PER_BLOCK * sizeof(Memory) <= 48 * 1024,
                  "every GPU has 48 KiB per block");
    const std::size_t memory = shape.warps_per_block * sizeof(Memory);
    process_cells<Formula, Real, Accumulator, WANT, WEIGHTED>
        <<<blocks, threads, memory, stream>>>(arg, c);
    check(cudaGetLastError(), "launching process_cells");
  }

  template <class Real, class Accumulator>
  void cells(const CellsArguments &arg, const FormulaConstants<Real> &c, unsigned want,
             const CellsShape &shape, cudaStream_t stream)
  {
    if (arg.weight_i)
      with_want<DERIVATIVES, ALL_OF_ATOMS>(want, [&](auto wanted) {
        launch_cells<Real, Accumulator, wanted(), true>(arg, c, shape, stream);
      });
    else
      with_want<VALUE, DERIVATIVES, ALL_OF_ATOMS>(want, [&](auto wanted) {
        launch_cells<Real, Accumulator, wanted(), false>(arg, c, shape, stream);
      });
  }

  template <class Real, class Accumulator>
  void list(const ListArguments &arg, const FormulaConstants<Real> &c, unsigned want,
            cudaStream_t stream)
  {
    constexpr int ATOMS = GATHER_THREADS / 32;
    const int blocks = (arg.n + ATOMS - 1) / ATOMS;
    const auto launch = [&](auto wanted, auto weighted) {
      sum_lists<Formula, Real, Accumulator, wanted(), weighted()>
          <<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    };
    if (arg.weight_i || arg.weight_j)
      with_want<ALL_OF_ATOMS>(want, [&](auto wanted) {
        launch(wanted, std::true_type());
      });
    else
      with_want<VALUE, ALL_OF_ATOMS, IN_WINDOW>(want, [&](auto wanted) {
        launch(wanted, std::false_type());
      });
    check(cudaGetLastError(), "launching sum_lists");
  }

  template <class Real, class Accumulator>
  void allpairs(const AllPairsArguments &arg, const FormulaConstants<Real> &c, unsigned want,
                cudaStream_t stream)
  {
    const dim3 blocks((arg.n + GATHER_THREADS - 1) / GATHER_THREADS, arg.out.splits);
    const auto launch = [&](auto wanted, auto weighted) {
      sum_all_pairs<Formula, Real, Accumulator, wanted(), weighted()>
          <<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    };
    if (arg.weight_i || arg.weight_j)
      with_want<ALL_OF_ATOMS>(want, [&](auto wanted) {
        launch(wanted, std::true_type());
      });
    else
      with_want<VALUE, ALL_OF_ATOMS>(want, [&](auto wanted) {
        launch(wanted, std::false_type());
      });
    check(cudaGetLastError(), "launching sum_all_pairs");
  }

  template <class Real>
  void pairs(const PairsArguments &arg, const FormulaConstants<Real> &c, unsigned want,
             cudaStream_t stream)
  {
    const int blocks = (arg.n + GATHER_THREADS - 1) / GATHER_THREADS;
    with_want<VALUE, ALL_OF_ATOMS>(want, [&](auto wanted) {
      sum_pairs<Formula, Real, Real, wanted()><<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    });
    check(cudaGetLastError(), "launching sum_pairs");
  }

  inline void row_blocks(const RowArguments &arg, const FormulaConstants<float> &c, unsigned want,
                         cudaStream_t stream)
  {
    const unsigned blocks =
        std::min((arg.rows.n + BLOCK_ROWS - 1) / BLOCK_ROWS, tuning::MAX_KERNEL_BLOCKS);
    const std::size_t bytes = bytes_of_points(arg.rows.blocks.max_lines);
    const auto launch = [&](auto *kernel, const auto &function) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)),
            "requesting shared memory");
      // The maximum carveout leaves shared memory for as many concurrent blocks as the registers
      // allow.
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                 cudaSharedmemCarveoutMaxShared),
            "requesting shared memory");
      launch_kernel("launching sum_row_blocks", kernel, true, {blocks, BLOCK_ROWS, bytes}, stream,
                    arg, function);
    };
    using One = OneFunction<float>;
    using Weighted = WithWeights<One, float>;
    if (arg.is_weighted)
      with_want<DERIVATIVES, ALL_OF_ATOMS>(want, [&](auto wanted) {
        launch(sum_row_blocks<Formula, wanted(), Weighted>,
               weighted(One{c}, static_cast<const float *>(nullptr)));
      });
    else
      with_want<VALUE, DERIVATIVES, ALL_OF_ATOMS>(want, [&](auto wanted) {
        launch(sum_row_blocks<Formula, wanted(), One>, One{c});
      });
  }

  // Launches the kernel of this formula, or of WithScale of it.
  template <class OwnFormula, class Real, unsigned WANT, class Functions>
  void launch_partners(const RowArguments &arg, const Functions &functions, cudaStream_t stream)
  {
    const int rows_per_block = Functions::BLOCK_THREADS / 32 * (32 / arg.rows.lanes);
    const unsigned blocks =
        std::min((arg.rows.n + rows_per_block - 1) / rows_per_block, tuning::MAX_KERNEL_BLOCKS);
    const auto bytes = static_cast<std::size_t>(functions.shared_bytes());
    launch_kernel("launching sum_rows", sum_rows<OwnFormula, Real, WANT, Functions>, true,
                  {blocks, Functions::BLOCK_THREADS, bytes}, stream, arg, functions);
  }

  template <class OwnFormula, class Real, class Functions>
  void launch_wanted(const RowArguments &arg, const Functions &functions, unsigned want,
                     cudaStream_t stream)
  {
    if (arg.is_weighted)
      with_want<DERIVATIVES, ALL_OF_ATOMS>(want, [&](auto wanted) {
        launch_partners<OwnFormula, Real, wanted()>(
            arg, weighted(functions, static_cast<const Real *>(arg.weights)), stream);
      });
    else
      with_want<VALUE, DERIVATIVES, ALL_OF_ATOMS>(want, [&](auto wanted) {
        launch_partners<OwnFormula, Real, wanted()>(arg, functions, stream);
      });
  }

  // Sums are double even in precision single: loads limit the kernel.
  template <class Real>
  void partners(const RowArguments &arg, const FormulaConstants<Real> &c, unsigned want,
                cudaStream_t stream)
  {
    if constexpr (std::is_same<Real, float>::value)
      if (arg.rows.blocks.partner) return row_blocks(arg, c, want, stream);
    launch_wanted<Formula, Real>(arg, OneFunction<Real>{c}, want, stream);
  }

  template <class Real>
  void partners_by_class(const RowArguments &arg, const ClassFunctions<Real> &functions,
                         unsigned want, cudaStream_t stream)
  {
    const auto launch_smallest = [&](const auto &f) {
      launch_partners<WithScale<Formula>, Real, DERIVATIVES>(arg, f, stream);
    };
    const auto launch_any = [&](const auto &f) {
      launch_wanted<WithScale<Formula>, Real>(arg, f, want, stream);
    };
    // Kernels with short elements are compiled only for what most timesteps request.
    if (want == DERIVATIVES && !arg.is_weighted) {
      if (functions.smallest_table() == ClassTable::SAME_SCALE)
        return launch_smallest(functions.template arguments<ClassTable::SAME_SCALE>());
      if (functions.smallest_table() == ClassTable::SAME_RANGE)
        return launch_smallest(functions.template arguments<ClassTable::SAME_RANGE>());
    }
    if (functions.fits_shared_memory())
      launch_any(functions.template arguments<ClassTable::SHARED>());
    else
      launch_any(functions.template arguments<ClassTable::IN_MEMORY>());
  }

  template <class Real, class Accumulator> Launchers<Real> launchers()
  {
    return {
        cells<Real, Accumulator>, list<Real, Accumulator>, allpairs<Real, Accumulator>, pairs<Real>,
        partners<Real>,           partners_by_class<Real>};
  }

}    // namespace

template <>
void get_launchers<SwitchForm::GPUCOORD_FORMULA>(Precision precision, Launchers<float> &found)
{
  found = precision == Precision::SINGLE ? launchers<float, float>() : launchers<float, double>();
}

template <> void get_launchers<SwitchForm::GPUCOORD_FORMULA>(Precision, Launchers<double> &found)
{
  found = launchers<double, double>();
}

}    // namespace gpucoord
