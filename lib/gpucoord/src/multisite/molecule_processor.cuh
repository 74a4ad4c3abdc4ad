// Part of GPUCOORD, GPL-2.0. Rigid molecules: the cell processor.
//
// Launch: as described in cell_search.cuh; each thread takes one molecule. A thread first notes
// which partners are within the cutoff of centers of mass, as bits in shared memory, then processes
// only those. A thread that has finished a batch waits for the thread of its warp with the most
// partners. Batches therefore cover the whole neighborhood evenly (passes).
//
// The sites of a molecule are kept in registers if there is a kernel for this combination of sites
// (own_molecule.cuh). The sites of a partner are rotated for each pair, which is faster than
// reading rotated sites.
//
// Terms are summed in Real over a batch of partners, and batches in double. The summation order
// depends only on the sorted molecules. Results are therefore bitwise independent of the number of
// blocks.

#ifndef GPUCOORD_MOLECULE_PROCESSOR_CUH
#define GPUCOORD_MOLECULE_PROCESSOR_CUH

#include "../pairs/cell_search.cuh"
#include "own_molecule.cuh"
#include "site_pair.h"

#include <cstddef>
#include <type_traits>

namespace gpucoord {

// Energies and virial of a molecule and its partners.
template <class Real, bool ALL> struct Tallies {
  static constexpr int N = ALL ? 9 : 0;    // 3 energies, then virial: xx yy zz xy xz yz
  Real part[ALL ? N : 1] = {};
  double total[ALL ? N : 1] = {};
  Vector<Real> force;    // force of the current partner

  __device__ void begin() { force = {}; }
  __device__ void add(int kind, Real energy, const Vector<Real> &f)
  {
    if constexpr (ALL) {
      part[kind] += energy;
      force = force + f;
    }
  }
  __device__ void add_field(Real energy)
  {
    if constexpr (ALL) part[2] += energy;
  }
  // Adds the virial of the current partner. d: center of mass of the molecule minus that of the
  // partner
  __device__ void end(const Vector<Real> &d)
  {
    if constexpr (ALL) {
      const Real w[6] = {d.x * force.x, d.y * force.y, d.z * force.z,
                         d.x * force.y, d.x * force.z, d.y * force.z};
      for (int k = 0; k < 6; ++k) part[3 + k] += w[k];
    }
  }
  __device__ void flush()
  {
    for (int k = 0; k < N; ++k) {
      total[k] += part[k];
      part[k] = 0;
    }
  }
};

template <SitePairKind KIND> using Kind = std::integral_constant<SitePairKind, KIND>;

// Adds all pairs of sites of a molecule and one partner. at: center of mass of the partner
template <bool SITE_CUTOFF, class Real, class Sites, bool ALL>
__device__ void
add_partner(const MoleculesArguments<Real> &arg, const MoleculeTables<Real, Sites> &tables,
            OwnMolecule<Real, Sites> &own, const Vector<Real> &at, const Rotation<Real> &turned,
            bool centers, bool others, Tallies<Real, ALL> &tallies)
{
  constexpr int AT_ONCE = MoleculeTables<Real, Sites>::AT_ONCE;
  const auto is_outside = [](Real r_sq, Real cutoff_sq) {
    return SITE_CUTOFF && r_sq > cutoff_sq;
  };

  if (centers)
#pragma unroll AT_ONCE
    for (int b = 0; b < tables.j().ncenters; ++b) {
      const Vector<Real> site = at + turned(tables.site_j(b));
#pragma unroll AT_ONCE
      for (int a = 0; a < tables.i().ncenters; ++a) {
        const Vector<Real> point = own.point(tables, a), d = point - site;
        const Real r_sq = dot(d, d);
        if (is_outside(r_sq, arg.cutoff_sq)) continue;
        const Four<Real> &c = tables.centers(b, a);
        const auto on = on_site<SitePairKind::LENNARD_JONES, false>(
            SitePairConstants<Real>{c.x, c.y, c.z, 0, 0}, d, r_sq, Vector<Real>{}, Vector<Real>{});
        own.push(a, point, on.force);
        tallies.add(0, on.energy, on.force);
      }
    }
  if (!others) return;

  // Adds pairs of n own sites, starting at 'first', with site k of the partner. first_axis: axis of
  // the first own site; negative: the sites have no axes
  const auto with = [&](auto kind, auto is_second, int n, int first, int first_axis, int k,
                        const Vector<Real> &site, const Vector<Real> &other_axis) {
    constexpr SitePairKind KIND = decltype(kind)::value;
#pragma unroll AT_ONCE
    for (int a = 0; a < n; ++a) {
      const Vector<Real> point = own.point(tables, first + a), d = point - site;
      const Real r_sq = dot(d, d);
      if (is_outside(r_sq, arg.cutoff_charge_sq)) continue;
      const Real strength = tables.site_i(first + a).w * tables.site_j(k).w;
      const Vector<Real> axis = first_axis >= 0 ? own.axis(tables, first_axis + a) : Vector<Real>{};
      const auto on = on_site<KIND, decltype(is_second)::value>(
          SitePairConstants<Real>{0, 0, 0, arg.coulomb * strength, arg.field * strength}, d, r_sq,
          axis, other_axis);
      own.push(first + a, point, on.force);
      if (first_axis >= 0) own.twist(on.torque);
      tallies.add(1, on.energy, on.force);
      if (KIND == SitePairKind::DIPOLES) tallies.add_field(on.field);
    }
  };
  constexpr std::false_type FIRST;
  constexpr std::true_type SECOND;    // the own site is the second one in the name of the kind
  const auto &i = tables.i();
  const auto &j = tables.j();
  const int charges = i.ncenters, dipoles = charges + i.ncharges,
            quadrupoles = dipoles + i.ndipoles, no_axis = -1;
#pragma unroll AT_ONCE
  for (int b = 0; b < j.ncharges; ++b) {
    const int k = j.ncenters + b;
    const Vector<Real> site = at + turned(tables.site_j(k));
    with(Kind<SitePairKind::CHARGES>(), FIRST, i.ncharges, charges, no_axis, k, site, {});
    with(Kind<SitePairKind::CHARGE_DIPOLE>(), SECOND, i.ndipoles, dipoles, 0, k, site, {});
    with(Kind<SitePairKind::CHARGE_QUADRUPOLE>(), SECOND, i.nquadrupoles, quadrupoles, i.ndipoles,
         k, site, {});
  }
#pragma unroll AT_ONCE
  for (int b = 0; b < j.ndipoles; ++b) {
    const int k = j.ncenters + j.ncharges + b;
    const Vector<Real> site = at + turned(tables.site_j(k)), axis = turned(tables.axis_j(b));
    with(Kind<SitePairKind::CHARGE_DIPOLE>(), FIRST, i.ncharges, charges, no_axis, k, site, axis);
    with(Kind<SitePairKind::DIPOLES>(), FIRST, i.ndipoles, dipoles, 0, k, site, axis);
    with(Kind<SitePairKind::DIPOLE_QUADRUPOLE>(), SECOND, i.nquadrupoles, quadrupoles, i.ndipoles,
         k, site, axis);
  }
#pragma unroll AT_ONCE
  for (int b = 0; b < j.nquadrupoles; ++b) {
    const int k = j.ncenters + j.ncharges + j.ndipoles + b;
    const Vector<Real> site = at + turned(tables.site_j(k)),
                       axis = turned(tables.axis_j(j.ndipoles + b));
    with(Kind<SitePairKind::CHARGE_QUADRUPOLE>(), FIRST, i.ncharges, charges, no_axis, k, site,
         axis);
    with(Kind<SitePairKind::DIPOLE_QUADRUPOLE>(), FIRST, i.ndipoles, dipoles, 0, k, site, axis);
    with(Kind<SitePairKind::QUADRUPOLES>(), FIRST, i.nquadrupoles, quadrupoles, i.ndipoles, k, site,
         axis);
  }
}

// Blocks per multiprocessor that limit the registers.
template <class Real>
constexpr int MOLECULE_BLOCKS = sizeof(Real) == sizeof(double) ? tuning::MOLECULE_BLOCKS_DOUBLE
                                                               : tuning::MOLECULE_BLOCKS_FLOAT;

template <class Sites, class Real, bool ALL, bool SITE_CUTOFF>
__global__ void __launch_bounds__(32 * MAX_WARPS_PER_BLOCK, MOLECULE_BLOCKS<Real>)
    process_molecules(const __grid_constant__ MoleculesArguments<Real> arg,
                      const __grid_constant__ MoleculeTables<Real, Sites> tables)
{
  constexpr int COLUMNS = ALL ? COLUMNS_OF_ALL : COLUMNS_OF_FORCES;
  using Memory = PartnerMemory<true, Real>;
  extern __shared__ __align__(16) unsigned char shared_memory[];
  Memory &m = reinterpret_cast<Memory *>(shared_memory)[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  const int nblocks = (arg.i.nowned + 31) / 32;
  const Real limit = arg.range_of_centers_sq;
  const bool one_component = arg.i.atom == arg.j.atom;

  for (;;) {
    const int item = next_item(arg.queue, m);
    if (item >= nblocks * arg.splits) break;
    const WarpItem warp_item = item_of(arg, item, nblocks, lane);
    OwnMolecule<Real, Sites> own(arg.orientation_i[warp_item.index]);
    double sum[6] = {};
    Tallies<Real, ALL> tallies;
    // The id of a partner is its index, from which the kernel finds its orientation. If the
    // components differ, the index never refers to the molecule itself, hence -2.
    for_near_partners<true, true>(
        arg, warp_item,
        NearSearch<Real>{arg.splits, arg.passes, Real(1), limit,
                         one_component ? warp_item.index : -2},
        m,
        [](const DeviceAtom &, int index) {
          return index;
        },
        [&](const Center<Real> &center, bool, int n) {
          const Vector<Real> position = {center.x, center.y, center.z};
          own.set_position(tables, position);
          for_partners_in_range(center, n, lane, m, [&](const Partner<Real> &p, int) {
            if (p.id == center.id) return;
            const Vector<Real> at = {p.x, p.y, p.z}, d = position - at;
            const Real r_sq = dot(d, d);
            tallies.begin();
            add_partner<SITE_CUTOFF>(arg, tables, own, at, Rotation<Real>(arg.orientation_j[p.id]),
                                     SITE_CUTOFF || r_sq <= arg.cutoff_sq,
                                     SITE_CUTOFF || r_sq <= arg.cutoff_charge_sq, tallies);
            tallies.end(d);
          });
          own.flush(sum);
          tallies.flush();
        });

    if (warp_item.valid) {
      double *const row = arg.sums +
          (static_cast<std::size_t>(warp_item.split) * arg.i.nowned +
           arg.i.caller_index[warp_item.index]) *
              COLUMNS;
      for (int k = 0; k < 6; ++k) row[k] = sum[k];
      if constexpr (ALL) {
        row[6] = 0.5 * (tallies.total[0] + tallies.total[1] + tallies.total[2]);
        for (int k = 0; k < 6; ++k) row[7 + k] = 0.5 * tallies.total[3 + k];
      }
    }
    if constexpr (ALL) {
      MoleculeSums warp_sums;
      for (int k = 0; k < 3; ++k)
        warp_sums.energy[k] = add_warp(warp_item.valid ? 0.5 * tallies.total[k] : 0.0);
      for (int k = 0; k < 6; ++k)
        warp_sums.virial[k] = add_warp(warp_item.valid ? 0.5 * tallies.total[3 + k] : 0.0);
      if (lane == 0) arg.warp[item] = warp_sums;
    }
  }
}

}    // namespace gpucoord

#endif
