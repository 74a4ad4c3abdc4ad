/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_MULTISITE_SURROUNDINGS_H
#define LMP_MULTISITE_SURROUNDINGS_H

#include "pointers.h"

#include <string>
#include <vector>

namespace LAMMPS_NS {

// Checks for settings that rigid molecules do not support: incomplete ghost atoms, excluded pairs
// and weighted pairs.

class MultisiteSurroundings : protected Pointers {
 public:
  // component_of: [ntypes + 1]; -1: no component
  MultisiteSurroundings(LAMMPS *, const std::vector<int> &component_of);

  // Collective. Raises the same error on all ranks.
  void check() const;

  // Returns the sub-styles of pair_style hybrid and its variants. Any other pair style is returned
  // alone.
  static std::vector<class Pair *> sub_styles(class Pair *);

 private:
  bool is_ours(int type) const { return component_of[type] >= 0; }
  [[noreturn]] void refuse(const std::string &what) const;
  void check_exclusions() const;
  void check_bonds() const;

  const std::vector<int> &component_of;
};

}    // namespace LAMMPS_NS

#endif
