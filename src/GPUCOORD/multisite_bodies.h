/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_MULTISITE_BODIES_H
#define LMP_MULTISITE_BODIES_H

#include "gpucoord_lammps_compat.h"

#include "atom.h"
#include "atom_vec_ellipsoid.h"

#include <array>
#include <cmath>

namespace LAMMPS_NS {

// Quaternions and moments of inertia of atoms of atom_style ellipsoid, including superellipsoids.

class MultisiteBodies {
 public:
  explicit MultisiteBodies(Atom *atom_in) :
      atom(atom_in), avec(dynamic_cast<AtomVecEllipsoid *>(atom->style_match("ellipsoid")))
  {
  }

  // Returns false if there is no atom_style ellipsoid. Other members must not be called then.
  explicit operator bool() const { return avec != nullptr; }

  bool has(int i) const { return atom->ellipsoid[i] >= 0; }

  // Returns the quaternion w x y z of an owned or ghost atom that has an ellipsoid.
  double *quaternion(int i) const
  {
    const int k = atom->ellipsoid[i];
    return LammpsCompat::has_superellipsoids(atom)
        ? LammpsCompat::quaternion_of_superellipsoid(avec, k)
        : avec->bonus[k].quat;
  }

  static double length(const double *q)
  {
    return std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  }

  // Returns the moments of inertia about the axes of the ellipsoid, for an owned atom that has one.
  std::array<double, 3> inertia(int i) const
  {
    const int k = atom->ellipsoid[i];
    if (LammpsCompat::has_superellipsoids(atom)) {
      const double *const bonus_inertia = LammpsCompat::inertia_of_superellipsoid(avec, k);
      return {bonus_inertia[0], bonus_inertia[1], bonus_inertia[2]};
    }
    const double *const s = avec->bonus[k].shape;    // same formula as LAMMPS' integrators
    const double m = 0.2 * atom->rmass[i];
    return {m * (s[1] * s[1] + s[2] * s[2]), m * (s[0] * s[0] + s[2] * s[2]),
            m * (s[0] * s[0] + s[1] * s[1])};
  }

 private:
  Atom *const atom;
  AtomVecEllipsoid *const avec;
};

}    // namespace LAMMPS_NS

#endif
