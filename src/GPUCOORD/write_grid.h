/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMMAND_CLASS
// clang-format off
CommandStyle(write_grid,WriteGrid);
// clang-format on
#else

#ifndef LMP_WRITE_GRID_H
#define LMP_WRITE_GRID_H

#include "command.h"

#include "potential_grid_file.h"

#include <string>
#include <vector>

namespace LAMMPS_NS {
class PergridSource;

class WriteGrid : public Command {
 public:
  WriteGrid(class LAMMPS *lmp) : Command(lmp) {}
  void command(int, char **) override;

 private:
  void write(int, char **);
  GridFile::Format format_of(const std::string &name) const;
  GridFile::Header header(const PergridSource &, bool at_corners, double unit) const;
  std::vector<GridFile::Atom> gather_atoms(int groupbit, double unit) const;
  bool gather_values(const PergridSource &, GridFile *) const;
  void stop_at(const GridFile *, const std::string &name) const;
};

}    // namespace LAMMPS_NS

#endif
#endif
