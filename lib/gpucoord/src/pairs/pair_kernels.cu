// Part of GPUCOORD, GPL-2.0. All pair kernels of one formula. This file is compiled once for each
// name in formulas.cuh, with -DGPUCOORD_FORMULA=name. The launch shapes are documented in the
// included kernel files.

#include "../core/bench_variants.h"
#include "cell_processor.cuh"
#include "gather_kernels.cuh"
#include "launch_cuda.h"
#include "partner_kernels.cuh"
#include "row_block_kernels.cuh"

#include <algorithm>
#include <type_traits>

#ifndef GPUCOORD_FORMULA
#error "compile with -DGPUCOORD_FORMULA=name, one of those in formulas.cuh"
#endif

namespace gpucoord {

namespace {

  using Formula = formula::GPUCOORD_FORMULA;

  // The virial is rarely wanted without derivatives. The kernels compute both; unwanted derivatives
  // are not stored.
  constexpr unsigned ALL = DERIVATIVES | VIRIAL;
  // The per-atom virial stores more per atom. It has a separate kernel, so that the other kernels
  // keep their registers.
  constexpr unsigned ALL_OF_ATOMS = ALL | ATOM_VIRIAL;
  constexpr unsigned IN_WINDOW = DERIVATIVES | WINDOWED;

  // Calls f with 'want' as a compile-time constant. For launchers that have a kernel for each want.
  template <class F> void with_want(unsigned want, F f)
  {
    switch (want) {
      case VALUE:
        return f(std::integral_constant<unsigned, VALUE>());
      case DERIVATIVES:
        return f(std::integral_constant<unsigned, DERIVATIVES>());
      case ALL_OF_ATOMS:
        return f(std::integral_constant<unsigned, ALL_OF_ATOMS>());
      default:
        return f(std::integral_constant<unsigned, ALL>());
    }
  }

  template <class Real, class Accumulator, unsigned WANT, int WARPS>
  void launch_cells(const CellsArguments &arg, const FormulaConstants<Real> &c,
                    const CellsShape &shape, cudaStream_t stream)
  {
    const int teams_per_block = WARPS == 1 ? shape.warps_per_block : 1;
    const int threads = 32 * WARPS * teams_per_block;
    const int teams = (arg.i.nowned + 32 * WARPS - 1) / (32 * WARPS) * arg.out.splits;
    // As many threads as the multiprocessors can hold. Further threads would find the queue empty.
    const int blocks = std::min((teams + teams_per_block - 1) / teams_per_block,
                                shape.multiprocessors * (2048 / threads));
    static_assert(MAX_WARPS_PER_BLOCK * sizeof(TeamMemory<!CHEAP<Formula>, Real, 1>) <= 48 * 1024,
                  "what every GPU gives");
    const std::size_t memory = teams_per_block * sizeof(TeamMemory<!CHEAP<Formula>, Real, WARPS>);
    process_cells<Formula, Real, Accumulator, WANT, WARPS>
        <<<blocks, threads, memory, stream>>>(arg, c);
    check(cudaGetLastError(), "launching process_cells");
  }

  template <class Real, class Accumulator, int WARPS>
  void launch_cells_wanted(const CellsArguments &arg, const FormulaConstants<Real> &c,
                           unsigned want, const CellsShape &shape, cudaStream_t stream)
  {
    with_want(want, [&](auto wanted) {
      launch_cells<Real, Accumulator, wanted(), WARPS>(arg, c, shape, stream);
    });
  }

  template <class Real, class Accumulator>
  void cells(const CellsArguments &arg, const FormulaConstants<Real> &c, unsigned want,
             const CellsShape &shape, cudaStream_t stream)
  {
    if constexpr (BENCH_VARIANTS)
      if (shape.block_processor)
        return launch_cells_wanted<Real, Accumulator, BLOCK_PROCESSOR_WARPS>(arg, c, want, shape,
                                                                             stream);
    launch_cells_wanted<Real, Accumulator, 1>(arg, c, want, shape, stream);
  }

  template <class Real, class Accumulator>
  void list(const ListArguments &arg, const FormulaConstants<Real> &c, unsigned want,
            cudaStream_t stream)
  {
    constexpr int ATOMS = GATHER_THREADS / 32;
    const int blocks = (arg.n + ATOMS - 1) / ATOMS;
    if (want == VALUE)
      sum_lists<Formula, Real, Accumulator, VALUE><<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    else if (want == ALL_OF_ATOMS)
      sum_lists<Formula, Real, Accumulator, ALL_OF_ATOMS>
          <<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    else if (want == IN_WINDOW)
      sum_lists<Formula, Real, Accumulator, IN_WINDOW>
          <<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    else
      sum_lists<Formula, Real, Accumulator, ALL><<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    check(cudaGetLastError(), "launching sum_lists");
  }

