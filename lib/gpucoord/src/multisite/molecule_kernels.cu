// Part of GPUCOORD, GPL-2.0. The kernels of rigid molecules for one combination of sites. This file
// is compiled once for each name in molecule_shapes_cuda.h, with -DGPUCOORD_SITES=name. Launch: see
// molecule_processor.cuh.

#include "molecule_processor.cuh"

#include <algorithm>
#include <type_traits>

#ifndef GPUCOORD_SITES
#error "compile with -DGPUCOORD_SITES=name, one of those in molecule_shapes.h"
#endif

namespace gpucoord {

namespace {

  using Sites = sites::GPUCOORD_SITES;

  template <class Real, bool ALL, bool SITE_CUTOFF>
  void launch(const MoleculesArguments<Real> &arg, const MoleculeTables<Real, Sites> &tables,
              const CellsShape &shape, cudaStream_t stream)
  {
    using Memory = PartnerMemory<true, Real>;
    const int threads = 32 * shape.warps_per_block;
    const int warps = (arg.i.nowned + 31) / 32 * arg.splits;
    // Launch as many threads as fit on the multiprocessors. Further threads would find the queue
    // empty.
    const int blocks = std::min((warps + shape.warps_per_block - 1) / shape.warps_per_block,
                                shape.multiprocessors * (2048 / threads));
    static_assert(MAX_WARPS_PER_BLOCK * sizeof(Memory) <= 48 * 1024,
                  "every GPU has 48 KiB per block");
    process_molecules<Sites, Real, ALL, SITE_CUTOFF>
        <<<blocks, threads, shape.warps_per_block * sizeof(Memory), stream>>>(arg, tables);
    check(cudaGetLastError(), "launching process_molecules");
  }

  template <class Real>
  void run(const MoleculesArguments<Real> &arg, const TablesView<Real> &host,
           const TablesView<Real> &device, MultisiteWant want, bool site_cutoff,
           const CellsShape &shape, cudaStream_t stream)
  {
    const MoleculeTables<Real, Sites> tables(host, device);
    const auto with_cutoff = [&](auto by_sites) {
      if (want == MultisiteWant::ALL)
        launch<Real, true, by_sites()>(arg, tables, shape, stream);
      else
        launch<Real, false, by_sites()>(arg, tables, shape, stream);
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
