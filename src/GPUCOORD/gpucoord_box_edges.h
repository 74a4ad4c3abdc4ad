/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_BOX_EDGES_H
#define LMP_GPUCOORD_BOX_EDGES_H

#include "domain.h"
#include "error.h"
#include "lammps.h"

#include "gpucoord/box.h"

#include <exception>
#include <string>

namespace LAMMPS_NS {

// Gets the edge vectors a, b and c of the current simulation box, distance. a is along x, b is in
// the xy plane.
inline void get_box_edges(const Domain *domain, double (&edges)[3][3])
{
  const bool tilted = domain->triclinic != 0;
  const double now[3][3] = {{domain->xprd, 0.0, 0.0},
                            {tilted ? domain->xy : 0.0, domain->yprd, 0.0},
                            {tilted ? domain->xz : 0.0, tilted ? domain->yz : 0.0, domain->zprd}};
  for (int a = 0; a < 3; ++a)
    for (int c = 0; c < 3; ++c) edges[a][c] = now[a][c];
}

// Returns the current box. Raises an error that begins with the owner.
inline gpucoord::Box current_box(LAMMPS *lmp, const std::string &owner)
{
  const Domain *const domain = lmp->domain;
  double edges[3][3];
  get_box_edges(domain, edges);
  const bool periodic[3] = {domain->xperiodic != 0, domain->yperiodic != 0,
                            domain->zperiodic != 0 && domain->dimension == 3};
  try {
    return gpucoord::make_box(edges, periodic);
  } catch (const std::exception &e) {
    lmp->error->all(FLERR, Error::NOLASTLINE, "{}: {}", owner, e.what());
  }
}

}    // namespace LAMMPS_NS

#endif
