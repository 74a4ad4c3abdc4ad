/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_SETUP_TEXT_H
#define LMP_COORD_SETUP_TEXT_H

#include "pointers.h"

#include "coord_paths.h"

#include "gpucoord/switch_table.h"

#include <string>

namespace LAMMPS_NS {
class CoordArguments;
class DeviceChoice;

// Texts about the arguments of a variable of pairs, for the lines at setup and for errors.

class CoordSetupText : protected Pointers {
 public:
  // owner: beginning of lines, 'Compute coord/gpu ID'. The other objects remain valid.
  CoordSetupText(LAMMPS *, std::string owner_in, int igroup_in, const CoordArguments &,
                 const gpucoord::SwitchTable &);

  // Returns the lines at setup. data_path: where atoms are; function: its description, or ""
  std::string lines(const DeviceChoice &, CoordPaths::Path, const std::string &data_path,
                    const std::string &function) const;
  // Returns the line about the numbers of atoms in the groups and about S, which follows them.
  std::string value_line(double natoms_a, double natoms_b, double s) const;
  // Returns the groups with their numbers of atoms. Collective without arguments.
  std::string groups() const;
  // Returns what S depends on, for errors.
  std::string functions() const;

 private:
  std::string groups(bigint natoms_a, bigint natoms_b) const;
  std::string meaning_of_mean() const;

  const std::string owner;
  const int igroup;
  const CoordArguments &args;
  const gpucoord::SwitchTable &table;
};

}    // namespace LAMMPS_NS

#endif
