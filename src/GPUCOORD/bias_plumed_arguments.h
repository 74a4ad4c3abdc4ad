/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_PLUMED_ARGUMENTS_H
#define LMP_BIAS_PLUMED_ARGUMENTS_H

#include "gpucoord/bias.h"

#include <memory>

namespace LAMMPS_NS {
class LAMMPS;

// Collective. Makes a PlumedBias from the arguments of fix coord/plumed. Raises an error if they
// are wrong.
std::unique_ptr<gpucoord::Bias> make_plumed_bias(LAMMPS *, int narg, char **arg);

}    // namespace LAMMPS_NS

#endif
