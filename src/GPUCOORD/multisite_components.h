/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_MULTISITE_COMPONENTS_H
#define LMP_MULTISITE_COMPONENTS_H

#include "pointers.h"

#include "gpucoord/multisite.h"
#include "gpucoord_restart_io.h"

#include <string>
#include <vector>

namespace LAMMPS_NS {

// Files of components of rigid molecules, in LAMMPS' units.

namespace MultisiteComponents {

  // Collective: rank 0 reads the file. Errors begin with the name of the style and point at this
  // argument of the command. Files in units real are converted to metal and vice versa.
  std::vector<gpucoord::Component> read(LAMMPS *, const std::string &style, const std::string &file,
                                        int argument);

  // Write and read a component in a restart file.
  void write(RestartWriter &, const gpucoord::Component &);
  gpucoord::Component read(RestartReader &);

  // Returns the index of the component with this name, or -1.
  int find(const std::vector<gpucoord::Component> &, const std::string &name);

  std::string names(const std::vector<gpucoord::Component> &);

  // Returns texts about components that are probably unintended, for warnings of a pair style.
  std::vector<std::string> warnings(const gpucoord::MultisiteModel &);

}    // namespace MultisiteComponents
}    // namespace LAMMPS_NS

#endif
