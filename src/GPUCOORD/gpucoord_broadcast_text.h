/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_BROADCAST_TEXT_H
#define LMP_GPUCOORD_BROADCAST_TEXT_H

#include "gpucoord_parse.h"

#include <fstream>
#include <mpi.h>
#include <stdexcept>
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

// Throws std::runtime_error.
inline std::ifstream open_file(const std::string &name)
{
  std::ifstream file(name, std::ios::binary);
  if (!file)
    throw std::runtime_error("it cannot be opened: " + utils::getsyserror() +
                             " - give the path of a file that can be read");
  return file;
}

// Returns the text of a file, which rank 0 reads. failure: set to why it cannot be read, or "", on
// all ranks
inline std::string read_and_broadcast(const std::string &name, std::string &failure, MPI_Comm world)
{
  std::string text;
  int me;
  MPI_Comm_rank(world, &me);
  if (me == 0) {
    try {
      std::ifstream file = open_file(name);
      text = Parse::read_all(file);
      if (file.bad()) throw std::runtime_error("it cannot be read - give a file");
    } catch (const std::runtime_error &e) {
      failure = e.what();
    }
  }
  broadcast_text(failure, 0, world);
  broadcast_text(text, 0, world);
  return text;
}

}    // namespace LAMMPS_NS

#endif
