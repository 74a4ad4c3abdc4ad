// Part of GPUCOORD, GPL-2.0. The kernels of rigid molecules for one combination of sites. This file
// is compiled once for each name in molecule_shapes_cuda.h, with -DGPUCOORD_SITES=name. Launch: see
// molecule_processor.cuh.

#include "../core/bench_variants.h"
#include "molecule_processor.cuh"

#include <algorithm>
#include <type_traits>

#ifndef GPUCOORD_SITES
#error "compile with -DGPUCOORD_SITES=name, one of those in molecule_shapes.h"
#endif

namespace gpucoord {

namespace {

  using Sites = sites::GPUCOORD_SITES;

  template <class Real, bool ALL, bool SITE_CUTOFF, int WARPS>
  void launch(const MoleculesArguments<Real> &arg, const MoleculeTables<Real, Sites> &tables,
              const CellsShape &shape, cudaStream_t stream)
  {
    using Memory = TeamMemory<true, Real, WARPS>;
    const int teams_per_block = WARPS == 1 ? shape.warps_per_block : 1,
              threads = 32 * WARPS * teams_per_block;
    const int teams = (arg.i.nowned + 32 * WARPS - 1) / (32 * WARPS) * arg.splits;
    // Launch as many threads as fit on the multiprocessors. Further threads would find the queue
    // empty.
    const int blocks = std::min((teams + teams_per_block - 1) / teams_per_block,
                                shape.multiprocessors * (2048 / threads));
    static_assert((WARPS == 1 ? MAX_WARPS_PER_BLOCK : 1) * sizeof(Memory) <= 48 * 1024,
                  "every GPU has 48 KiB per block");
    process_molecules<Sites, Real, ALL, SITE_CUTOFF, WARPS>
        <<<blocks, threads, teams_per_block * sizeof(Memory), stream>>>(arg, tables);
    check(cudaGetLastError(), "launching process_molecules");
  }

  template <class Real, bool ALL, bool SITE_CUTOFF>
  void launch_processor(const MoleculesArguments<Real> &arg,
                        const MoleculeTables<Real, Sites> &tables, const CellsShape &shape,
                        cudaStream_t stream)
  {
    if constexpr (BENCH_VARIANTS)
      if (shape.block_processor)
        return launch<Real, ALL, SITE_CUTOFF, BLOCK_PROCESSOR_WARPS>(arg, tables, shape, stream);
    launch<Real, ALL, SITE_CUTOFF, 1>(arg, tables, shape, stream);
  }

  template <class Real>
  void run(const MoleculesArguments<Real> &arg, const TablesView<Real> &host,
           const TablesView<Real> &device, MultisiteWant want, bool site_cutoff,
           const CellsShape &shape, cudaStream_t stream)
  {
    const MoleculeTables<Real, Sites> tables(host, device);
    const auto with_cutoff = [&](auto by_sites) {
      if (want == MultisiteWant::ALL)
        launch_processor<Real, true, by_sites()>(arg, tables, shape, stream);
      else
        launch_processor<Real, false, by_sites()>(arg, tables, shape, stream);
    };
    if constexpr (!Sites::FIXED)
      if (site_cutoff) return with_cutoff(std::true_type());
    with_cutoff(std::false_type());
  }

  template <class Real> void get(MoleculeLauncher<Real> &launcher)
  {
    launcher = {Sites::NCENTERS, Sites::NCHARGES, Sites::NDIPOLES, Sites::NQUADRUPOLES, run<Real>};
  }

}    // namespace

template <> void get_molecule_launcher<Sites>(MoleculeLauncher<float> &launcher)
{
  get(launcher);
}
template <> void get_molecule_launcher<Sites>(MoleculeLauncher<double> &launcher)
{
  get(launcher);
}

}    // namespace gpucoord
