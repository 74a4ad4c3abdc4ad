/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_ATOM_MASS_H
#define LMP_GPUCOORD_ATOM_MASS_H

#include "atom.h"

namespace LAMMPS_NS {

inline double mass_of(const Atom *atom, int i)
{
  return atom->rmass ? atom->rmass[i] : atom->mass[atom->type[i]];
}

}    // namespace LAMMPS_NS

#endif
