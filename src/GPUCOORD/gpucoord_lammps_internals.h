/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// The protected members of LAMMPS classes that GPUCOORD reads, in one place. Each function names
// the accessor that LAMMPS would need instead. A local class derives from the LAMMPS class and
// makes the member public. The pointer to the member then applies to any object of that class.

#ifndef LMP_GPUCOORD_LAMMPS_INTERNALS_H
#define LMP_GPUCOORD_LAMMPS_INTERNALS_H

#include "comm.h"
#include "compute.h"
#include "compute_pressure.h"
#include "neigh_list.h"
#include "neigh_request.h"
#include "neighbor.h"
#include "npair.h"
#include "pair_hybrid.h"
#include "respa.h"

#include <vector>

namespace LAMMPS_NS {
namespace LammpsInternals {

  // Returns the NPair that builds a neighbor list. Only the two functions below need it.
  inline NPair *builder_of(Neighbor *neighbor, const NeighList *list)
  {
    struct Access : public Neighbor {
      using Neighbor::neigh_pair;
    };
    return (neighbor->*(&Access::neigh_pair))[list->index];
  }

  // Returns whether the next Neighbor::build_one() builds an occasional list or leaves it
  // unchanged. Neighbor::ncalls and the timestep do not tell this, because both return to earlier
  // values (run pre no, rerun). No other list is copied from an occasional one, so that only
  // build_one() builds it.
  // Missing accessor: bool Neighbor::is_due(const NeighList *) const
  inline bool build_is_due(Neighbor *neighbor, const NeighList *list)
  {
    return builder_of(neighbor, list)->last_build < neighbor->lastcall;
  }

  // Makes the next Neighbor::build_one() build the list.
  // Missing accessor: void Neighbor::make_due(NeighList *)
  inline void make_build_due(Neighbor *neighbor, const NeighList *list)
  {
    builder_of(neighbor, list)->last_build = -1;
  }

  // Returns whether a request is for a full neighbor list on the device of KOKKOS whose cutoff does
  // not depend on radii. request: null: there is no request
  // Missing accessors: int NeighRequest::get_full() const and
  // int NeighRequest::get_kokkos_device() const
  inline bool is_full_on_device(const NeighRequest *request)
  {
    struct Access : public NeighRequest {
      using NeighRequest::full;
      using NeighRequest::kokkos_device;
    };
    return request && request->*(&Access::full) && request->*(&Access::kokkos_device) &&
        !request->get_size();
  }

  // Returns the group to which comm_modify group restricts ghost atoms; 0: all.
  // Missing accessor: int Comm::get_bordergroup() const
  inline int group_of_ghosts(const Comm *comm)
  {
    struct Access : public Comm {
      using Comm::bordergroup;
    };
    return comm->*(&Access::bordergroup);
  }

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
