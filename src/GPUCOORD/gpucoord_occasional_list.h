/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_OCCASIONAL_LIST_H
#define LMP_GPUCOORD_OCCASIONAL_LIST_H

#include "neigh_list.h"
#include "neighbor.h"

namespace LAMMPS_NS {

// Builds an occasional neighbor list if it is due or must_build is set. Returns whether it was
// built. A build sets inum, which shows that it happened. Neighbor::ncalls and the timestep do not
// show this, because both return to earlier values (run pre no, rerun). No other list is copied
// from an occasional one, so that only this function builds it.
inline bool build_occasional_list(Neighbor *neighbor, NeighList *list, bool must_build)
{
  // Restores Neighbor::lastcall also if an exception is thrown.
  struct Restore {
    Neighbor *neighbor;
    bigint lastcall;
    ~Restore() { neighbor->lastcall = lastcall; }
  } const restore = {neighbor, neighbor->lastcall};
  const int inum = list->inum;
  // build_one() builds a list whose last build is older than lastcall.
  if (must_build) neighbor->lastcall = MAXBIGINT;
  list->inum = -1;
  neighbor->build_one(list);
  const bool is_built = list->inum >= 0;
  if (!is_built) list->inum = inum;
  return is_built;
}

}    // namespace LAMMPS_NS

#endif
