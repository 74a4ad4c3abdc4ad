// Part of GPUCOORD, GPL-2.0. Engine 'cells': the cell processor.
//
// Launch: as described in cell_search.cuh. Each thread takes one i-atom. Partners are read from
// shared memory. Each read broadcasts one partner to all threads, so that there are no bank
// conflicts. In float, a warp broadcasts one partner to each half, and each thread takes two
// i-atoms. The halves then add their sums.
//
// SELECT: for an expensive formula, each thread first notes which partners are in range, then
// evaluates the formula for those partners only. A cheap formula is evaluated for all partners.
//
// The summation order for an atom depends only on the sorted atoms. Results are therefore bitwise
// independent of the number of blocks, the number of warps per block, and whether the virial is
// computed.

#ifndef GPUCOORD_CELL_PROCESSOR_CUH
#define GPUCOORD_CELL_PROCESSOR_CUH

#include "atom_sums.cuh"
#include "cell_search.cuh"

namespace gpucoord {

// Adds the first n partners. SELECT: the partners from n to the next multiple of 32 must be far
// away. may_be_same: one of the partners may be the atom itself. own_weight: weight of the atom,
// used if the memory has weights
template <bool SELECT, int ATOMS, class Formula, class Real, class Accumulator, unsigned WANT,
          class Memory>
__device__ void add_partners(const FormulaConstants<Real> &c, const Center<Real> &i,
                             Real own_weight, bool may_be_same, int n, int lane, Memory &m,
                             AtomSums<Real, Accumulator, WANT> &sums)
{
  Real dx, dy, dz;
  if constexpr (SELECT) {
    for_partners_in_range(i, n, lane, m, [&](const Partner<Real> &p, int k) {
      const Real r_sq = i.distance_sq(p, dx, dy, dz);
      if (p.id == i.id) return;
      if constexpr (Memory::IS_WEIGHTED)
        sums.template add_weighted<Formula>(c, dx, dy, dz, r_sq, own_weight + m.weight[k], true);
      else
        sums.template add<Formula>(c, dx, dy, dz, r_sq);
    });
  } else {
    Center<Real> atom[ATOMS] = {i};
    Real weight_of_atom[ATOMS] = {own_weight};
    if constexpr (ATOMS == 2)
      for (int u = 0; u < 2; ++u) {
        atom[u] = i.from_lane(lane % 16 + 16 * u);
        if constexpr (Memory::IS_WEIGHTED)
          weight_of_atom[u] = __shfl_sync(ALL_LANES, own_weight, lane % 16 + 16 * u);
      }
    AtomSums<Real, Real, WANT> atom_sums[ATOMS];
    const auto add = [&](auto test_id) {
#pragma unroll 4
      for (int k = ATOMS == 2 ? lane / 16 : 0; k < n; k += ATOMS) {
        const Partner<Real> p = m.partner[k];
#pragma unroll
        for (int u = 0; u < ATOMS; ++u) {
          const Real r_sq = atom[u].distance_sq(p, dx, dy, dz);
          const bool in_range =
              r_sq <= atom[u].limit && (!decltype(test_id)::value || p.id != atom[u].id);
          if constexpr (Memory::IS_WEIGHTED)
            atom_sums[u].template add_weighted<Formula, IN_R0<Formula, Real>>(
                c, dx, dy, dz, r_sq, weight_of_atom[u] + m.weight[k], in_range);
          else
            atom_sums[u].template add_if<Formula, IN_R0<Formula, Real>>(c, dx, dy, dz, r_sq,
                                                                        in_range);
        }
      }
    };
    if (may_be_same)
      add(std::true_type());
    else
      add(std::false_type());
    if constexpr (ATOMS == 2) atom_sums[0].add_halves(atom_sums[1]);
    sums.add_sums(atom_sums[0]);
  }
  sums.flush();
}

template <class Formula, class Real, class Accumulator, unsigned WANT, bool WEIGHTED>
__global__ void __launch_bounds__(32 * MAX_WARPS_PER_BLOCK)
    process_cells(const __grid_constant__ CellsArguments arg, const FormulaConstants<Real> c)
{
  constexpr bool SELECT = !CHEAP<Formula>;
  using Memory = PartnerMemory<SELECT, Real, WEIGHTED>;
  extern __shared__ __align__(16) unsigned char shared_memory[];
  Memory &m = reinterpret_cast<Memory *>(shared_memory)[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  const int nblocks = (arg.i.nowned + 31) / 32;
  // In float, two atoms per thread: each half warp takes every second partner and uses each load
  // twice.
  constexpr int ATOMS = !SELECT && std::is_same<Real, float>::value ? 2 : 1;
  // Factor of all lengths.
  const Real inverse_unit = IN_R0<Formula, Real> ? c.inv_r0 : Real(1);
  // The factor exceeds the rounding errors of the product, so that r = dmax stays in range.
  const Real dmax_sq =
      IN_R0<Formula, Real> ? c.dmax_sq * inverse_unit * inverse_unit * Real(1.0000005) : c.dmax_sq;

  for (;;) {
    const int item = next_item(arg.queue, m);
    if (item >= nblocks * arg.out.splits) break;
    const WarpItem warp_item = item_of(arg, item, nblocks, lane);
    Real own_weight = 0;
    if constexpr (WEIGHTED) own_weight = static_cast<const Real *>(arg.weight_i)[warp_item.index];
    AtomSums<Real, Accumulator, WANT> sums;
    int tested = 0;
    for_near_partners<SELECT, false>(
        arg, warp_item,
        NearSearch<Real>{arg.out.splits, 1, inverse_unit, dmax_sq,
                         static_cast<int>(warp_item.atom.id)},
        m,
        [](const DeviceAtom &atom, int) {
          return static_cast<int>(atom.id);
        },
        [&](const Center<Real> &center, bool may_be_same, int n) {
          add_partners<SELECT, ATOMS, Formula>(c, center, own_weight, may_be_same, n, lane, m,
                                               sums);
          tested += n;
        });
    sums.finish(Formula::scale(c), 1 / inverse_unit);
    if (warp_item.valid && arg.out.sums)
      sums.store(arg.out,
                 static_cast<std::size_t>(warp_item.split) * arg.i.nowned +
                     arg.i.caller_index[warp_item.index]);
    sums.store_warp(arg.out, item, warp_item.valid, tested);
  }
}

}    // namespace gpucoord

#endif
