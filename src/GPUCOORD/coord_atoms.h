/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_ATOMS_H
#define LMP_COORD_ATOMS_H

#include "pointers.h"

#include "gpucoord/coordination.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace LAMMPS_NS {

// The owned and ghost atoms of the two groups of a variable, on the host.

class CoordAtoms : protected Pointers {
 public:
  explicit CoordAtoms(LAMMPS *lmp) : Pointers(lmp) {}
  // bit_b: of the second group; 0: there is none
  void set_groups(int bit_a, int bit_b);
  int second_bit() const { return bit_b; }

  // Updates the lists, and their version if an atom has entered or left a group, or if LAMMPS has
  // built neighbor lists. Returns the ID of an atom whose position is not finite, -1 if it has no
  // ID, or 0.
  bigint select();
  // The next select() makes the lists again, in a new version.
  void begin_run() { last_build = {-1, -1}; }
  // A GPU has selected the atoms: the lists on the host are stale.
  void set_counts(std::int64_t natoms_a, std::int64_t natoms_b);

  // Owned atoms come first.
  const std::vector<int> &first() const { return index_a; }
  const std::vector<int> &partners() const { return bit_b ? index_b : index_a; }
  int nfirst() const { return nowned_a; }    // owned
  int npartners() const { return bit_b ? nowned_b : nowned_a; }
  std::size_t nall() const { return index_a.size() + index_b.size(); }
  std::size_t nghosts() const { return nall() - nowned_a - nowned_b; }
  std::int64_t version() const { return lists_version; }
  gpucoord::CellsInput cells_input() const;

  double memory_usage() const;

 private:
  void list();

  int bit_a = 0, bit_b = 0;
  std::vector<int> index_a, index_b;
  int nowned_a = 0, nowned_b = 0;
  std::vector<unsigned char> member;
  static constexpr int NOT_LISTED = -1;
  int nlocal_listed = NOT_LISTED;                     // owned atoms when the lists were made
  std::int64_t lists_version = 0;                     // of the lists and of the neighbor lists
  std::pair<bigint, bigint> last_build = {-1, -1};    // Neighbor's ncalls and lastcall
};

}    // namespace LAMMPS_NS

#endif
