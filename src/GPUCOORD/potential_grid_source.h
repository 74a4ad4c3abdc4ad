/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_POTENTIAL_GRID_SOURCE_H
#define LMP_POTENTIAL_GRID_SOURCE_H

#include "pointers.h"

#include <string>

namespace LAMMPS_NS {

// Per-grid data of a compute or fix, one number for each point, given as c_ID:grid:data[k] or
// f_ID:grid:data[k].

class PergridSource : protected Pointers {
 public:
  // word: argument iarg of a command. command: its name, the beginning of errors
  PergridSource(LAMMPS *, const std::string &command, const std::string &word, int iarg);

  // Collective. Evaluates a compute for the current atoms.
  void evaluate();
  // Valid after evaluate(): the grid, and the value of a point of this rank.
  class Grid3d *grid() const;
  double value(int ix, int iy, int iz) const
  {
    return column ? array[iz][iy][ix][column - 1] : vector[iz][iy][ix];
  }

  const class Compute *from_compute() const { return compute; }    // null: from a fix
  const class Fix *from_fix() const { return fix; }

 private:
  template <class Style>
  void find_data(Style *, const std::string &kind, const std::string &grid_name,
                 const std::string &data_name);

  const std::string command;
  const int iarg;
  class Compute *compute = nullptr;    // the source is one of these
  class Fix *fix = nullptr;
  int igrid, idata;
  bool has_column;
  int column = 0;    // from 1; 0: the data have one number per point
  double ***vector = nullptr;
  double ****array = nullptr;
};

}    // namespace LAMMPS_NS

#endif
