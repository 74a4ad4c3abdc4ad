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

}    // namespace LAMMPS_NS

#endif
