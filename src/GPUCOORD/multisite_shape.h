/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_MULTISITE_SHAPE_H
#define LMP_MULTISITE_SHAPE_H

#include "gpucoord/multisite.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace LAMMPS_NS {

// Moments of inertia of components, and ellipsoids of the same moments, which LAMMPS has in their place.

namespace MultisiteShape {

  // An axis of an ellipsoid must have a length; this part of the longest one adds a millionth to moments of inertia.
  constexpr double SHORTEST = 1e-3;
  // An axis with less than this part of the largest moment has none.
  constexpr double NO_INERTIA = 1e-5;

  // Half axes of the ellipsoid of the component's mass and moments of inertia. All 0: it has no moments.
  inline std::array<double, 3> half_axes(const gpucoord::Component &component)
  {
    const auto &moments = component.inertia;
    std::array<double, 3> axes;
    for (int k = 0; k < 3; ++k)    // I_1 = m (b^2 + c^2) / 5
      axes[k] = std::sqrt(std::max(0.0, 2.5 * (moments[(k + 1) % 3] + moments[(k + 2) % 3] - moments[k]) / component.mass));
    const double longest = *std::max_element(axes.begin(), axes.end());
    for (double &axis : axes) axis = std::max(axis, SHORTEST * longest);
    return axes;
  }

  // The axis of a linear molecule, 0, 1 or 2; -1: it is not linear, or has no moments of inertia at all.
  inline int axis_of_linear(const gpucoord::Component &component)
  {
    const auto &moments = component.inertia;
    const auto least = std::min_element(moments.begin(), moments.end());
    const double largest = *std::max_element(moments.begin(), moments.end());
    return *least < NO_INERTIA * largest ? static_cast<int>(least - moments.begin()) : -1;
  }

  // Whether it may turn: a dipole, a quadrupole, or a site off the centre of mass feels torques.
  inline bool feels_torque(const gpucoord::Component &component)
  {
    const auto is_off = [](const auto &site) {
      return site.position[0] != 0.0 || site.position[1] != 0.0 || site.position[2] != 0.0;
    };
    return !component.dipoles.empty() || !component.quadrupoles.empty() ||
        std::any_of(component.centres.begin(), component.centres.end(), is_off) ||
        std::any_of(component.charges.begin(), component.charges.end(), is_off);
  }

}    // namespace MultisiteShape
}    // namespace LAMMPS_NS

#endif
