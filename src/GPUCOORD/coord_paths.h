/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_PATHS_H
#define LMP_COORD_PATHS_H

#include "pointers.h"

#include "gpucoord/box.h"
#include "gpucoord/switch_table.h"

#include <string>

namespace LAMMPS_NS {
class CoordArguments;

// Chooses how pairs are found: the engine, or pair mode. Checks that ghost atoms suffice.

class CoordPaths : protected Pointers {
 public:
  enum class Path { CELLS, ALLPAIRS, PAIRS };
  static bool uses_ghosts(Path path) { return path == Path::CELLS; }

  // owner: beginning of errors, 'Compute coord/gpu ID'. The other objects remain valid.
  CoordPaths(LAMMPS *, std::string owner_in, const CoordArguments &, const gpucoord::SwitchTable &);

  // Called by init() of a compute. Chooses the path in the current box, and checks the range of
  // ghost atoms.
  void init();
  // Begins an evaluation in the current box. Makes ghost atoms current.
  void begin_evaluation(bool ghosts_are_current);

  Path last() const { return last_path; }                  // of the last evaluation, or of init()
  const gpucoord::Box &box() const { return last_box; }    // of the last evaluation
  Path in_current_box() const;

 private:
  Path choose(const gpucoord::Box &) const;
  void check_ghost_shell(double cutghost) const;

  const std::string owner;
  const CoordArguments &args;
  const gpucoord::SwitchTable &table;
  Path last_path = Path::CELLS;
  gpucoord::Box last_box;
};

}    // namespace LAMMPS_NS

#endif