  template <class Real, class Accumulator>
  void allpairs(const AllPairsArguments &arg, const FormulaConstants<Real> &c, unsigned want,
                cudaStream_t stream)
  {
    const dim3 blocks((arg.n + GATHER_THREADS - 1) / GATHER_THREADS, arg.out.splits);
    if (want == VALUE)
      sum_all_pairs<Formula, Real, Accumulator, VALUE>
          <<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    else if (want == ALL_OF_ATOMS)
      sum_all_pairs<Formula, Real, Accumulator, ALL_OF_ATOMS>
          <<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    else
      sum_all_pairs<Formula, Real, Accumulator, ALL><<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    check(cudaGetLastError(), "launching sum_all_pairs");
  }

  template <class Real>
  void pairs(const PairsArguments &arg, const FormulaConstants<Real> &c, unsigned want,
             cudaStream_t stream)
  {
    const int blocks = (arg.n + GATHER_THREADS - 1) / GATHER_THREADS;
    if (want == VALUE)
      sum_pairs<Formula, Real, Real, VALUE><<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    else if (want == ALL_OF_ATOMS)
      sum_pairs<Formula, Real, Real, ALL_OF_ATOMS><<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    else
      sum_pairs<Formula, Real, Real, ALL><<<blocks, GATHER_THREADS, 0, stream>>>(arg, c);
    check(cudaGetLastError(), "launching sum_pairs");
  }

  inline void row_blocks(const PartnerArguments &arg, const FormulaConstants<float> &c,
                         unsigned want, cudaStream_t stream)
  {
    const unsigned blocks =
        std::min((arg.rows.n + BLOCK_ROWS - 1) / BLOCK_ROWS, tuning::MAX_PARTNER_BLOCKS);
    const std::size_t bytes = bytes_of_points(arg.rows.blocks.most_lines);
    const auto launch = [&](auto *kernel) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)),
            "asking for shared memory");
      // The maximum carveout gives room for as many concurrent blocks as there are registers for.
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                 cudaSharedmemCarveoutMaxShared),
            "asking for shared memory");
      launch_kernel("launching sum_row_blocks", kernel, true, {blocks, BLOCK_ROWS, bytes}, stream,
                    arg, OneFunction<float>{c});
    };
    with_want(want, [&](auto wanted) {
      launch(sum_row_blocks<Formula, wanted()>);
    });
  }

  template <class Kernel, class Functions>
  void launch_partners(Kernel *kernel, const PartnerArguments &arg, const Functions &functions,
                       std::size_t shared_memory, cudaStream_t stream)
  {
    const int rows_a_block = PARTNER_WARPS * (32 / arg.rows.lanes);
    const unsigned blocks =
        std::min((arg.rows.n + rows_a_block - 1) / rows_a_block, tuning::MAX_PARTNER_BLOCKS);
    launch_kernel("launching sum_partners", kernel, true, {blocks, GATHER_THREADS, shared_memory},
                  stream, arg, functions);
  }

  // Sums are double even in precision single, because the loads take longer.
  template <class Real>
  void partners(const PartnerArguments &arg, const FormulaConstants<Real> &c, unsigned want,
                cudaStream_t stream)
  {
    if constexpr (std::is_same<Real, float>::value)
      if (arg.rows.blocks.partner) return row_blocks(arg, c, want, stream);
    using Functions = OneFunction<Real>;
    with_want(want, [&](auto wanted) {
      launch_partners(sum_partners<Formula, Real, wanted(), Functions>, arg, Functions{c}, 0,
                      stream);
    });
  }

  // There is no kernel for the value alone.
  template <class Real>
  void partners_by_class(const PartnerArguments &arg, const FunctionsByClass<Real> &functions,
                         unsigned want, cudaStream_t stream)
  {
    const auto launch = [&](auto wanted) {
      launch_partners(sum_partners<WithScale<Formula>, Real, wanted(), FunctionsByClass<Real>>, arg,
                      functions, functions.shared_bytes(), stream);
    };
    if (want == ALL_OF_ATOMS)
      launch(std::integral_constant<unsigned, ALL_OF_ATOMS>());
    else if (want & VIRIAL)
      launch(std::integral_constant<unsigned, ALL>());
    else
      launch(std::integral_constant<unsigned, DERIVATIVES>());
  }

  template <class Real, class Accumulator> Launchers<Real> launchers()
  {
    return {
        cells<Real, Accumulator>, list<Real, Accumulator>, allpairs<Real, Accumulator>, pairs<Real>,
        partners<Real>,           partners_by_class<Real>};
  }

}    // namespace

template <> void get_launchers<Formula>(Precision precision, Launchers<float> &found)
{
  found = precision == Precision::SINGLE ? launchers<float, float>() : launchers<float, double>();
}

template <> void get_launchers<Formula>(Precision, Launchers<double> &found)
{
  found = launchers<double, double>();
}

}    // namespace gpucoord
