/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The protected members of LAMMPS classes that the multisite styles read, in the form of
// gpucoord_lammps_internals.h.

#ifndef LMP_MULTISITE_LAMMPS_INTERNALS_H
#define LMP_MULTISITE_LAMMPS_INTERNALS_H

#include "compute.h"
#include "compute_pressure.h"
#include "pair_hybrid.h"
#include "respa.h"

#include <vector>

namespace LAMMPS_NS {
namespace LammpsInternals {

  // Returns the degrees of freedom set by compute_modify extra/dof.
  // Missing accessor: double Compute::get_extra_dof() const
  inline double extra_dof(const Compute *compute)
  {
    struct Access : public Compute {
      using Compute::extra_dof;
    };
    return compute->*(&Access::extra_dof);
  }

  // Returns the ID of the temperature whose kinetic energy a compute pressure includes; null: it
  // includes no kinetic energy.
  // Missing accessor: const char *ComputePressure::get_id_temp() const
  inline const char *id_of_temperature(const ComputePressure *pressure)
  {
    struct Access : public ComputePressure {
      using ComputePressure::id_temp;
      using ComputePressure::keflag;
    };
    return pressure->*(&Access::keflag) ? pressure->*(&Access::id_temp) : nullptr;
  }

  // Returns the sub-styles of pair_style hybrid.
  // Missing accessor: std::vector<Pair *> PairHybrid::get_styles() const
  inline std::vector<Pair *> sub_styles(const PairHybrid *hybrid)
  {
    struct Access : public PairHybrid {
      using PairHybrid::nstyles;
      using PairHybrid::styles;
    };
    Pair **const first = hybrid->*(&Access::styles);
    return {first, first + hybrid->*(&Access::nstyles)};
  }

  // Adds the forces and torques of all rRESPA levels to those of the atoms.
  // Missing accessor: Respa::sum_flevel_f(), made public
  inline void sum_levels(Respa *respa)
  {
    struct Access : public Respa {
      using Respa::sum_flevel_f;
    };
    (respa->*(&Access::sum_flevel_f))();
  }

}    // namespace LammpsInternals
}    // namespace LAMMPS_NS

#endif
