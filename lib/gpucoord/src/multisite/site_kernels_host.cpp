// Part of GPUCOORD, GPL-2.0. The sums of a molecule over its partners, on the host. Compiled once
// per instruction set, like ../pairs/pair_kernels_host.cpp.

#include "site_kernels_host.h"

#include "../pairs/pair_kernels_host.h"

#include "../pairs/compress_host.h"

#include <cmath>
#include <limits>

#ifndef GPUCOORD_ISA
#error "compile with -DGPUCOORD_ISA=name_of_the_instruction_set"
#endif

namespace gpucoord {

namespace {

  template <class Real, SitePairKind KIND, bool REVERSED, bool ALL>
  void sum_sites(const SitePairConstants<Real> &c, Real cutoff_sq, int n,
                 const PartnerSites<Real> &sites, const OwnSite<Real> &own, SiteSums &sums,
                 PartnerForces<Real> &partners)
  {
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    constexpr bool HAS_AXES = KIND != SitePairKind::LENNARD_JONES && KIND != SitePairKind::CHARGES;
    Real energy = 0, field = 0, fx = 0, fy = 0, fz = 0, tx = 0, ty = 0, tz = 0;
    // Local copies cannot alias the outputs.
    const SitePairConstants<Real> all_constants = c;
    const PartnerSites<Real> others = sites;
    const Vector<Real> own_arm = {own.arm[0], own.arm[1], own.arm[2]},
                       axis = {own.axis[0], own.axis[1], own.axis[2]};
#pragma omp simd reduction(+ : energy, field, fx, fy, fz, tx, ty, tz)
    for (int k = 0; k < n; ++k) {
      // Written by components. With operators, results of three floats would stay in memory, and
      // the loop would not vectorize.
      const Vector<Real> other_arm = {others.arm[0][k], others.arm[1][k], others.arm[2][k]};
      const Vector<Real> d = {own_arm.x - other_arm.x - others.center[0][k],
                              own_arm.y - other_arm.y - others.center[1][k],
                              own_arm.z - other_arm.z - others.center[2][k]};
      Vector<Real> other_axis = {0, 0, 0};
      if constexpr (HAS_AXES) {
        other_axis.x = others.axis[0][k];
        other_axis.y = others.axis[1][k];
        other_axis.z = others.axis[2][k];
      }
      // At an infinite distance, all terms vanish except the shift and the reaction field.
      const Real r_sq = dot(d, d);
      const bool is_near = r_sq <= cutoff_sq;
      SitePairConstants<Real> pair_constants = all_constants;
      pair_constants.shift = is_near ? all_constants.shift : Real(0);
      pair_constants.field = is_near ? all_constants.field : Real(0);
      const OnSite<Real> on =
          on_site<KIND, REVERSED>(pair_constants, d, is_near ? r_sq : infinity, axis, other_axis);
      fx += on.force.x;
      fy += on.force.y;
      fz += on.force.z;
      if constexpr (HAS_AXES) {
        tx += on.torque.x;
        ty += on.torque.y;
        tz += on.torque.z;
      }
      if constexpr (ALL) {
        energy += on.energy;
        field += on.field;
        partners.force[0][k] += on.force.x;
        partners.force[1][k] += on.force.y;
        partners.force[2][k] += on.force.z;
      }
    }
    sums.energy += energy;
    sums.field += field;
    const Real f[] = {fx, fy, fz}, t[] = {tx, ty, tz};
    for (int k = 0; k < 3; ++k) {
      sums.force[k] += f[k];
      sums.torque[k] += t[k];
    }
  }

  template <class Real, SitePairKind KIND, bool REVERSED> void set(SiteKernel<Real> (&kernel)[2])
  {
    kernel[false] = sum_sites<Real, KIND, REVERSED, false>;
    kernel[true] = sum_sites<Real, KIND, REVERSED, true>;
  }

  // Pairs of sites of the same kind are never reversed.
  template <class Real, SitePairKind KIND> void set_kind(SiteKernels<Real> &kernels)
  {
    auto &kernel = kernels.kernel[static_cast<int>(KIND)];
    set<Real, KIND, false>(kernel[false]);
    if constexpr (KIND == SitePairKind::CHARGE_DIPOLE || KIND == SitePairKind::CHARGE_QUADRUPOLE ||
                  KIND == SitePairKind::DIPOLE_QUADRUPOLE)
      set<Real, KIND, true>(kernel[true]);
  }

  template <class Real> void set_all(SiteKernels<Real> &kernels)
  {
    kernels = {};
    set_kind<Real, SitePairKind::LENNARD_JONES>(kernels);
    set_kind<Real, SitePairKind::CHARGES>(kernels);
    set_kind<Real, SitePairKind::CHARGE_DIPOLE>(kernels);
    set_kind<Real, SitePairKind::DIPOLES>(kernels);
    set_kind<Real, SitePairKind::CHARGE_QUADRUPOLE>(kernels);
    set_kind<Real, SitePairKind::DIPOLE_QUADRUPOLE>(kernels);
    set_kind<Real, SitePairKind::QUADRUPOLES>(kernels);
    kernels.keep_partners = keep_partners;
    kernels.list_kept = list_kept;
    kernels.copy_kept = copy_kept;
    kernels.gather_records = gather_records<Real>;
  }

}    // namespace

namespace GPUCOORD_ISA {

  GPUCOORD_TEST_API void get_site_kernels(SiteKernels<float> &kernels)
  {
    set_all(kernels);
  }
  GPUCOORD_TEST_API void get_site_kernels(SiteKernels<double> &kernels)
  {
    set_all(kernels);
  }

}    // namespace GPUCOORD_ISA

}    // namespace gpucoord
