/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_MULTISITE_MOTION_H
#define LMP_MULTISITE_MOTION_H

#include "pointers.h"

#include "gpucoord/multisite.h"

#include <functional>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Checks whether atoms have the masses and moments of inertia of their components, and whether the
// fixes that move atoms rotate them as rigid molecules. Differences cause warnings, not errors,
// because a user may want other masses.

class MultisiteMotion : protected Pointers {
 public:
  // component_of: [ntypes + 1]; -1: no molecule
  MultisiteMotion(LAMMPS *, const std::vector<gpucoord::Component> &,
                  const std::vector<int> &component_of);

  // Collective. Warnings for the run that is set up, one per line.
  std::vector<std::string> warnings() const;

 private:
  bigint count(const std::function<bool(int atom)> &) const;
  void check_axes(std::vector<std::string> &) const;
  void compare_bodies(std::vector<std::string> &) const;
  void check_temperatures(std::vector<std::string> &) const;
  void check_pressures(std::vector<std::string> &) const;
  void check_fixes(std::vector<std::string> &) const;

  const gpucoord::Component *component_of_atom(int i) const;

  const std::vector<gpucoord::Component> &components;
  const std::vector<int> &component_of;
};

}    // namespace LAMMPS_NS

#endif
