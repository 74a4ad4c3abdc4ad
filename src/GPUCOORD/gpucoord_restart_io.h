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
#include "error.h"
#include "fmt/format.h"
#include "platform.h"
#include "pointers.h"
#include "utils.h"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

namespace LAMMPS_NS {

// Rank 0 writes the data of a style to a restart file. All ranks read them. The data begin with
// minus the version of their format, as a double. Before version 1.0, the first number was >= 0.

class RestartWriter {
 public:
  explicit RestartWriter(FILE *file_in) : file(file_in) {}

  void write_format(int format) { write(-static_cast<double>(format)); }
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
  // style: beginning of messages, such as "Pair coord"
  RestartReader(LAMMPS *lmp, FILE *file_in, std::string style_in) :
      Pointers(lmp), file(file_in), style(std::move(style_in))
  {
  }

  // Reads the version of the format. Raises an error if it is another one.
  void read_format(int needed)
  {
    const auto first = read<double>();
    if (std::isnan(first)) fail();
    if (first == -needed) return;
    const std::string found = first < 0.0 ? fmt::format("format {}", -first)
                                          : "a format from before version 1.0";
    error->all(FLERR, Error::NOLASTLINE,
               "{}: the restart file has its data in {}, but this version of GPUCOORD needs format "
               "{} - read it with the version that wrote it, and continue from a data file of "
               "command write_data",
               style, found, needed);
  }
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
  // Reads a number of items that follow in the file, each of at least this many bytes. Raises an
  // error if the file ends before that, so that a damaged number allocates no memory.
  int size(std::size_t bytes_of_item)
  {
    const int n = read<int>();
    int is_possible = 1;
    if (comm->me == 0)
      is_possible = n >= 0 && n <= bytes_left() / static_cast<double>(bytes_of_item);
    MPI_Bcast(&is_possible, 1, MPI_INT, 0, world);
    if (!is_possible) fail();
    return n;
  }
  std::string text()
  {
    std::string read_text(size(1), ' ');
    read(&read_text[0], read_text.size());
    return read_text;
  }
  // Reads the name of a function or keyword.
  std::string word()
  {
    const std::string name = text();
    if (!utils::strmatch(name, "^[a-z][a-z0-9_/]*$")) fail();
    return name;
  }
  // Reads an enumerator. last: the last one of its enumeration
  template <typename Enum> Enum enumerator(Enum last)
  {
    const int value = read<int>();
    if (value < 0 || value > static_cast<int>(last)) fail();
    return static_cast<Enum>(value);
  }
  [[noreturn]] void fail() const
  {
    error->all(FLERR, Error::NOLASTLINE,
               "{}: its data in the restart file are damaged - use another restart file", style);
  }

 private:
  // Rank 0.
  double bytes_left() const
  {
    const bigint position = platform::ftell(file);
    platform::fseek(file, platform::END_OF_FILE);
    const bigint end = platform::ftell(file);
    platform::fseek(file, position);
    return static_cast<double>(end - position);
  }

  FILE *const file;
  const std::string style;    // "Pair coord"
};

}    // namespace LAMMPS_NS

#endif
