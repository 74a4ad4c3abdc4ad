// Part of GPUCOORD, GPL-2.0. The interaction of one site of a rigid molecule with a site of
// another, for all pairs of kinds of sites.

#ifndef GPUCOORD_SITE_PAIR_H
#define GPUCOORD_SITE_PAIR_H

#include "site_interactions.h"

namespace gpucoord {

enum class SitePairKind {
  LENNARD_JONES,
  CHARGES,
  CHARGE_DIPOLE,
  DIPOLES,
  CHARGE_QUADRUPOLE,
  DIPOLE_QUADRUPOLE,
  QUADRUPOLES
};

// Strengths of a pair of sites.
template <class Real> struct SitePairConstants {
  Real four_epsilon, sigma_sq, shift;    // for Lennard-Jones
  Real strength;                         // for the other kinds, times the Coulomb constant
  Real field;    // for dipoles: strength times the factor of the reaction field
};

// Interaction with respect to the first site.
template <class Real> struct OnSite {
  Real energy, field;    // field: energy of the reaction field, not included in energy
  // torque: about the site itself, only for sites with an axis
  Vector<Real> force, torque;
};

// d: site minus other site. r_sq: |d|^2. REVERSED: the site is the second one in the name of the
// kind. Written by components, so that loops vectorize.
template <SitePairKind KIND, bool REVERSED, class Real>
GPUCOORD_HD OnSite<Real> on_site(const SitePairConstants<Real> &c, const Vector<Real> &d, Real r_sq,
                                 const Vector<Real> &axis, const Vector<Real> &other_axis)
{
  OnSite<Real> on = {};
  if constexpr (KIND == SitePairKind::LENNARD_JONES || KIND == SitePairKind::CHARGES) {
    Real derivative_over_r;
    if constexpr (KIND == SitePairKind::CHARGES)
      on.energy = charges(inverse_root(r_sq), c.strength, derivative_over_r);
    else
      on.energy = lennard_jones(r_sq, c.four_epsilon, c.sigma_sq, c.shift, derivative_over_r);
    on.force = {-derivative_over_r * d.x, -derivative_over_r * d.y, -derivative_over_r * d.z};
  } else {
    const Real inverse_r = inverse_root(r_sq), sign = REVERSED ? Real(-1) : Real(1);
    const Vector<Real> u = {sign * inverse_r * d.x, sign * inverse_r * d.y, sign * inverse_r * d.z};
    const Vector<Real> &first = REVERSED ? other_axis : axis,
                       &second = REVERSED ? axis : other_axis;
    const Real c1 = dot(first, u), c2 = dot(second, u), g = dot(first, second);
    AngleTerms<Real> angles;
    if constexpr (KIND == SitePairKind::CHARGE_DIPOLE)
      angles = charge_dipole(inverse_r, c.strength, c2);
    if constexpr (KIND == SitePairKind::CHARGE_QUADRUPOLE)
      angles = charge_quadrupole(inverse_r, c.strength, c2);
    if constexpr (KIND == SitePairKind::DIPOLE_QUADRUPOLE)
      angles = dipole_quadrupole(inverse_r, c.strength, c1, c2, g);
    if constexpr (KIND == SitePairKind::QUADRUPOLES)
      angles = quadrupoles(inverse_r, c.strength, c1, c2, g);
    if constexpr (KIND == SitePairKind::DIPOLES) {
      angles = dipoles(inverse_r, c.strength, c1, c2, g);
      on.field = -c.field * g;
      angles.by_g -= c.field;
    }
    SitePair<Real> pair;
    pair_of_axes(angles, inverse_r, u, first, second, c1, c2, pair);
    on.energy = pair.energy;
    on.force = {sign * pair.force.x, sign * pair.force.y, sign * pair.force.z};
    const Vector<Real> &torque = REVERSED ? pair.torque_j : pair.torque_i;
    on.torque = {torque.x, torque.y, torque.z};
  }
  return on;
}

}    // namespace gpucoord

#endif
