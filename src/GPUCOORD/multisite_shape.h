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
#include <string>

namespace LAMMPS_NS {

// Moments of inertia of components, and LAMMPS ellipsoids with the same moments.

namespace MultisiteShape {

  // Smallest half axis, as a fraction of the longest, because an axis of an ellipsoid must not be
  // 0. It changes moments of inertia by a millionth.
  constexpr double SHORTEST = 1e-3;
  // A moment of inertia below this fraction of the largest one is treated as 0.
  constexpr double NO_INERTIA = 1e-5;

  // Returns the half axes of the ellipsoid with the component's mass and moments of inertia, or 0
  // if the component has no moments.
  inline std::array<double, 3> half_axes(const gpucoord::Component &component)
  {
    const auto &moments = component.inertia;
    std::array<double, 3> axes;
    for (int k = 0; k < 3; ++k)    // I_1 = m (b^2 + c^2) / 5
      axes[k] = std::sqrt(std::max(
          0.0, 2.5 * (moments[(k + 1) % 3] + moments[(k + 2) % 3] - moments[k]) / component.mass));
    const double longest = *std::max_element(axes.begin(), axes.end());
    for (double &axis : axes) axis = std::max(axis, SHORTEST * longest);
    return axes;
  }

  // Returns the axis of a linear molecule, 0, 1 or 2; -1: it is not linear, or has no moments of
  // inertia.
  inline int axis_of_linear(const gpucoord::Component &component)
  {
    const auto &moments = component.inertia;
    const auto minimum = std::min_element(moments.begin(), moments.end());
    const double largest = *std::max_element(moments.begin(), moments.end());
    return *minimum < NO_INERTIA * largest ? static_cast<int>(minimum - moments.begin()) : -1;
  }

  // Returns why a linear molecule has a torque about its axis, where it has no moment of inertia: a
  // site off the axis, or a dipole or quadrupole perpendicular to it. Returns "" if there is no
  // such torque.
  inline std::string torque_about_axis(const gpucoord::Component &component)
  {
    constexpr double ON_AXIS = 1e-4;    // files have few digits
    const int k = axis_of_linear(component);
    if (k < 0) return "";
    const auto distance_from_axis = [k](const std::array<double, 3> &v) {
      return std::hypot(v[(k + 1) % 3], v[(k + 2) % 3]);
    };
    const double size = std::sqrt(component.inertia[(k + 1) % 3] / component.mass);
    std::string why;
    const auto require = [&](bool is_bad, const char *kind, std::size_t number, const char *what) {
      if (is_bad && why.empty())
        why = "component " + component.name + " has no moment of inertia about its axis " +
            "xyz"[k] + ", but its " + kind + " " + std::to_string(number + 1) + what +
            ", so that a torque acts about this axis - correct its line inertia, or the " + kind;
    };
    const auto look = [&](const char *kind, const auto &sites) {
      for (std::size_t s = 0; s < sites.size(); ++s)
        require(distance_from_axis(sites[s].position) > ON_AXIS * size, kind, s,
                " is not on this axis");
    };
    const auto check_axes = [&](const char *kind, const auto &sites) {
      look(kind, sites);
      for (std::size_t s = 0; s < sites.size(); ++s) {
        const auto &axis = sites[s].axis;
        require(distance_from_axis(axis) > ON_AXIS * std::hypot(axis[0], axis[1], axis[2]), kind, s,
                " does not point along this axis");
      }
    };
    look("center", component.centers);
    look("charge", component.charges);
    check_axes("dipole", component.dipoles);
    check_axes("quadrupole", component.quadrupoles);
    return why;
  }

  // Returns whether torques act on the molecule: it has a dipole, a quadrupole, or a site off the
  // center of mass.
  inline bool feels_torque(const gpucoord::Component &component)
  {
    const auto is_off = [](const auto &site) {
      return site.position[0] != 0.0 || site.position[1] != 0.0 || site.position[2] != 0.0;
    };
    return !component.dipoles.empty() || !component.quadrupoles.empty() ||
        std::any_of(component.centers.begin(), component.centers.end(), is_off) ||
        std::any_of(component.charges.begin(), component.charges.end(), is_off);
  }

}    // namespace MultisiteShape
}    // namespace LAMMPS_NS

#endif
