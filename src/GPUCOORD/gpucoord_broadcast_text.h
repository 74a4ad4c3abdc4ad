/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_BROADCAST_TEXT_H
#define LMP_GPUCOORD_BROADCAST_TEXT_H

#include <mpi.h>
#include <string>

namespace LAMMPS_NS {

// Broadcasts a text of one rank, such as an error message, to all ranks. An empty text needs only
// one message.
inline void broadcast_text(std::string &text, int root, MPI_Comm world)
{
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, root, world);
  text.resize(length);
  if (length) MPI_Bcast(&text[0], length, MPI_CHAR, root, world);
}

}    // namespace LAMMPS_NS

#endif
