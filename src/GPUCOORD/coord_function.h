/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_FUNCTION_H
#define LMP_COORD_FUNCTION_H

#include "pointers.h"

#include "gpucoord/atom_function.h"

#include <string>
#include <vector>

namespace LAMMPS_NS {

// The words of a function of per-atom values in computes: function KIND arguments.

class CoordFunction : protected Pointers {
 public:
  // style: beginning of errors, 'Compute coord/gpu'
  CoordFunction(LAMMPS *lmp, std::string style_in) : Pointers(lmp), style(std::move(style_in)) {}

  // Reads a function from arg[iarg + 1] on, and sets iarg to the first argument after it. next:
  // keywords that may follow
  gpucoord::AtomFunctionOptions parse(int &iarg, int narg, char **arg,
                                      const std::vector<std::string> &next);

 private:
  std::string command() const;
  void read(const gpucoord::AtomFunctionParameter &, int narg, char **arg, int iarg,
            const std::string &kind, gpucoord::AtomFunctionOptions &) const;

  const std::string style;
};

}    // namespace LAMMPS_NS

#endif
