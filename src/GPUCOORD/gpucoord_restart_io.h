/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_RESTART_IO_H
#define LMP_GPUCOORD_RESTART_IO_H

#include "comm.h"
#include "pointers.h"
#include "utils.h"

#include <cstddef>
#include <cstdio>
#include <string>

namespace LAMMPS_NS {

// Rank 0 writes the data of a style into a restart file. All ranks read them.

class RestartWriter {
 public:
  explicit RestartWriter(FILE *file_in) : file(file_in) {}

  template <typename Value> void write(const Value *from, std::size_t n)
  {
    fwrite(from, sizeof(Value), n, file);
  }
  template <typename Value> void write(const Value &value) { write(&value, 1); }
  void write(const std::string &text)
  {
    write(static_cast<int>(text.size()));
    write(text.data(), text.size());
  }

 private:
  FILE *const file;
};

class RestartReader : protected Pointers {
 public:
  RestartReader(LAMMPS *lmp, FILE *file_in) : Pointers(lmp), file(file_in) {}

  template <typename Value> void read(Value *to, std::size_t n)
  {
    if (n == 0) return;
    if (comm->me == 0) utils::sfread(FLERR, to, sizeof(Value), n, file, nullptr, error);
    MPI_Bcast(to, static_cast<int>(n * sizeof(Value)), MPI_BYTE, 0, world);
  }
  template <typename Value> Value read()
  {
    Value value;
    read(&value, 1);
    return value;
  }
  std::string text()
  {
    std::string read_text(read<int>(), ' ');
    read(&read_text[0], read_text.size());
    return read_text;
  }

 private:
  FILE *const file;
};

}    // namespace LAMMPS_NS

#endif
