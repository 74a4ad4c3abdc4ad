/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_PHYSICAL_MEMORY_H
#define LMP_GPUCOORD_PHYSICAL_MEMORY_H

namespace LAMMPS_NS {

// Returns the physical memory of this machine in bytes, or infinity if the operating system does
// not provide it.
double physical_memory();

}    // namespace LAMMPS_NS

#endif
