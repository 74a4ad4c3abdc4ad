/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_GHOST_ATOMS_H
#define LMP_GPUCOORD_GHOST_ATOMS_H

#include "gpucoord_lammps_internals.h"

#include "comm.h"
#include "fmt/format.h"

#include <cmath>
#include <string>

namespace LAMMPS_NS {

// Helpers for styles that need ghost atoms.

namespace GhostAtoms {

  // Returns whether comm_modify group restricts ghost atoms.
  inline bool are_of_a_group(const Comm *comm)
  {
    return LammpsInternals::group_of_ghosts(comm) != 0;
  }

  // Returns a range for the way out in an error, rounded up to four digits so that it suffices.
  inline std::string in_four_digits(double need)
  {
    const double digit = std::pow(10.0, std::floor(std::log10(need)) - 3.0);
    return fmt::format("{:.10g}", std::ceil(need / digit - 1e-6) * digit);
  }

}    // namespace GhostAtoms
}    // namespace LAMMPS_NS

#endif
