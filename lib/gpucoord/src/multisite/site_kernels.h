// Part of GPUCOORD, GPL-2.0. The sums of a molecule over molecules near it, on the host.

#ifndef GPUCOORD_SITE_KERNELS_H
#define GPUCOORD_SITE_KERNELS_H

#include "../common/site_interactions.h"

namespace gpucoord {

// Molecules of one component that are within the cutoff of a molecule i: a chunk of them.
template <class Real> struct NearMolecules {
  static constexpr int CHUNK = 128;
  int n = 0;
  Real x[3][CHUNK];               // of their centres, relative to that of i
};

// A site of each of them, relative to their centres.
template <class Real> struct NearSites {
  Real arm[3][NearMolecules<Real>::CHUNK];
  Real axis[3][NearMolecules<Real>::CHUNK];
};

// of molecule i, in the frame of space
template <class Real> struct OwnSite {
  Real arm[3], axis[3];
};

// What a site of i gets from the same site of all of them. virial: of centres of mass.
struct SiteSums {
  double energy = 0.0, field = 0.0;        // field: of the reaction field, not in energy
  double force[3] = {}, torque[3] = {};    // torque: about the site itself
  double virial[6] = {};
};

enum class SitePairKind { LENNARD_JONES, CHARGES, CHARGE_DIPOLE, DIPOLES, CHARGE_QUADRUPOLE, DIPOLE_QUADRUPOLE, QUADRUPOLES };

// strengths of a pair of sites
template <class Real> struct SitePairConstants {
  Real four_epsilon, sigma_sq, shift;      // of Lennard-Jones
  Real strength;                           // of the others, times that of Coulomb's law
  Real field;                              // of dipoles: the reaction field's factor
};

template <class Real>
using SiteKernel = void (*)(const SitePairConstants<Real> &, const NearMolecules<Real> &, const NearSites<Real> &,
                            const OwnSite<Real> &, SiteSums &);

// reversed: the site of i is the one named second
template <class Real> SiteKernel<Real> select_site_kernel(SitePairKind, bool reversed, bool virial);

}    // namespace gpucoord

#endif
