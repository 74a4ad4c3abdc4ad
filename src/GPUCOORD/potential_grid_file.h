/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_POTENTIAL_GRID_FILE_H
#define LMP_POTENTIAL_GRID_FILE_H

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Writes a file of numbers on a 3d grid for visualization programs. The file is written as NAME.tmp
// and renamed when it is complete.

class GridFile {
 public:
  enum class Format { DX, CUBE };    // OpenDX and Gaussian formats

  struct Atom {
    int element;
    double x[3];
  };
  struct Header {
    std::string title, length_unit;
    int n[3];
    double origin[3];     // position of point 0,0,0
    double step[3][3];    // vectors to the next point along each edge of the box
    std::vector<Atom> atoms;
  };

  GridFile(const std::string &name, Format);
  ~GridFile();
  GridFile(const GridFile &) = delete;
  GridFile &operator=(const GridFile &) = delete;

  void begin(const Header &);
  void add(const double *values, std::size_t count);    // z changes fastest, x slowest
  void end();
  // Returns why writing failed, or "". After a failure, all calls do nothing.
  const std::string &why_not() const { return why; }

 private:
  void begin_dx(const Header &);
  void begin_cube(const Header &);
  void flush();
  void fail();

  const std::string name, partial;
  const Format format;
  std::FILE *file;
  std::string text;    // text that is not yet written
  std::string title;
  std::size_t row;    // number of values along z
  std::size_t in_line, in_row;
  std::string why;
};

}    // namespace LAMMPS_NS

#endif
