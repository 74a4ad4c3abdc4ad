/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GEOMETRY_ARGUMENTS_H
#define LMP_GEOMETRY_ARGUMENTS_H

#include "coord_members.h"
#include "pointers.h"

#include "gpucoord/geometry.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace LAMMPS_NS {

// Arguments of compute coord/geometry.

class GeometryArguments : protected Pointers {
 public:
  GeometryArguments(LAMMPS *, int narg, char **arg);

  gpucoord::GeometryOptions options;
  std::vector<CoordMembers::Point> points;
  std::vector<std::string> items;    // words of each item
  std::string description() const;

 private:
  // Raises an error at a word of the command, or at a line of a file.
  using Fail = std::function<void(std::size_t word, const std::string &)>;
  bool read_item(const std::vector<std::string> &words, std::size_t &k, const Fail &);
  void read_distances(const std::string &name, const Fail &);
  void read_file(int iarg, const char *name);
  void add_item(const gpucoord::GeometryItem &, const std::string &text);
  int point_of(tagint id, const std::string &name);

  std::map<std::pair<tagint, std::string>, int> indices;    // of the points
};

}    // namespace LAMMPS_NS

#endif
