/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_PAIR_DATA_H
#define LMP_COORD_PAIR_DATA_H

#include "pointers.h"

#include "coord_atoms.h"
#include "coord_function_numbers.h"
#include "coord_paths.h"
#include "coord_within.h"

#include "gpucoord/atom_function.h"
#include "gpucoord/switch_table.h"

#include <memory>
#include <string>

namespace LAMMPS_NS {
class CoordArguments;
class GhostNumbers;

// Data that a variable of pairs and its evaluator share.

class CoordPairData : protected Pointers {
 public:
  // owner: beginning of messages, 'Compute coord/gpu ID'. It and the ghosts remain valid.
  CoordPairData(LAMMPS *, const std::string &owner, int igroup_in, std::unique_ptr<CoordArguments>,
                GhostNumbers &);
  ~CoordPairData();
  CoordPairData(const CoordPairData &) = delete;
  CoordPairData &operator=(const CoordPairData &) = delete;

  // Returns the name of a dynamic group of the variable, or "".
  std::string dynamic_group() const;
  // Returns the factors of the atoms in S.
  gpucoord::AtomWeights weights() const
  {
    return within ? within->weights() : gpucoord::AtomWeights();
  }
  // Returns CoordWithin::center(), or null.
  class CoordVariable *center() const { return within ? within->center() : nullptr; }
  // Returns the error text for a function that is not finite at the number s of an owned atom.
  std::string not_finite(int row, double s) const;
  std::string atom_text(int row) const;
  [[noreturn]] void out_of_memory() const;
  double memory_usage() const;

  const std::string &name;    // the owner
  const int igroup, groupbit;
  const std::unique_ptr<CoordArguments> args;
  const std::unique_ptr<gpucoord::SwitchTable> table;
  // Null: S is the sum of s(r_ij) over pairs.
  const std::unique_ptr<gpucoord::AtomFunction> function;
  const std::unique_ptr<CoordWithin> within;    // null: all weights are 1
  FunctionNumbers numbers;                      // data of the function in this evaluation
  GhostNumbers &ghosts;
  CoordAtoms selected;
  CoordPaths paths;
};

}    // namespace LAMMPS_NS

#endif
