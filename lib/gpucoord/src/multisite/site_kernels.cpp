// Part of GPUCOORD, GPL-2.0. The sums of a molecule over molecules near it, on the host. Compiled once for each instruction
// set, as ../host/pair_kernels.cpp is.

#include "site_kernels.h"

#include <cmath>

#ifndef GPUCOORD_ISA
#error "compile with -DGPUCOORD_ISA=name_of_the_instruction_set"
#endif

namespace gpucoord {

namespace {

  template <class Real, SitePairKind KIND, bool REVERSED, bool VIRIAL>
  void sum_sites(const SitePairConstants<Real> &c, const NearMolecules<Real> &near, const NearSites<Real> &sites,
                 const OwnSite<Real> &own, SiteSums &sums)
  {
    Real energy = 0, field = 0, fx = 0, fy = 0, fz = 0, tx = 0, ty = 0, tz = 0;
    Real vxx = 0, vyy = 0, vzz = 0, vxy = 0, vxz = 0, vyz = 0;
    const Vector<Real> arm = {own.arm[0], own.arm[1], own.arm[2]}, axis = {own.axis[0], own.axis[1], own.axis[2]};
#pragma omp simd reduction(+ : energy, field, fx, fy, fz, tx, ty, tz, vxx, vyy, vzz, vxy, vxz, vyz)
    for (int k = 0; k < near.n; ++k) {
      const Vector<Real> centre = {-near.x[0][k], -near.x[1][k], -near.x[2][k]};    // x_i - x_j
      // By components: results of operators on three floats would stay in memory, and the loop would not be vectorised.
      const Vector<Real> d = {centre.x + arm.x - sites.arm[0][k], centre.y + arm.y - sites.arm[1][k],
                              centre.z + arm.z - sites.arm[2][k]};
      const Real r_sq = dot(d, d);
      Vector<Real> force;
      if constexpr (KIND == SitePairKind::LENNARD_JONES) {
        Real slope_over_r;
        energy += lennard_jones(r_sq, c.four_epsilon, c.sigma_sq, c.shift, slope_over_r);
        force = {-slope_over_r * d.x, -slope_over_r * d.y, -slope_over_r * d.z};
      } else if constexpr (KIND == SitePairKind::CHARGES) {
        Real slope_over_r;
        energy += charges(Real(1) / std::sqrt(r_sq), c.strength, slope_over_r);
        force = {-slope_over_r * d.x, -slope_over_r * d.y, -slope_over_r * d.z};
      } else {
        const Vector<Real> other_axis = {sites.axis[0][k], sites.axis[1][k], sites.axis[2][k]};
        const Real inverse_r = Real(1) / std::sqrt(r_sq), sign = REVERSED ? Real(-1) : Real(1);
        const Vector<Real> u = {sign * inverse_r * d.x, sign * inverse_r * d.y, sign * inverse_r * d.z};
        const Vector<Real> &first = REVERSED ? other_axis : axis, &second = REVERSED ? axis : other_axis;
        const Real c1 = dot(first, u), c2 = dot(second, u), g = dot(first, second);
        OfAngles<Real> of;
        if constexpr (KIND == SitePairKind::CHARGE_DIPOLE) of = charge_dipole(inverse_r, c.strength, c2);
        if constexpr (KIND == SitePairKind::CHARGE_QUADRUPOLE) of = charge_quadrupole(inverse_r, c.strength, c2);
        if constexpr (KIND == SitePairKind::DIPOLE_QUADRUPOLE) of = dipole_quadrupole(inverse_r, c.strength, c1, c2, g);
        if constexpr (KIND == SitePairKind::QUADRUPOLES) of = quadrupoles(inverse_r, c.strength, c1, c2, g);
        if constexpr (KIND == SitePairKind::DIPOLES) {
          of = dipoles(inverse_r, c.strength, c1, c2, g);
          field -= c.field * g;
          of.by_g -= c.field;
        }
        SitePair<Real> pair;
        pair_of_axes(of, inverse_r, u, first, second, c1, c2, pair);
        energy += pair.energy;
        force = {sign * pair.force.x, sign * pair.force.y, sign * pair.force.z};
        const Vector<Real> &torque = REVERSED ? pair.torque_j : pair.torque_i;
        tx += torque.x;
        ty += torque.y;
        tz += torque.z;
      }
      fx += force.x;
      fy += force.y;
      fz += force.z;
      if constexpr (VIRIAL) {
        vxx += centre.x * force.x;
        vyy += centre.y * force.y;
        vzz += centre.z * force.z;
        vxy += centre.x * force.y;
        vxz += centre.x * force.z;
        vyz += centre.y * force.z;
      }
    }
    sums.energy += energy;
    sums.field += field;
    const Real f[] = {fx, fy, fz}, t[] = {tx, ty, tz}, v[] = {vxx, vyy, vzz, vxy, vxz, vyz};
    for (int k = 0; k < 3; ++k) {
      sums.force[k] += f[k];
      sums.torque[k] += t[k];
    }
    for (int k = 0; k < 6 && VIRIAL; ++k) sums.virial[k] += v[k];
  }

  template <class Real, SitePairKind KIND> SiteKernel<Real> select(bool reversed, bool virial)
  {
    if (reversed) return virial ? sum_sites<Real, KIND, true, true> : sum_sites<Real, KIND, true, false>;
    return virial ? sum_sites<Real, KIND, false, true> : sum_sites<Real, KIND, false, false>;
  }

  template <class Real> SiteKernel<Real> select_kind(SitePairKind kind, bool reversed, bool virial)
  {
    switch (kind) {
      case SitePairKind::LENNARD_JONES: return select<Real, SitePairKind::LENNARD_JONES>(reversed, virial);
      case SitePairKind::CHARGES: return select<Real, SitePairKind::CHARGES>(reversed, virial);
      case SitePairKind::CHARGE_DIPOLE: return select<Real, SitePairKind::CHARGE_DIPOLE>(reversed, virial);
      case SitePairKind::DIPOLES: return select<Real, SitePairKind::DIPOLES>(reversed, virial);
      case SitePairKind::CHARGE_QUADRUPOLE: return select<Real, SitePairKind::CHARGE_QUADRUPOLE>(reversed, virial);
      case SitePairKind::DIPOLE_QUADRUPOLE: return select<Real, SitePairKind::DIPOLE_QUADRUPOLE>(reversed, virial);
      default: return select<Real, SitePairKind::QUADRUPOLES>(reversed, virial);
    }
  }

}    // namespace

namespace GPUCOORD_ISA {

  void get_site_kernel(SitePairKind kind, bool reversed, bool virial, SiteKernel<float> &kernel)
  {
    kernel = select_kind<float>(kind, reversed, virial);
  }
  void get_site_kernel(SitePairKind kind, bool reversed, bool virial, SiteKernel<double> &kernel)
  {
    kernel = select_kind<double>(kind, reversed, virial);
  }

}    // namespace GPUCOORD_ISA

}    // namespace gpucoord
