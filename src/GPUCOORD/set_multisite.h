/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMMAND_CLASS
// clang-format off
CommandStyle(set_multisite,SetMultisite);
// clang-format on
#else

#ifndef LMP_SET_MULTISITE_H
#define LMP_SET_MULTISITE_H

#include "command.h"

namespace LAMMPS_NS {

class SetMultisite : public Command {
 public:
  SetMultisite(class LAMMPS *lmp) : Command(lmp) {}
  void command(int, char **) override;
};

}    // namespace LAMMPS_NS

#endif
#endif
